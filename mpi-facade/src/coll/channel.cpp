#include "coll/channel.hpp"

#include <fmt/core.h>

#include <cstdlib>

namespace llamada::mpi::coll {

Channel::Channel(World& world, Options options)
    : world_(world),
      arena_(world.arena()),
      key_(collective_log_key(options.context, options.persistent, world.checkpoint())),
      present_context_(context()),
      members_(std::move(options.members), options.self, options.first_peer, options.peer_count),
      describe_call_(std::move(options.describe_call)),
      after_publish_(std::move(options.after_publish)),
      look_for_culprit_(std::move(options.look_for_culprit)),
      piece_bytes_max_(options.piece_bytes),
      keeps_all_at_first_(options.keep_all),
      keeps_all_(options.keep_all && world.is_protected()),
      pace_(!world.oversubscribed()),
      peers_(static_cast<std::size_t>(members_.size())),
      loans_(*this) {}

Result<std::unique_ptr<Channel>> Channel::open(World& world, Options options) {
  OwnLog::Options log;
  log.bound_bytes = options.bound_bytes;
  log.may_publish = std::move(options.may_contribute);
  std::unique_ptr<Channel> channel(new Channel(world, std::move(options)));
  if (channel->size() == 1) return channel;  // Nobody reads what it would publish.
  log.key = channel->key_;
  log.reader_count = static_cast<std::size_t>(channel->size() - 1);
  log.keep_all = channel->keeps_all_;
  if (auto opened = channel->own_log_.open(world.arena(), std::move(log)); !opened) return propagate(opened);
  if (channel->is_on_one_node()) return channel;
  // Each member sees by itself that they are on several nodes.
  channel->set_processes({});
  channel->pace_ =
      Pace(false);  // what comes from another node comes while this member waits in the usual way
  channel->own_log_.publish_to(world, channel->key_, channel->members_.world_ranks());
  // So that no member waits for another to ask for its log.
  for (int member = 0; member < channel->size(); ++member) {
    if (channel->is_local(member)) continue;
    channel->peer(member).is_copy = world.source(channel->members_.world_rank(member), channel->key_).is_copy;
    (void)channel->find_log(member);
  }
  return channel;
}

// ---- publishing

bool Channel::publish_slowly(const RecordHead& head, std::span<const std::byte> payload,
                             std::uint64_t bytes_given, std::size_t run_bytes) {
  if (!own_log_.is_open()) return true;
  if (own_log_.publish_again(head, payload, bytes_given)) {
    published(head.audience, payload.size());
    return true;
  }
  const auto space = room(payload.size(), log::LogWriter::Filling::by_fill, run_bytes);
  if (!space) return false;
  own_log_.fill(*space, payload);
  commit(head, bytes_given);
  return true;
}

std::optional<std::span<std::byte>> Channel::room(std::size_t bytes, log::LogWriter::Filling filling,
                                                  std::size_t run_bytes) {
  const auto look = [&] {
    return own_log_.room(bytes, filling, run_bytes, [this](const Error& error) { no_room(error); });
  };
  const std::size_t readers = own_log_.reader_count();
  const auto space = look();
  // A reader that was not known yet may have read all: it does not say so again.
  return space || own_log_.reader_count() == readers ? space : look();
}

void Channel::commit(const RecordHead& head, std::uint64_t bytes_given) {
  if (!own_log_.is_reserved()) return compare(head);
  published(head.audience, own_log_.commit(head, bytes_given));
}

void Channel::compare(const RecordHead& head) {
  if (!own_log_.is_open()) return;
  arena_.count(log::Counter::sends_compared);
  arena_.count(log::Counter::bytes_compared, own_log_.compared_bytes());
  const std::string difference = own_log_.compare(head);
  if (difference.empty()) return;
  if (look_for_culprit_) look_for_culprit_();
  world_.diverged(
      fmt::format("{} on the communicator with context {}: {}", describe_call_(), context(), difference));
  std::abort();
}

void Channel::no_room(const Error& error) {
  if (error.code() == Errc::parse_error) world_.damaged(world_.rank(), error.text());
  if (error.code() == Errc::out_of_resources && world_.is_protected() && keeps_all_)
    return world_.log_used_up();
  update_retention();
  if (error.code() == Errc::out_of_resources && !keeps_all_ && ++refusals_ > refusals_max)
    world_.aborted(
        1, fmt::format("{}: no memory is left for a contribution: {}", describe_call_(), error.text()));
  find_readers();
  // A member that sleeps in another call has to pass what it has no use for.
  for (int member = 0; member < size(); ++member)
    if (member != self()) world_.wake(members_.world_rank(member));
}

void Channel::update_retention() {
  if (!keeps_all_ || world_.is_protected()) return;
  keeps_all_ = false;
  if (!own_log_.is_open()) return;
  for (int member = 0; member < size(); ++member)
    if (peer(member).log.is_found()) release(member);
  find_readers();
  own_log_.stop_keeping();
}

void Channel::find_readers() {
  if (own_log_.reader_count() + 1 == peers_.size()) return;
  for (int member = 0; member < size(); ++member) {
    Peer& other = peer(member);
    if (member == self() || other.bounds_writer) continue;
    const auto arena = world_.cursors_of(members_.world_rank(member));
    if (!arena.ready()) continue;
    auto* cursor = log::find_cursor(arena, key_, world_.rank(), other.cursors_scan);
    if (cursor == nullptr) continue;
    own_log_.add_reader(cursor);
    other.bounds_writer = true;
  }
}

// ---- reading

bool Channel::look_for_log(int member) {
  const auto found = peer(member).log.find(world_, key_, members_.world_rank(member));
  if (!found) fail(found.error().text());
  return found && *found;
}

std::optional<log::Record> Channel::peek(int member) {
  const auto record = peek_wanted(member);
  if (!record) return std::nullopt;
  if (loans_.is_any_open() && is_loan_over(*record)) [[unlikely]] {
    loans_.take_back(member, *record);
    return peek(member);
  }
  const bool is_later = age(ordinal_of(*record), ordinal_) > 0;
  if (!is_later && record->kind == static_cast<std::uint8_t>(kind_)) return record;
  if (!is_collective(record->kind))
    damaged(member, fmt::format("a record of the unknown kind {}", record->kind));
  if (is_later)
    fitting_.fail_misfit(ordinal_, no_contribution_text(self(), member, kind_, ordinal_), false);
  else
    fail(other_call_text(self(), member, kind_, static_cast<Kind>(record->kind)));
  return std::nullopt;
}

std::optional<log::Record> Channel::expect(int member, Piece piece, std::size_t bytes,
                                           std::uint64_t bytes_given) {
  auto record = peek(member);
  if (!record) return std::nullopt;
  if (piece_of(*record) == piece && record->payload.size() == bytes && is_of(*record, bytes_given))
    return record;
  misfit(member, coll::bytes_given(*record, members_.rank()), bytes_given);
  return std::nullopt;
}

/// Whether a collective that this member is in, or has yet to begin, may need the record.
bool Channel::is_wanted(int member, const log::Record& record) const {
  const std::int32_t ahead = age(ordinal_of(record), ordinal_);
  if (ahead != 0) return ahead > 0;
  return is_for(record, self()) && in_collective_ && peer(member).ignored != ordinal_;
}

std::optional<log::Record> Channel::peek_wanted(int member) {
  if (!find_log(member)) return std::nullopt;
  auto& reader = peer(member).log.reader();
  while (auto record = reader.peek()) {
    if (is_wanted(member, *record)) {
      if (peer(member).left_over) [[unlikely]]
        tell_left_over(member);
      return record;
    }
    pass(member, *record);
  }
  if (reader.failed()) damaged(member, reader.error().text());
  return std::nullopt;
}

void Channel::damaged(int member, std::string_view how) const {
  world_.damaged(members_.world_rank(member),
                 fmt::format("its log of the communicator with context {}: {}", context(), how));
  std::abort();  // Not reached.
}

void Channel::look_for_damage() {
  for (int member = 0; member < size(); ++member) {
    if (member == self()) continue;
    PeerLog& log = peer(member).log;
    const int world_rank = members_.world_rank(member);
    if (!log.is_found()) {
      if (world_.source(world_rank, key_).arena.is_damaged())
        world_.damaged(world_rank, "its header has changed");
    } else if (log.reader().is_cursor_damaged()) {
      world_.damaged(world_.rank(), fmt::format("its cursor in the log of rank {} has changed", world_rank));
    } else if (const char* why = log.reader().find_damage()) {
      damaged(member, why);
    }
  }
}

void Channel::pass(int member, const log::Record& record) {
  auto& left_over = peer(member).left_over;
  if (is_left_over(member, record) && !left_over) [[unlikely]]
    left_over = {static_cast<Kind>(record.kind), ordinal_of(record), bytes_given(record, members_.rank())};
  if (record.flags == RecordHead::flags_for(self())) loans_.pass(member, record);
  next(member);
}

/// Whether it was for this member, and of a collective that did not fail. In some collectives not all members
/// need all records for everybody. Where data go from memory to memory, nothing has been written for a member
/// that did not offer a place.
bool Channel::is_left_over(int member, const log::Record& record) const {
  if (!is_for(record, self()) || !members_.is_peer(member)) return false;
  const auto kind = static_cast<Kind>(record.kind);
  if (kind == Kind::scan || kind == Kind::exscan || kind == Kind::reduce_scatter) return false;
  return carries_data(piece_of(record).content()) && !fitting_.excuses(ordinal_of(record));
}

/// At the next record of use, and not before: so it does not depend on when the left-over record came.
void Channel::tell_left_over(int member) {
  const LeftOver was = *std::exchange(peer(member).left_over, std::nullopt);
  fitting_.complain(misfit_text(self(), member, was.kind, was.ordinal, was.bytes, 0), true);
}

/// Lets the writer reuse the records that lie behind; it may be waiting for that. Kept ones are not let go: a
/// replacement of this member reads them from the beginning, even if nothing is kept any more by then.
void Channel::release(int member) {
  if (!lets_go_of(member)) return;
  if (peer(member).log.release()) world_.wake(members_.world_rank(member));
}

void Channel::skip_stale() {
  update_retention();
  for (int member = 0; member < size(); ++member) {
    if (member == self() || !find_log(member)) continue;
    auto& reader = peer(member).log.reader();
    while (auto record = reader.peek()) {
      if (is_wanted(member, *record)) break;
      pass(member, *record);
    }
    release(member);
  }
  (void)loans_.settle();
}

}  // namespace llamada::mpi::coll
