#pragma once

#include <cstdint>
#include <deque>
#include <optional>
#include <span>
#include <string>
#include <unordered_map>
#include <unordered_set>

#include "llamada/base/result.hpp"
#include "replay/determinant.hpp"

namespace llamada::mpi::replay {

/// Gives a replacement the outcomes that its predecessor recorded, in their order: a pure state machine.
///
/// Threads: one.
class Replayer {
 public:
  /// Nothing to replay: the first incarnation.
  Replayer() = default;
  /// All that the predecessors recorded. Errors: parse_error when that is no journal of determinants.
  static Result<Replayer> read(std::span<const log::JournalEntry> entries);

  /// Whether there is an outcome that no call has taken.
  bool outcomes_left() const { return !outcomes_.empty(); }
  /// Whether a call of MPI must take one of these: not all of them are values and bytes.
  bool outcomes_of_mpi_left() const;
  /// Whether there is anything that has not been taken, be it the match of a receive that is not yet posted.
  bool anything_left() const { return !outcomes_.empty() || matches_left(); }
  bool matches_left() const { return !matches_.empty(); }
  /// How many determinants have been taken so far; how many there are not yet.
  std::uint64_t replayed() const { return replayed_; }

  /// Whether the receive with this post index was a wildcard one and took a message.
  bool has_match(std::uint64_t post_index) const { return matches_.contains(post_index); }
  /// Which message the wildcard receive with this post index took; nothing when it had not taken one.
  std::optional<Match> take_match(std::uint64_t post_index);
  /// Whether the receive with this post index was cancelled.
  bool is_cancelled(std::uint64_t post_index) const { return cancelled_.contains(post_index); }

  /// What a call of this kind answered; only while outcomes_left(). The result is taken: a fruitless outcome,
  /// or the completion or message. Errors: diverged, when the recorded outcome is of another kind.
  Result<Outcome> take(CallKind kind);
  /// The same for MPI_Cancel of the receive with this post index: whether it was cancelled.
  Result<bool> take_cancel(std::uint64_t post_index);
  Result<std::uint64_t> take_value(ValueId id);
  Result<std::vector<std::byte>> take_bytes(std::size_t count);

  /// Whether the next outcome is a value of this kind; only while outcomes_left().
  bool is_next(ValueId id) const {
    return outcomes_.front().type == Outcome::Type::value && outcomes_.front().id == id;
  }
  /// All values of this kind that have not been taken, in their order.
  std::deque<std::uint64_t> values_left(ValueId id) const;

  /// What the next outcome is, for messages.
  std::string describe_next() const;

 private:
  Status add(std::span<const log::JournalEntry> entries, std::size_t& at);
  void add_list(std::span<const log::JournalEntry> entries, std::size_t& at);
  void append(Outcome outcome);
  void count_down();
  tl::unexpected<Error> other_kind(std::string_view asked) const;

  std::deque<Outcome> outcomes_;
  std::unordered_map<std::uint64_t, Match> matches_;
  std::unordered_set<std::uint64_t> cancelled_;
  std::uint64_t replayed_ = 0;
};

}  // namespace llamada::mpi::replay
