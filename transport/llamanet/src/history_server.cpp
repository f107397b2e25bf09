#include "history_server.hpp"

#include <algorithm>
#include <utility>

#include "book_links.hpp"

namespace llamada::llamanet {
namespace {

using replication::Time;

/// Between two looks at what else the driver has to do.
constexpr int works_max = 16;

}  // namespace

Result<std::unique_ptr<HistoryServer>> HistoryServer::open(NodeBook book, FileDescriptor small,
                                                           FileDescriptor bulk, const DriverRoster& roster) {
  std::unique_ptr<HistoryServer> server(new HistoryServer(std::move(book), roster));
  auto timer = DueTimer::open();
  if (!timer) return propagate(timer);
  server->timer_ = std::move(*timer);
  const BookNode& own = server->book_.nodes[server->book_.own_node];
  auto small_link = open_small_link(server->book_, own.ethernet, std::move(small));
  if (!small_link) return propagate(small_link);
  server->small_ = std::move(*small_link);
  auto bulk_link = open_bulk_link(server->book_, std::move(bulk));
  if (!bulk_link) return propagate(bulk_link);
  server->bulk_ = std::move(*bulk_link);
  server->arenas_.resize(server->book_.entries.size());
  const NodeBook& of = server->book_;
  const replication::CarrierOptions options{
      .identity = {.job = static_cast<std::uint32_t>(of.job_number),
                   .endpoint = replication::driver_endpoint(of.own_node),
                   .incarnation = 1,
                   .key = of.key},
      .histories = server.get(),
      .cut = &roster.cut()};
  server->carrier_ = std::make_unique<replication::Carrier>(options, *server->small_, *server->bulk_);
  // It sleeps only while it has nothing to do.
  server->carrier_->set_waiting(true);
  return server;
}

std::vector<int> HistoryServer::descriptors() const {
  return {small_->descriptor(), bulk_->descriptor(), timer_.descriptor()};
}

void HistoryServer::work() {
  timer_.clear();
  bool has_come = true;
  for (int works = 0; works < works_max && has_come; ++works) has_come = carrier_->work(clock_.monotonic());
  const Time now = clock_.monotonic();
  timer_.set(has_come ? now : carrier_->due(), now);
}

void HistoryServer::changed(std::uint32_t slot) {
  if (!met_.contains(slot)) return;
  // A state that the carrier refuses is older than the one it has.
  (void)carrier_->meet(slot, state_of(slot));
  work();
}

void HistoryServer::take_book(NodeBook book) {
  book_ = std::move(book);
  arenas_.resize(book_.entries.size());
}

std::vector<std::uint64_t> HistoryServer::dropped_frames() {
  using replication::FrameFault;
  std::vector<std::uint64_t> dropped;
  for (auto fault = static_cast<int>(FrameFault::none) + 1; fault < static_cast<int>(FrameFault::count);
       ++fault)
    dropped.push_back(carrier_->faults(static_cast<FrameFault>(fault)));
  dropped.push_back(unread_ += small_->take_unread() + bulk_->take_unread());
  return dropped;
}

replication::PeerState HistoryServer::state_of(std::uint32_t slot) const {
  const SlotState state = roster_.state(slot);
  return peer_state(book_, book_.entries[slot], state,
                    roster_.entry(slot).incarnation.load(std::memory_order_relaxed));
}

std::optional<replication::PeerState> HistoryServer::introduce(replication::EndpointNumber stranger) {
  if (stranger >= book_.entries.size() || !roster_.is_remote(stranger)) return std::nullopt;
  if (!book_.entries[stranger].is_known()) return std::nullopt;
  met_.insert(stranger);
  return state_of(stranger);
}

std::optional<replication::LogSource> HistoryServer::find(const replication::LogName& name,
                                                          replication::EndpointNumber keeper) {
  const std::uint32_t slot = name.writer;
  if (slot >= arenas_.size() || slot >= roster_.count() || !roster_[slot].arena) return std::nullopt;
  MappedArena& arena = arenas_[slot];
  if (!arena) {
    auto mapped = MappedArena::map(roster_[slot].arena.get(), roster_.arena_size_bytes());
    if (!mapped) return std::nullopt;
    arena = std::move(*mapped);
  }
  const log::PeerArena reading = arena.reading();
  std::uint32_t logs = 0, cursors = 0;
  const auto index = log::find_log(reading, name.key, logs);
  if (!index) return std::nullopt;
  return replication::LogSource{
      reading, *index, log::find_cursor(reading, replication::keeper_key(name.key), keeper, cursors)};
}

}  // namespace llamada::llamanet
