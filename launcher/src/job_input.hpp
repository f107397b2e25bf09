#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace llamada::launcher {

/// The job's standard input on its way from mpirun to rank 0. Every incarnation is given all of it from the
/// start, as far as that is kept. Pure.
class JobInput {
 public:
  /// What is kept for replacements of rank 0.
  static constexpr std::size_t kept_bytes_max = 256 << 20;
  /// What may be on the way to the node that rank 0 has not taken.
  static constexpr std::size_t in_flight_bytes_max = 256 << 10;

  /// Rank 0 may be replaced: what it has taken is kept.
  void keep() { keeps_ = true; }
  /// The next bytes from mpirun; none: the end.
  void add(std::string_view bytes);

  /// An incarnation of rank 0 begins, and takes input.
  void begin_incarnation();
  /// It takes no more: what comes counts as taken, for mpirun must not wait for it.
  void end_incarnation();
  /// The next part for the node; empty: the end, once. Nothing: not now.
  std::optional<std::string> next();
  /// The present incarnation has taken so many bytes more.
  void taken(std::uint64_t size_bytes);

  /// How many bytes mpirun has not been told of that were taken. From then on it has been told.
  std::uint64_t acknowledge();
  /// All that has come and is kept.
  std::string_view all() const { return bytes_; }
  bool has_ended() const { return has_ended_; }
  /// More came than is kept: rank 0 can no longer be replaced.
  bool is_lost() const { return is_lost_; }

 private:
  enum class Taker { none_yet, one, none };

  std::uint64_t end() const { return start_ + bytes_.size(); }
  void drop_taken();

  std::string bytes_;
  std::uint64_t start_ = 0;         ///< the place of the first byte that is here
  std::uint64_t given_ = 0;         ///< to the node, for the present incarnation
  std::uint64_t taken_ = 0;         ///< by it
  std::uint64_t acknowledged_ = 0;  ///< to mpirun
  Taker taker_ = Taker::none_yet;
  bool keeps_ = false;
  bool is_lost_ = false;
  bool has_ended_ = false;
  bool end_given_ = false;
};

}  // namespace llamada::launcher
