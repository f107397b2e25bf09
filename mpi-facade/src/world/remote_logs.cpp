#include "world/remote_logs.hpp"

#include <fmt/core.h>

#include <algorithm>
#include <utility>

namespace llamada::mpi {
namespace {

replication::EndpointNumber endpoint_of(int world_rank) {
  return static_cast<replication::EndpointNumber>(world_rank);
}

}  // namespace

RemoteLogs::RemoteLogs(Options options, RemoteRanks& ranks, replication::Link& small, replication::Link& bulk,
                       log::ArenaWriter& own, const Clock& clock)
    : options_(std::move(options)),
      ranks_(ranks),
      small_(small),
      bulk_(bulk),
      own_(own),
      clock_(clock),
      // A log that keeps all sends large payloads in pieces, as any other does.
      carrier_({.identity = options_.identity, .eager_bytes_max = ~std::uint64_t{0}, .events = this}, small,
               bulk, own) {
  if (options_.keeps && options_.identity.incarnation > 1) {
    auto past = PastCopies::take(own);
    if (past)
      past_ = std::move(*past);
    else
      ranks_.records_are_gone(
          fmt::format("what its predecessors had of other nodes is damaged: {}", past.error().text()));
  }
  meet_all();
}

/// A state that the carrier refuses is older than one that it has, or has no address yet: another follows.
void RemoteLogs::meet_all() {
  seen_changes_ = ranks_.changes();
  for (const int rank : options_.ranks) (void)carrier_.meet(endpoint_of(rank), ranks_.state_of(rank));
}

Result<World::Source> RemoteLogs::source(int world_rank, log::LogKey key) {
  const replication::LogName name{endpoint_of(world_rank), key};
  if (const auto known = followed_.find(name); known != followed_.end()) return known->second;
  // The reader's, which finds it when it opens the copy: from the first record on nothing is reused before
  // that is read.
  auto cursor = own_.cursor(key, name.writer);
  if (!cursor) return propagate(cursor);
  auto copy = carrier_.follow(name.writer, name, {.window_bytes = options_.window_bytes});
  if (!copy) return propagate(copy);
  (*copy)->add_reader(*cursor);
  return followed_[name] = {own_.reading(), replication::copy_key(name)};
}

Status RemoteLogs::publish_to(log::LogWriter& log, log::LogKey key, int world_rank) {
  auto published = carrier_.publish_to(log, key, endpoint_of(world_rank));
  return published ? Status() : Status(propagate(published));
}

void RemoteLogs::stop_reading(int world_rank, log::LogKey key) {
  const replication::LogName name{endpoint_of(world_rank), key};
  if (followed_.erase(name) == 0) return;
  carrier_.unfollow(name);
  if (auto cursor = own_.cursor(key, name.writer)) own_.remove_cursor(*cursor);
  push(world_rank);
}

bool RemoteLogs::is_read_by(int world_rank, log::LogKey key) {
  return carrier_.is_read_by(key, endpoint_of(world_rank));
}

void RemoteLogs::push(int world_rank) { carrier_.push(endpoint_of(world_rank), clock_.monotonic()); }

bool RemoteLogs::has_delivered() {
  const auto is_to_come_again = [this](int rank) { return ranks_.state_of(rank).is_lost; };
  if (options_.keeps && std::ranges::any_of(options_.ranks, is_to_come_again)) return false;
  if (!carrier_.is_idle()) return false;
  carrier_.acknowledge_all(clock_.monotonic());
  return true;
}

bool RemoteLogs::awaits_inputs() {
  for (const auto& [name, source] : followed_) {
    const std::uint64_t records = past_.records_of(name);
    if (records == 0 || !carrier_.is_behind(name, records)) continue;
    if (ranks_.state_of(static_cast<int>(name.writer)).is_done)
      ranks_.records_are_gone(
          fmt::format("it needs again what rank {} had sent, which has ended", name.writer));
    return true;
  }
  return false;
}

bool RemoteLogs::carry() {
  if (ranks_.changes() != seen_changes_) meet_all();
  const bool has_come = carrier_.work(clock_.monotonic());
  if (carrier_.lacks_memory()) [[unlikely]]
    ranks_.copies_need_memory();
  if (!gone_.empty()) [[unlikely]]
    ranks_.records_are_gone(gone_);
  return has_come;
}

void RemoteLogs::gone(const replication::LogName& name, const replication::Gone& gone) {
  gone_ = fmt::format(
      "what rank {} had sent is no longer there from its first record on, but from record {}: "
      "the job keeps no histories any more",
      name.writer, gone.from);
}

std::chrono::nanoseconds RemoteLogs::prepare_sleep() {
  const auto now = clock_.monotonic();
  carrier_.acknowledge_all(now);
  const replication::Time due = carrier_.due();
  return due == replication::never ? due : std::max(due - now, std::chrono::nanoseconds(0));
}

}  // namespace llamada::mpi
