#include "world/remote_logs.hpp"

#include <fmt/core.h>

#include <algorithm>
#include <utility>

#include "llamada/log/drop_counters.hpp"

namespace llamada::mpi {
namespace {

constexpr std::chrono::milliseconds unread_counts_apart{100};

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
      carrier_({.identity = options_.identity, .events = this, .cut = options_.cut}, small, bulk, own) {
  if (options_.keeps && options_.identity.incarnation > 1) {
    auto past = PastCopies::take(own);
    if (past)
      past_ = std::move(*past);
    else
      ranks_.records_are_gone(
          fmt::format("what its predecessors had of other nodes is damaged: {}", past.error().text()));
  }
  met_.insert(options_.ranks.begin(), options_.ranks.end());
  meet_all();
  publish_left();
}

RemoteLogs::Left RemoteLogs::left() const {
  Left left{.followed = {}, .published = published_};
  for (const auto& [rank, patience] : patience_)
    for (const Patience::Log& log : patience.logs) left.followed[log.name] = log.copy->published();
  return left;
}

/// Others may not have all of a log yet that nobody writes any more.
void RemoteLogs::publish_left() {
  for (const auto& [reader, key] : options_.left.published) {
    const auto index = own_.find_log(key);
    if (!index) continue;
    auto published = carrier_.publish_ended(*index, key, reader);
    if (!published) return ranks_.records_are_gone(published.error().text());
    published_.insert({reader, key});
  }
}

/// A rank that was spawned, or has spawned this one's world.
void RemoteLogs::meet(int world_rank) {
  if (!met_.insert(world_rank).second) return;
  strangers_.insert(endpoint_of(world_rank));
  options_.ranks.push_back(world_rank);
  (void)carrier_.meet(endpoint_of(world_rank), ranks_.state_of(world_rank));
}

/// A state that the carrier refuses is older than one that it has, or has no address yet: another follows.
void RemoteLogs::meet_all() {
  seen_changes_ = ranks_.changes();
  for (const int rank : options_.ranks) {
    const replication::PeerState state = ranks_.state_of(rank);
    (void)carrier_.meet(endpoint_of(rank), state);
    if (ranks_.is_node_lost(rank)) part_from_driver_of(rank);
    const auto followed = patience_.find(rank);
    if (followed == patience_.end()) continue;
    followed->second.set_ended(state.is_lost || state.is_done);
    look_at_ = std::min(look_at_, followed->second.due());
  }
}

/// Asks the drivers of those of which nothing has come for too long.
void RemoteLogs::look_for_silent() {
  look_at_ = replication::never;
  for (auto& [rank, patience] : patience_) {
    patience.heard(carrier_.heard_at(endpoint_of(rank)), in_mpi_.time());
    if (in_mpi_.time() >= patience.due()) ask_driver_of(rank, patience);
    look_at_ = std::min(look_at_, patience.due());
  }
}

void RemoteLogs::ask_driver_of(int world_rank, Patience& patience) {
  patience.asked(in_mpi_.time());
  // Where that fails, it is tried again; so is each question.
  if (const auto driver = meet_driver_of(world_rank))
    for (const Patience::Log& log : patience.logs) (void)carrier_.catch_up(*driver, log.name);
}

std::optional<replication::EndpointNumber> RemoteLogs::meet_driver_of(int world_rank) {
  const auto driver = ranks_.driver_of(world_rank);
  if (!driver) return std::nullopt;
  const replication::PeerState state{.small = driver->small, .bulk = driver->bulk};
  if (!carrier_.meet(driver->endpoint, state)) return std::nullopt;
  drivers_[world_rank] = driver->endpoint;
  return driver->endpoint;
}

/// Nobody waits for an answer of it any more.
void RemoteLogs::part_from_driver_of(int world_rank) {
  patience_.erase(world_rank);
  const auto driver = drivers_.extract(world_rank);
  if (driver) (void)carrier_.meet(driver.mapped(), {.is_done = true});
}

bool RemoteLogs::has_come(int world_rank, log::LogKey key) {
  if (ranks_.changes() != seen_changes_) meet_all();
  const replication::LogName name{endpoint_of(world_rank), key};
  if (ranks_.is_node_lost(world_rank) || !followed_.contains(name)) return true;
  const auto driver = meet_driver_of(world_rank);
  if (!driver) return true;
  // An end that was told before the loss was known says nothing of what the rank has written since.
  const bool is_first = asked_at_end_.insert(name).second;
  if (!is_first && carrier_.has_caught_up(*driver, name)) return true;
  if (is_first || !carrier_.is_catching_up(name)) (void)carrier_.catch_up_anew(*driver, name);
  return false;
}

Result<World::Source> RemoteLogs::source(int world_rank, log::LogKey key) {
  const auto known = followed_.find({endpoint_of(world_rank), key});
  return known != followed_.end() ? known->second : follow(world_rank, key, 0);
}

Result<World::Source> RemoteLogs::source_behind(int world_rank, log::LogKey key, std::uint64_t record_count) {
  options_.left.followed.erase({endpoint_of(world_rank), key});
  return follow(world_rank, key, record_count);
}

Status RemoteLogs::follow_rest() {
  for (const auto& [name, records] : std::exchange(options_.left.followed, {}))
    if (auto followed = follow(static_cast<int>(name.writer), name.key, records); !followed)
      return propagate(followed);
  return {};
}

Result<World::Source> RemoteLogs::follow(int world_rank, log::LogKey key, std::uint64_t begins_behind) {
  const replication::LogName name{endpoint_of(world_rank), key};
  meet(world_rank);
  // The reader's, which finds it when it opens the copy: from the first record on nothing is reused before
  // that is read.
  auto cursor = own_.cursor(key, name.writer);
  if (!cursor) return propagate(cursor);
  // What a replacement needs again, no rank is to serve.
  const bool is_again = options_.keeps && options_.identity.incarnation > 1;
  auto copy = carrier_.follow(name.writer, name,
                              {.window_bytes = options_.window_bytes,
                               .history = is_again ? meet_driver_of(world_rank) : std::nullopt,
                               .begins_behind = begins_behind});
  if (!copy) return propagate(copy);
  (*copy)->add_reader(*cursor);
  Patience& patience = patience_[world_rank];
  patience.logs.push_back({name, *copy});
  const replication::PeerState state = ranks_.state_of(world_rank);
  if (state.is_lost || state.is_done)
    patience.ask_soon();
  else if (patience.logs.size() == 1)
    patience.begin(in_mpi_.time());
  look_at_ = std::min(look_at_, patience.due());
  return followed_[name] = {own_.reading(), replication::copy_key(name), true};
}

Status RemoteLogs::publish_to(log::LogWriter& log, log::LogKey key, int world_rank) {
  meet(world_rank);
  auto published = carrier_.publish_to(log, key, endpoint_of(world_rank));
  if (published) published_.insert({endpoint_of(world_rank), key});
  return published ? Status() : Status(propagate(published));
}

void RemoteLogs::stop_reading(int world_rank, log::LogKey key) {
  const replication::LogName name{endpoint_of(world_rank), key};
  if (followed_.erase(name) == 0) return;
  std::erase_if(patience_[world_rank].logs, [&](const Patience::Log& log) { return log.name == name; });
  carrier_.unfollow(name);
  if (auto cursor = own_.cursor(key, name.writer)) own_.remove_cursor(*cursor);
  push(world_rank);
}

void RemoteLogs::withdraw(log::LogKey key) {
  std::erase_if(published_, [&](const replication::LogName& log) { return log.key == key; });
  carrier_.withdraw(key);
}

bool RemoteLogs::is_read_by(int world_rank, log::LogKey key) {
  return carrier_.is_read_by(key, endpoint_of(world_rank));
}

void RemoteLogs::part(int world_rank) {
  if (!ranks_.state_of(world_rank).is_done) return;
  (void)carrier_.meet(endpoint_of(world_rank), ranks_.state_of(world_rank));
  std::erase(options_.ranks, world_rank);
  patience_.erase(world_rank);
}

void RemoteLogs::push(int world_rank) { carrier_.push(endpoint_of(world_rank), clock_.monotonic()); }

bool RemoteLogs::has_delivered() {
  const auto is_to_come_again = [this](int rank) { return ranks_.state_of(rank).is_lost; };
  if (options_.keeps && std::ranges::any_of(options_.ranks, is_to_come_again)) return false;
  const auto is_of_own_world = [this](replication::EndpointNumber peer) {
    return !strangers_.contains(peer);
  };
  if (!carrier_.is_idle(is_of_own_world)) return false;
  count_unread();
  carrier_.acknowledge_all(clock_.monotonic());
  return true;
}

bool RemoteLogs::awaits_inputs() {
  for (const auto& [name, source] : followed_) {
    const std::uint64_t records = past_.records_of(name);
    if (records == 0 || !carrier_.is_behind(name, records)) continue;
    const int writer = static_cast<int>(name.writer);
    if (ranks_.state_of(writer).is_done && !ranks_.driver_of(writer))
      ranks_.records_are_gone(
          fmt::format("it needs the messages of rank {} again, but that rank has ended", name.writer));
    return true;
  }
  return false;
}

bool RemoteLogs::carry() {
  if (ranks_.changes() != seen_changes_) meet_all();
  const replication::Time now = clock_.monotonic();
  const bool has_come = carrier_.work(now);
  in_mpi_.look(now);
  if (in_mpi_.time() >= look_at_) look_for_silent();
  if (carrier_.lacks_memory()) [[unlikely]]
    ranks_.copies_need_memory();
  if (!gone_.empty()) [[unlikely]]
    ranks_.records_are_gone(gone_);
  return has_come;
}

void RemoteLogs::gone(const replication::LogName& name, const replication::Gone& gone) {
  // A driver that was asked beside the writer may be late.
  const auto& logs = patience_.at(static_cast<int>(name.writer)).logs;
  const auto log = std::ranges::find(logs, name, &Patience::Log::name);
  if (log == logs.end() || gone.from <= log->copy->published() + 1) return;
  gone_ = fmt::format(
      "the messages of rank {} before record {} are no longer kept: the job has stopped keeping histories",
      name.writer, gone.from);
}

// All but `none`, and what the kernel dropped.
static_assert(static_cast<std::size_t>(replication::FrameFault::count) == log::drop_reasons);
static_assert(static_cast<std::size_t>(replication::FrameFault::none) == 0);

void RemoteLogs::dropped(replication::FrameFault fault) {
  own_.count(log::drop_counter(static_cast<std::size_t>(fault) - 1));
}

/// A system call for each link.
void RemoteLogs::count_unread() {
  own_.count(log::unread_counter, small_.take_unread() + bulk_.take_unread());
}

std::chrono::nanoseconds RemoteLogs::prepare_sleep() {
  const auto now = clock_.monotonic();
  if (now >= count_unread_at_) {
    count_unread();
    count_unread_at_ = now + unread_counts_apart;
  }
  carrier_.acknowledge_all(now);
  in_mpi_.look(now);
  in_mpi_.sleep();
  const replication::Time due = carrier_.due();
  const auto of_silent = look_at_ == replication::never ? look_at_ : look_at_ - in_mpi_.time();
  const auto of_carrier = due == replication::never ? due : due - now;
  return std::max(std::min(of_silent, of_carrier), std::chrono::nanoseconds(0));
}

}  // namespace llamada::mpi
