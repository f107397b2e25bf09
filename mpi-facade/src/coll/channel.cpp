#include "coll/channel.hpp"

#include <algorithm>
#include <cstdlib>
#include <utility>

#include "llamada/base/check.hpp"
#include "llamada/base/copy.hpp"
#include "llamada/base/crash_point.hpp"
#include "llamada/base/pause.hpp"

namespace llamada::mpi::coll {

const char* to_string(Kind kind) {
  switch (kind) {
    case Kind::barrier:
      return "Barrier";
    case Kind::bcast:
      return "Bcast";
    case Kind::reduce:
      return "Reduce";
    case Kind::allreduce:
      return "Allreduce";
    case Kind::reduce_scatter:
      return "Reduce_scatter";
    case Kind::scan:
      return "Scan";
    case Kind::exscan:
      return "Exscan";
    case Kind::gather:
      return "Gather";
    case Kind::scatter:
      return "Scatter";
    case Kind::allgather:
      return "Allgather";
    case Kind::alltoall:
      return "Alltoall";
    case Kind::neighbour:
      return "Neighbor collective";
    case Kind::context:
      return "Comm_idup";
  }
  return "unknown collective";
}

log::LogKey collective_log_key(std::uint32_t context, std::uint32_t persistent) {
  return {2, std::uint64_t{persistent} << 32 | context};
}

std::optional<std::pair<std::uint32_t, std::uint32_t>> name_of_collective_log(const log::LogKey& key) {
  if (key.high != collective_log_key(0).high) return std::nullopt;
  return std::pair{static_cast<std::uint32_t>(key.low), static_cast<std::uint32_t>(key.low >> 32)};
}

Channel::Channel(World& world, Options options)
    : world_(world),
      arena_(world.arena()),
      looks_before_waiting_(world.oversubscribed() ? 0 : looks_of_own_core),
      context_(options.context),
      persistent_(options.persistent),
      key_(collective_log_key(options.context, options.persistent)),
      members_(std::move(options.members)),
      self_(options.self),
      peer_begin_(options.first_peer),
      peer_end_(options.peer_count < 0 ? static_cast<int>(members_.size())
                                       : options.first_peer + options.peer_count),
      bound_bytes_(options.bound_bytes),
      describe_call_(std::move(options.describe_call)),
      after_publish_(std::move(options.after_publish)),
      may_contribute_(std::move(options.may_contribute)),
      look_for_culprit_(std::move(options.look_for_culprit)),
      keeps_all_at_first_(options.keep_all),
      keeps_all_(options.keep_all && world.is_protected()),
      incoming_(members_.size()) {}

Channel::~Channel() = default;

Result<std::unique_ptr<Channel>> Channel::open(World& world, Options options) {
  std::unique_ptr<Channel> channel(new Channel(world, std::move(options)));
  if (channel->size() == 1) return channel;  // Nobody reads what it would publish.
  if (auto opened = channel->open_own_log(); !opened) return propagate(opened);
  return channel;
}

Status Channel::open_own_log() {
  log::LogOptions options;
  options.retention = keeps_all_ ? log::Retention::keep_all : log::Retention::recycle;
  options.live_bytes_max = bound_bytes_;
  options.readers_expected = static_cast<std::uint32_t>(size() - 1);
  const bool has_past = world_.arena().find_log(key_).has_value();
  auto writer = log::LogWriter::open(world_.arena(), key_, options);
  if (!writer) return propagate(writer);
  writer_ = std::move(*writer);
  kept_ = KeptPayloads(keeps_all_);
  if (has_past || (may_contribute_ && !may_contribute_()))
    predecessor_ = log::LogReader::open(world_.arena().reading(), writer_.index());
  return {};
}

// ---- writing

std::optional<log::Record> Channel::predecessors_record() {
  if (!predecessor_) return std::nullopt;
  auto record = predecessor_->peek();
  if (!record && (!may_contribute_ || may_contribute_())) predecessor_.reset();
  return record;
}

bool Channel::advance() {
  if (advancing_) return false;
  advancing_ = true;
  while (!pending_.empty() && pending_.front()->advance()) pending_.pop_front();
  advancing_ = false;
  return pending_.empty();
}

bool Channel::publish_slowly(std::uint32_t piece, int audience, std::span<const std::byte> payload,
                             std::uint64_t bytes_given, std::size_t run_bytes) {
  if (size() == 1 || publish_again(piece, audience, payload, bytes_given)) return true;
  const auto space = room(payload.size(), log::LogWriter::Filling::by_fill, run_bytes);
  if (!space) return false;
  if (reservation_) {
    writer_.fill(reservation_, payload);
    kept_.add(payload, *space);
  } else {
    copy_bytes_out(space->data(), payload.data(), payload.size());
  }
  commit(piece, audience, bytes_given);
  return true;
}

/// What the log has already from this memory is shown again.
bool Channel::publish_again(std::uint32_t piece, int audience, std::span<const std::byte> payload,
                            std::uint64_t bytes_given) {
  if (predecessors_record() || predecessor_) return false;
  if (kept_.reserve_again(writer_, payload, reservation_, [] {}) != Again::reserved) return false;
  commit(piece, audience, bytes_given);
  return true;
}

std::optional<std::span<std::byte>> Channel::room(std::size_t bytes, log::LogWriter::Filling filling,
                                                  std::size_t run_bytes) {
  if (predecessors_record() || size() == 1) {
    again_.resize(bytes);
    return std::span(again_);
  }
  if (predecessor_) return std::nullopt;
  if (auto reserved = writer_.reserve(bytes, reservation_, filling, run_bytes); !reserved) {
    no_room(reserved.error());
    return std::nullopt;
  }
  return reservation_.payload();
}

void Channel::commit(std::uint32_t piece, int audience, std::uint64_t bytes_given) {
  if (size() == 1) return;
  if (!reservation_) return compare(piece, audience);
  if (const auto extra = reservation_.extra(); !extra.empty())
    std::memcpy(extra.data(), &bytes_given, sizeof(bytes_given));
  const std::size_t bytes = reservation_.payload().size();
  writer_.commit(std::move(reservation_), static_cast<std::uint8_t>(kind_), flags(audience), label(piece));
  published(audience, bytes);
}

void Channel::compare(std::uint32_t piece, int audience) {
  auto record = predecessors_record();
  LLAMADA_CHECK(record.has_value());
  arena_.count(log::Counter::sends_compared);
  arena_.count(log::Counter::bytes_compared, again_.size());
  bool same_name = record->kind == static_cast<std::uint8_t>(kind_) && record->flags == flags(audience) &&
                   record->label == label(piece);
  if (!same_name || !std::equal(record->payload.begin(), record->payload.end(), again_.begin(), again_.end()))
    diverged(*record, piece, audience, same_name);
  predecessor_->advance();
  LLAMADA_CRASH_POINT("collective:compared");
}

std::string Channel::left_over() {
  const auto record = predecessor_ ? predecessor_->peek() : std::nullopt;
  if (!record) return {};
  return fmt::format("its contribution to MPI_{}, collective {} on the communicator with context {},",
                     to_string(static_cast<Kind>(record->kind)), ordinal_of(*record), context_);
}

void Channel::diverged(const log::Record& record, std::uint32_t piece, int audience, bool same_name) {
  auto to = [](int to) { return to == everybody ? std::string("everybody") : fmt::format("member {}", to); };
  std::string first =
      fmt::format("{} number {}, piece {} for {}, {} bytes", to_string(static_cast<Kind>(record.kind)),
                  ordinal_of(record), piece_of(record), to(record.flags - 1), record.payload.size());
  std::string text = fmt::format("{} on the communicator with context {}: ", describe_call_(), context_);
  if (same_name && record.payload.size() == again_.size()) {
    auto different =
        std::mismatch(again_.begin(), again_.end(), record.payload.begin()).first - again_.begin();
    text += fmt::format("what this run contributes to {} differs from the first run at byte {}", first,
                        different);
  } else {
    text +=
        fmt::format("the first run contributed to {}; this run to {} number {}, piece {} for {}, {} bytes",
                    first, to_string(kind_), ordinal_, piece, to(audience), again_.size());
  }
  if (look_for_culprit_) look_for_culprit_();
  world_.diverged(text);
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
    if (member != self_) world_.wake(members_[member]);
}

void Channel::update_retention() {
  if (!keeps_all_ || world_.is_protected()) return;
  keeps_all_ = false;
  if (size() == 1) return;  // It has no log.
  for (int member = 0; member < size(); ++member)
    if (incoming_[member].found) release(member);
  find_readers();
  kept_ = KeptPayloads(false);
  writer_.set_retention(log::Retention::recycle);
}

void Channel::find_readers() {
  if (writer_.reader_count() + 1 == members_.size()) return;
  for (int member = 0; member < size(); ++member) {
    Incoming& other = incoming_[member];
    if (member == self_ || other.bounds_writer) continue;
    auto peer = world_.peer(members_[member]);
    if (!peer.ready()) continue;
    auto* cursor = log::find_cursor(peer, key_, world_.rank(), other.cursors_scan);
    if (cursor == nullptr) continue;
    writer_.add_reader(cursor);
    other.bounds_writer = true;
  }
}

// ---- reading

bool Channel::find_log(int member) {
  Incoming& incoming = incoming_[member];
  if (incoming.found) return true;
  auto peer = world_.peer(members_[member]);
  if (!peer.ready()) return false;
  auto index = log::find_log(peer, key_, incoming.logs_scan);
  if (!index) return false;
  auto cursor = world_.arena().cursor(key_, members_[member]);
  if (!cursor) {
    failure_ = cursor.error().text();
    return false;
  }
  incoming.reader = log::LogReader::open(peer, *index, *cursor);
  incoming.sleeping = world_.sleeping_word(members_[member]);
  incoming.found = true;
  return true;
}

std::optional<log::Record> Channel::peek(int member) {
  if (!find_log(member)) return std::nullopt;
  auto record = peek_current(member);
  if (!record) return std::nullopt;
  if (loans_open_ > 0 && is_answer(*record)) [[unlikely]] {
    take_back(member, *record);
    return peek(member);
  }
  bool later = age(ordinal_of(*record), ordinal_) > 0;
  if (!later && record->kind == static_cast<std::uint8_t>(kind_)) return record;
  if (record->kind < static_cast<std::uint8_t>(Kind::barrier) ||
      record->kind > static_cast<std::uint8_t>(Kind::context))
    damaged(member, fmt::format("a record of the unknown kind {}", record->kind));
  if (later)
    fail_misfit(fmt::format("rank {} of the communicator has no contribution for rank {} in MPI_{} number "
                            "{}: their arguments "
                            "do not fit",
                            member, self_, to_string(kind_), ordinal_),
                false);
  else
    fail(fmt::format("rank {} of the communicator calls MPI_{} where rank {} calls MPI_{}", member,
                     to_string(static_cast<Kind>(record->kind)), self_, to_string(kind_)));
  return std::nullopt;
}

std::optional<log::Record> Channel::expect(int member, std::uint32_t piece, std::size_t bytes,
                                           std::uint64_t bytes_given) {
  auto record = peek(member);
  if (!record) return std::nullopt;
  if (piece_of(*record) == piece && record->payload.size() == bytes && is_of(*record, bytes_given))
    return record;
  misfit(member, this->bytes_given(*record), bytes_given);
  return std::nullopt;
}

std::optional<std::span<const std::byte>> Channel::own_part(const log::Record& record) const {
  const std::size_t place = sizeof(std::uint32_t) * static_cast<std::size_t>(rank());
  std::uint32_t bounds[2];
  if (record.payload.size() < place + sizeof(bounds)) return std::nullopt;
  std::memcpy(bounds, record.payload.data() + place, sizeof(bounds));
  if (bounds[0] > bounds[1] || bounds[1] > record.payload.size()) return std::nullopt;
  return record.payload.subspan(bounds[0], bounds[1] - bounds[0]);
}

std::uint64_t Channel::bytes_given(const log::Record& record) const {
  if (piece_of(record) == all_together) {
    const auto part = own_part(record);
    return part ? part->size() : 0;
  }
  const std::uint32_t piece = piece_of(record);
  const bool describes = piece == first_step || piece == first_card || piece == first_loan;
  const auto said = describes ? record.payload : record.extra;
  std::uint64_t bytes = record.payload.size();
  if (said.size() >= sizeof(bytes)) std::memcpy(&bytes, said.data(), sizeof(bytes));
  return bytes > 0 || describes ? bytes : record.payload.size();
}

std::string Channel::misfit_text(int member, Kind kind, std::uint32_t ordinal, std::uint64_t bytes,
                                 std::uint64_t bytes_expected) const {
  if (bytes == bytes_expected)
    return fmt::format(
        "rank {} of the communicator deals out {} bytes otherwise than rank {} in MPI_{} "
        "number {}: their counts do not fit",
        member, bytes, self_, to_string(kind), ordinal);
  return fmt::format(
      "rank {} of the communicator gives {} bytes to MPI_{} number {}, where rank {} expects {}: their "
      "counts "
      "or datatypes do not fit",
      member, bytes, to_string(kind), ordinal, self_, bytes_expected);
}

/// Whether a collective that this member is in, or has yet to begin, may need the record.
bool Channel::is_wanted(int member, const log::Record& record) const {
  std::int32_t ahead = age(ordinal_of(record), ordinal_);
  if (ahead != 0) return ahead > 0;
  bool for_this = record.flags == 0 || record.flags == flags(self_);
  return for_this && in_collective_ && incoming_[member].ignored != ordinal_;
}

/// The next record for this member that is not of a collective that is over.
std::optional<log::Record> Channel::peek_current(int member) {
  auto& reader = incoming_[member].reader;
  while (auto record = reader.peek()) {
    if (is_wanted(member, *record)) {
      if (incoming_[member].left_over) [[unlikely]]
        tell_left_over(member);
      return record;
    }
    pass(member, *record);
  }
  if (reader.failed()) damaged(member, reader.error().text());
  return std::nullopt;
}

void Channel::damaged(int member, std::string_view how) const {
  world_.damaged(members_[member],
                 fmt::format("its log of the communicator with context {}: {}", context_, how));
  std::abort();  // Not reached.
}

void Channel::look_for_damage() {
  for (int member = 0; member < size(); ++member) {
    if (member == self_) continue;
    Incoming& incoming = incoming_[member];
    if (!incoming.found) {
      if (world_.peer(members_[member]).is_damaged())
        world_.damaged(members_[member], "its header has changed");
    } else if (incoming.reader.is_cursor_damaged()) {
      world_.damaged(world_.rank(),
                     fmt::format("its cursor in the log of rank {} has changed", members_[member]));
    } else if (const char* why = incoming.reader.find_damage()) {
      damaged(member, why);
    }
  }
}

/// Leaves behind what is of no use.
void Channel::pass(int member, const log::Record& record) {
  auto& left_over = incoming_[member].left_over;
  if (is_left_over(member, record) && !left_over) [[unlikely]]
    left_over = {static_cast<Kind>(record.kind), ordinal_of(record), bytes_given(record)};
  if ((is_loan(record) || is_place(record)) && record.flags == flags(self_)) [[unlikely]]
    owe(member, {static_cast<Kind>(record.kind), ordinal_of(record), is_loan(record)});
  next(member);
}

/// Whether it was for this member, and of a collective that did not fail. Of some kinds not all that is for
/// everybody is of use to everybody; of data in memory nothing has been written to whom did not offer a
/// place.
bool Channel::is_left_over(int member, const log::Record& record) const {
  if (record.flags != 0 && record.flags != flags(self_)) return false;
  if (member < peer_begin_ || member >= peer_end_) return false;
  const auto kind = static_cast<Kind>(record.kind);
  if (kind == Kind::scan || kind == Kind::exscan || kind == Kind::reduce_scatter) return false;
  const std::uint32_t piece = piece_of(record);
  if (piece >= first_step && piece != all_together && piece != first_loan) return false;
  return age(ordinal_of(record), failed_ordinal_) > 0;
}

/// At the next record of use, and not before: so it does not depend on when what was left over came.
void Channel::tell_left_over(int member) {
  const LeftOver was = *incoming_[member].left_over;
  incoming_[member].left_over.reset();
  complain(misfit_text(member, was.kind, was.ordinal, was.bytes, 0), true);
}

void Channel::try_to_let_run_ahead(int member) {
  if (takes_before_trial_ > 0) {
    --takes_before_trial_;
    return;
  }
  const auto& reader = incoming_[static_cast<std::size_t>(member)].reader;
  for (int look = 0; look < looks_of_trial; ++look) {
    if (reader.has_come(records_ahead)) {
      known_to_be_there_ = records_ahead;
      takes_between_trials_ = takes_between_trials_min;
      return;
    }
    pause_processor();
  }
  takes_before_trial_ = takes_between_trials_;
  takes_between_trials_ = std::min(2 * takes_between_trials_, takes_between_trials_max);
}

/// Lets the writer reuse what lies behind; it may be waiting for that. What is kept is not let go: a
/// replacement of this member reads it from the beginning, even if nothing is kept any more by then.
void Channel::release(int member) {
  if (keeps_all_) return;
  Incoming& incoming = incoming_[member];
  std::uint64_t chunk = incoming.reader.position_chunk();
  if (chunk == incoming.released) return;
  incoming.released = chunk;
  incoming.reader.release(chunk);
  world_.wake(members_[member]);
}

void Channel::skip_stale() {
  update_retention();
  for (int member = 0; member < size(); ++member) {
    if (member == self_ || !find_log(member)) continue;
    auto& reader = incoming_[member].reader;
    while (auto record = reader.peek()) {
      if (is_wanted(member, *record)) break;
      pass(member, *record);
    }
    release(member);
  }
  (void)settle();
}

void Channel::fail(std::string text) {
  failed_ordinal_ = ordinal_;
  ever_failed_ = true;
  if (failed()) return;
  failure_ = std::move(text);
  is_too_long_ = false;
}

void Channel::fail_misfit(std::string text, bool is_too_long) {
  const bool is_first = !failed();
  fail(std::move(text));
  if (!is_first) return;
  is_misfit_ = true;
  is_too_long_ = is_too_long;
}

void Channel::complain(std::string text, bool is_too_long) {
  if (!complaint_.empty()) return;
  complaint_ = std::move(text);
  complaint_is_too_long_ = is_too_long;
}

/// Nobody waits for anything more from this member.
void Channel::fail_late() {
  if (!failed()) {
    fail_misfit(std::exchange(complaint_, {}), complaint_is_too_long_);
    outlive_misfit();
  }
  complaint_.clear();
}

void Channel::change_communicator() {
  failed_ordinal_ = ordinal_;
  for (Incoming& incoming : incoming_) incoming.left_over.reset();
  complaint_.clear();
}

}  // namespace llamada::mpi::coll
