#pragma once

#include <cstdint>
#include <deque>

#include "llamada/qos/policy.hpp"

namespace llamada::topics::detail {

/// When the samples of one writer have outlived LIFESPAN (DDS 1.4, 2.2.3.16), in the order of their sequence
/// numbers: a sample that expires late keeps those behind it. Samples that expire at nearly the same time
/// share an entry, so there are at most some hundred.
///
/// Pure: times are nanoseconds since 1970 and come in with the calls.
class Expiry {
 public:
  explicit Expiry(qos::Duration lifespan) { set_lifespan(lifespan); }

  /// For samples that are added from here on.
  void set_lifespan(qos::Duration lifespan);
  bool is_finite() const { return lifespan_ns_ != never_ns; }

  void add(std::uint64_t sequence_number, std::int64_t source_timestamp_ns) {
    if (is_finite()) add_finite(sequence_number, source_timestamp_ns);
  }
  /// Whether nothing is going to expire.
  bool is_empty() const { return entries_.empty(); }
  /// Up to which sequence number all have expired.
  std::uint64_t expired_through(std::int64_t now_ns);
  /// When expired_through() changes; INT64_MAX if never.
  std::int64_t next_ns() const { return entries_.empty() ? never_ns : entries_.front().last_ns; }

 private:
  static constexpr std::int64_t never_ns = INT64_MAX;
  struct Entry {
    std::uint64_t last_number;
    std::int64_t first_ns, last_ns;  // when the first and the last of them expire
  };
  void add_finite(std::uint64_t sequence_number, std::int64_t source_timestamp_ns);

  std::int64_t lifespan_ns_ = never_ns;
  std::int64_t grain_ns_ = 0;
  std::deque<Entry> entries_;
  std::uint64_t expired_through_ = 0;
};

}  // namespace llamada::topics::detail
