#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <set>
#include <vector>

#include "driver_roster.hpp"
#include "due_timer.hpp"
#include "llamada/base/clock.hpp"
#include "llamada/base/file_descriptor.hpp"
#include "llamada/base/result.hpp"
#include "llamada/llamanet/mapped_arena.hpp"
#include "llamada/llamanet/node_book.hpp"
#include "llamada/replication/carrier.hpp"

namespace llamada::llamanet {

/// What the driver of a node does for its ranks towards the other nodes: it serves their logs out of their
/// arenas to whoever asks, whether a rank computes, is dead or done. It keeps no copies. Until somebody asks
/// it only sleeps: endpoints are met, and arenas mapped, when they are needed.
///
/// An agent without a thread: its owner calls work() when one of descriptors() is readable.
class HistoryServer final : replication::Histories {
 public:
  /// The sockets are the driver's own. Borrows the roster. Errors: those of the system.
  static Result<std::unique_ptr<HistoryServer>> open(NodeBook book, FileDescriptor small, FileDescriptor bulk,
                                                     const DriverRoster& roster);

  /// Of the two links, and a timer.
  std::vector<int> descriptors() const;
  /// Takes what has come, answers, and sets the timer.
  void work();
  /// The roster says something else of this slot of another node.
  void changed(std::uint32_t slot);
  /// The next book, with more slots.
  void take_book(NodeBook book);
  /// Driver::dropped_frames()
  std::vector<std::uint64_t> dropped_frames();

 private:
  HistoryServer(NodeBook book, const DriverRoster& roster) : book_(std::move(book)), roster_(roster) {}
  std::optional<replication::LogSource> find(const replication::LogName& name,
                                             replication::EndpointNumber keeper) override;
  std::optional<replication::PeerState> introduce(replication::EndpointNumber stranger) override;
  replication::PeerState state_of(std::uint32_t slot) const;

  NodeBook book_;
  const DriverRoster& roster_;
  SystemClock clock_;
  DueTimer timer_;
  std::unique_ptr<replication::Link> small_, bulk_;
  std::vector<MappedArena> arenas_;  // by slot; those that were asked for
  std::set<std::uint32_t> met_;      // slots
  std::unique_ptr<replication::Carrier> carrier_;
  std::uint64_t unread_ = 0;
};

}  // namespace llamada::llamanet
