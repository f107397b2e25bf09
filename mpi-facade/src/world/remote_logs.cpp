#include "world/remote_logs.hpp"

#include <algorithm>

namespace llamada::mpi {
namespace {

replication::EndpointNumber endpoint_of(int world_rank) {
  return static_cast<replication::EndpointNumber>(world_rank);
}

}  // namespace

RemoteLogs::RemoteLogs(Options options, const RemoteRanks& ranks, replication::Link& small,
                       replication::Link& bulk, log::ArenaWriter& own, const Clock& clock)
    : options_(std::move(options)),
      ranks_(ranks),
      small_(small),
      bulk_(bulk),
      own_(own),
      clock_(clock),
      carrier_({.identity = options_.identity}, small, bulk, own) {
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

void RemoteLogs::push(int world_rank) { carrier_.push(endpoint_of(world_rank), clock_.monotonic()); }

bool RemoteLogs::has_delivered() {
  if (!carrier_.is_idle()) return false;
  carrier_.acknowledge_all(clock_.monotonic());
  return true;
}

bool RemoteLogs::carry() {
  if (ranks_.changes() != seen_changes_) meet_all();
  return carrier_.work(clock_.monotonic());
}

std::chrono::nanoseconds RemoteLogs::prepare_sleep() {
  const auto now = clock_.monotonic();
  carrier_.acknowledge_all(now);
  const replication::Time due = carrier_.due();
  return due == replication::never ? due : std::max(due - now, std::chrono::nanoseconds(0));
}

}  // namespace llamada::mpi
