#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "llamada/base/result.hpp"
#include "llamada/llamanet/inspector.hpp"
#include "llamada/mpi/collective_record.hpp"
#include "rank_changes.hpp"

namespace llamada::tools {

/// What was seen of a payload.
struct SeenPayload {
  std::uint64_t size_bytes = 0;
  /// The first bytes, at most RankWatchOptions::bytes_max; nothing where the log does not have them: the
  /// message goes from memory to memory, or by a lane of its own.
  std::optional<std::vector<std::byte>> first_bytes;
};

/// A message from a rank to another one. Ranks count over the whole job, as in `llamada ls`.
struct SeenMessage {
  int source = 0;
  int destination = 0;
  std::uint32_t context = 0;
  int tag = 0;
  bool is_synchronous = false;
  SeenPayload payload;
  std::uint64_t number = 0;   ///< its place in the log from `source` to `destination`, from 1
  std::uint64_t ordinal = 0;  ///< among those with this source, destination and context, from 1; 0: unknown
  std::uint32_t incarnation = 0;  ///< of the source, when the message was seen
  std::uint64_t call_index = 0;   ///< MPI calls that the source had begun then
};

/// A record that a rank has published for a collective.
struct SeenCollective {
  int source = 0;
  std::uint32_t context = 0;
  mpi::coll::Kind kind = mpi::coll::Kind::barrier;
  std::uint32_t ordinal = 0;  ///< of the collective on its communicator
  std::optional<int> member;  ///< for whom it is; nothing: for all members of the communicator
  SeenPayload payload;
};

class RankWatchEvents : public RankChangeEvents {
 public:
  virtual void on_message(const SeenMessage& message) = 0;
  virtual void on_collective(const SeenCollective& collective) = 0;
  /// So many records from `source` to `destination` (nothing: of a collective log) were gone before they
  /// could be read.
  virtual void on_missed(int source, std::optional<int> destination, std::uint64_t count) = 0;
};

struct RankWatchOptions {
  std::optional<int> from;
  std::optional<int> to;
  std::optional<int> tag;
  bool with_history = false;      ///< Also what the logs have from before the first look.
  bool with_collectives = false;  ///< Only where neither `to` nor `tag` is given.
  std::size_t bytes_max = 16;     ///< Of each payload.
};

class RankLogs;

/// Looks into the logs of a job's ranks, and at the roster. It maps the arenas read-only and holds no cursor:
/// no rank waits for it, or learns of it. Where a log is used again faster than it is read, records are
/// missed and counted.
///
/// Threads: one at a time.
class RankWatch {
 public:
  /// `events` is borrowed. Errors: as Inspector::open().
  static Result<RankWatch> open(const std::string& socket_name, const RankWatchOptions& options,
                                RankWatchEvents& events);
  RankWatch(RankWatch&&) noexcept;
  RankWatch& operator=(RankWatch&&) noexcept;
  ~RankWatch();

  /// "job-…": as `llamada ls` shows it.
  const std::string& job() const { return inspector_.name(); }
  /// Tells of all that has come since the last look; whether anything has.
  bool look();
  /// Whether the job's driver has ended. What the ranks have left can still be looked at.
  bool has_ended() const { return inspector_.has_ended(); }

 private:
  RankWatch(llamanet::Inspector inspector, const RankWatchOptions& options, RankWatchEvents& events);
  void look_at_roster();
  void meet_arenas();

  llamanet::Inspector inspector_;
  RankWatchOptions options_;
  RankWatchEvents* events_;
  RankChanges changes_;
  std::vector<std::unique_ptr<RankLogs>> ranks_;
  std::uint64_t seen_generation_ = 0;
  bool has_looked_ = false;
};

/// How long to wait until the next look: short while something comes, longer if nothing does.
class LookPace {
 public:
  std::chrono::nanoseconds next(bool has_come);

 private:
  std::chrono::nanoseconds pause_ = std::chrono::milliseconds(1);
};

/// "MPI_COMM_WORLD", or "communicator 7" for those whose names only their ranks know.
std::string communicator_name(std::uint32_t context);

}  // namespace llamada::tools
