#pragma once

#include <cstdint>

namespace llamada {

/// A small seeded generator (splitmix64) for simulators and failure plans: the same seed gives the same
/// numbers on every machine. Not for secrets.
class Random {
 public:
  explicit Random(std::uint64_t seed) : state_(seed) {}

  std::uint64_t next() {
    std::uint64_t value = (state_ += 0x9e3779b97f4a7c15);
    value = (value ^ (value >> 30)) * 0xbf58476d1ce4e5b9;
    value = (value ^ (value >> 27)) * 0x94d049bb133111eb;
    return value ^ (value >> 31);
  }

  /// A number in [0, bound); bound must not be 0.
  std::uint64_t below(std::uint64_t bound) { return next() % bound; }

  /// True in `numerator` of `denominator` cases.
  bool chance(std::uint64_t numerator, std::uint64_t denominator) { return below(denominator) < numerator; }

 private:
  std::uint64_t state_;
};

}  // namespace llamada
