#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "llamada/base/result.hpp"

// What a rank that waits says of its wait: a plain value, which travels from its arena to whoever judges it.
// Ranks here are those of the job, its slots.

namespace llamada::waits {

inline constexpr std::int32_t any_rank = -2;
inline constexpr std::int32_t any_tag = -1;

/// A set of ranks: few ranges, or everybody where it would take too many of them.
struct Ranks {
  struct Range {
    std::uint32_t first = 0;
    std::uint32_t count = 0;
    std::uint32_t stride = 1;
    bool operator==(const Range&) const = default;
  };
  static constexpr std::size_t ranges_max = 8;

  bool is_everybody = false;  ///< then there are no ranges
  std::vector<Range> ranges;

  static Ranks everybody() { return {true, {}}; }
  static Ranks of(std::span<const int> ranks);
  bool contains(std::uint32_t rank) const;
  bool operator==(const Ranks&) const = default;
};

/// What is waited for.
enum class Kind : std::uint8_t {
  other,       ///< something that no rank's call need bring about: a file, another process, a thread
  receive,     ///< a message from `peer`, or from one of `ranks`
  probe,       ///< the same
  send,        ///< that `peer` receives
  collective,  ///< what the members `ranks` contribute to a collective
  fence,       ///< the same of MPI_Win_fence and its like
  lock,        ///< that one of `ranks` unlocks a window
  post,        ///< that `peer` calls MPI_Win_post
  complete,    ///< that `peer` calls MPI_Win_complete
};
inline constexpr Kind last_kind = Kind::complete;

struct Awaited {
  Kind kind = Kind::other;
  std::int32_t peer = any_rank;
  std::int32_t tag = any_tag;
  std::uint64_t bytes = 0;  ///< of a send; of a receive, the most that it takes
  Ranks ranks;              ///< of any_rank, and of a collective
  /// Of a collective: the same number on all members, and on no others that share one.
  std::uint64_t communicator = 0;
  std::uint32_t ordinal = 0;     ///< which of the communicator's collectives, from 1
  std::int32_t root = any_rank;  ///< any_rank: it has none, or it is not known
  std::string operation;         ///< of a collective: "bcast"
  std::string name;              ///< of the communicator or window
  bool operator==(const Awaited&) const = default;
};

/// Messages of one source and tag that no receive has taken, or receives that no message has reached.
struct Unmatched {
  std::int32_t peer = any_rank;
  std::int32_t tag = any_tag;
  std::uint32_t count = 0;
  std::string name;  ///< of the communicator
  bool operator==(const Unmatched&) const = default;
};

/// How far a rank has come in the collectives of one communicator.
struct Position {
  std::uint64_t communicator = 0;
  std::uint32_t ordinal = 0;     ///< of the last that it has begun
  bool has_more_called = false;  ///< nonblocking ones that have not had their turn
  bool operator==(const Position&) const = default;
};

/// Lists that would be too long are cut; the counts say how long they were.
struct Report {
  std::uint32_t survey = 0;  ///< the question that it answers
  std::uint32_t incarnation = 0;
  std::uint32_t call = 0;  ///< mpi::CallId
  std::uint64_t call_index = 0;
  /// Another number whenever the rank has sent or taken anything, or begun a call.
  std::uint64_t activity = 0;
  std::int64_t since_ns = 0;  ///< CLOCK_MONOTONIC: when the wait was no longer short

  bool any_suffices = false;       ///< one of `awaited` ends the wait; else all are needed
  bool is_under_way = false;       ///< something of the rank's goes on by itself
  bool is_replaying = false;       ///< a replacement that repeats what its predecessor did
  bool has_other_threads = false;  ///< which may call MPI
  bool has_all_positions = true;   ///< `positions` is whole

  std::vector<Awaited> awaited;
  std::vector<Unmatched> messages;  ///< that no receive has taken
  std::vector<Unmatched> receives;  ///< that no message has reached
  std::vector<Position> positions;
  std::uint32_t awaited_count = 0;
  std::uint32_t messages_count = 0;
  std::uint32_t receives_count = 0;

  bool operator==(const Report&) const = default;

  /// Counts it, and keeps the first few.
  void add_awaited(Awaited awaited);
  void add_message(std::int32_t source, std::int32_t tag, const std::string& name) {
    add(messages, messages_count, source, tag, name);
  }
  void add_receive(std::int32_t source, std::int32_t tag, const std::string& name) {
    add(receives, receives_count, source, tag, name);
  }

 private:
  static void add(std::vector<Unmatched>& list, std::uint32_t& count, std::int32_t peer, std::int32_t tag,
                  const std::string& name);
};

inline constexpr std::size_t awaited_max = 12;
inline constexpr std::size_t unmatched_max = 16;
inline constexpr std::size_t positions_max = 32;
inline constexpr std::size_t name_bytes_max = 48;

/// At most `bytes_max`, which must be at least report_bytes_min: the lists are cut further where need be.
std::vector<std::byte> encode(Report report, std::size_t bytes_max);
inline constexpr std::size_t report_bytes_min = 128;
/// Errors: parse_error.
Result<Report> decode(std::span<const std::byte> bytes);

}  // namespace llamada::waits
