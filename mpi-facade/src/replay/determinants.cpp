#include "replay/determinants.hpp"

#include <cstdlib>

#include "replay/protection.hpp"
#include "world/world.hpp"

namespace llamada::mpi::replay {
namespace {

constexpr log::LogKey journal_key{4, 0};

/// A checkpoint was passed, in this life of the job.
struct Passed {
  std::uint32_t checkpoint = 0;
  std::uint32_t life = 0;
  static std::optional<Passed> of(const log::JournalEntry& entry) {
    if (entry.head != value_entry(ValueId::checkpoint_passed, 0).head) return std::nullopt;
    return Passed{static_cast<std::uint32_t>(entry.value), static_cast<std::uint32_t>(entry.value >> 32)};
  }
  log::JournalEntry entry() const {
    return value_entry(ValueId::checkpoint_passed, std::uint64_t{life} << 32 | checkpoint);
  }
};

std::uint32_t number_in(std::string_view identity, std::string_view key) {
  return static_cast<std::uint32_t>(identity_number(identity, key).value_or(0));
}

}  // namespace

Determinants::Determinants(World& world) : world_(world), arena_(world.arena()), marks_(world.cut()) {}

Result<std::unique_ptr<Determinants>> Determinants::open(World& world) {
  std::unique_ptr<Determinants> determinants(new Determinants(world));
  if (!world.protection().records_outcomes) return determinants;
  auto journal = log::Journal::open(world.arena(), journal_key);
  if (!journal) return propagate(journal);
  determinants->journal_ = std::move(*journal);
  std::vector<log::JournalEntry> entries;
  while (auto entry = determinants->journal_.read_next()) {
    if (Passed::of(*entry)) determinants->shortening_.read_passed(determinants->journal_);
    entries.push_back(*entry);
  }
  if (auto status = determinants->read_past(entries); !status) return propagate(status);
  determinants->recording_ = world.is_protected();
  return determinants;
}

/// A record behind each checkpoint, of which the first is replayed first. Where a later life of the job went
/// on from an earlier checkpoint, what it recorded follows what was recorded behind that one before. Records
/// in between may have been given back in part: nobody goes on from there.
Status Determinants::read_past(std::span<const log::JournalEntry> entries) {
  life_ = number_in(world_.identity(), "life");
  std::vector<log::JournalEntry>* record = &later_[0];
  for (const log::JournalEntry& entry : entries) {
    const auto passed = Passed::of(entry);
    if (!passed) {
      record->push_back(entry);
      continue;
    }
    record = &later_[passed->checkpoint];
    last_passed_ = std::max(last_passed_, passed->checkpoint);
    if (passed->life == life_) passed_in_life_ = std::max(passed_in_life_, passed->checkpoint);
  }
  auto replayer = Replayer::read(later_[0]);
  if (!replayer) return propagate(replayer);
  replayer_ = std::move(*replayer);
  later_.erase(0);
  // Others may have passed one that this rank had not, when all of them ended.
  goes_on_from_ = std::max(passed_in_life_, number_in(world_.identity(), "checkpoint"));
  return {};
}

void Determinants::pass_checkpoint(std::uint32_t checkpoint) {
  if (recording_ && checkpoint > passed_in_life_) {
    const Turn turn(*this);
    LLAMADA_CRASH_POINT("checkpoint:kept");
    append(Passed{checkpoint, life_}.entry());
    shortening_.has_passed(journal_);
    LLAMADA_CRASH_POINT("checkpoint:passed");
    passed_in_life_ = checkpoint;
  }
  publish_counters();
  published_replayed_ = 0;
  auto replayer = Replayer::read(later_[checkpoint]);
  if (!replayer) diverged(replayer.error().text());
  replayer_ = std::move(*replayer);
  later_.erase(later_.begin(), later_.upper_bound(checkpoint));
  last_passed_ = std::max(last_passed_, checkpoint);
  goes_on_from_ = 0;
}

void Determinants::will_pass_checkpoint() {
  const std::lock_guard<OwnerLock> lock(busy_);
  if (recording_) shortening_.will_pass(journal_);
}

void Determinants::give_back_records() {
  const std::lock_guard<OwnerLock> lock(busy_);
  if (recording_) shortening_.give_back(journal_);
}

Status Determinants::take_over(const Mark& mark) {
  auto journal = log::Journal::open(world_.arena(), journal_key);
  if (!journal) return propagate(journal);
  journal_ = std::move(*journal);
  // No entry of a predecessor changes any more: a mark comes first.
  marks_ = log::CutMarks(world_.cut());
  std::vector<log::JournalEntry> entries;
  while (auto entry = journal_.read_next()) {
    if (journal_.read_count() > mark.entries) {
      if (Passed::of(*entry)) return failure(Errc::unsupported, "the rank has taken a checkpoint since");
      entries.push_back(*entry);
    } else if (journal_.read_count() == mark.entries && entry->count > mark.last_count &&
               (is_fruitless(*entry) || is_value(*entry))) {
      // A run that has become longer since.
      entry->count -= mark.last_count;
      entries.push_back(*entry);
    }
  }
  auto replayer = Replayer::read(entries);
  if (!replayer) return propagate(replayer);
  replayer_ = std::move(*replayer);
  published_replayed_ = 0;
  recording_ = world_.is_protected();
  return {};
}

std::vector<Determinants::ToldClock> Determinants::told_clocks() const {
  std::vector<ToldClock> told;
  for (const ClockState& clock : clocks_)
    if (clock.id != 0) told.push_back({clock.id, clock.last});
  return told;
}

void Determinants::restore_clocks(std::span<const ToldClock> told) {
  for (const ToldClock& each : told) {
    ClockState& clock = clock_state(static_cast<ValueId>(each.id));
    clock.last = std::max(clock.last, each.last);
    clock.replayed = true;
  }
}

void Determinants::append_slowly(const log::JournalEntry& entry) {
  if (keep(entry)) counted();
}

/// False: the job is no longer protected.
bool Determinants::keep(const log::JournalEntry& entry) {
  while (!journal_.append(entry)) {
    // The memory for histories is used up: the driver decides what becomes of the job.
    world_.log_used_up();
    if (!world_.is_protected()) {
      stop_recording();
      return false;
    }
    world_.sleep([this] { return !world_.is_protected(); });
  }
  return true;
}

void Determinants::await_stable() {
  if (recording_) world_.await_stable();
}

void Determinants::record_completion(CallKind kind, std::span<const std::uint32_t> indices) {
  if (!recording_) return;
  const Turn turn(*this);
  LLAMADA_CRASH_POINT("completion:decided");
  for (const auto& entry : completion_entries(kind, indices)) {
    append(entry);
    LLAMADA_CRASH_POINT("completion:part-recorded");
  }
  LLAMADA_CRASH_POINT("completion:recorded");
}

void Determinants::record_value(ValueId id, std::uint64_t value) {
  if (!recording_) return;
  const Turn turn(*this);
  const auto last = journal_.last();
  if (last && is_value(*last, id, value))
    journal_.set_last_count(last->count + 1);
  else
    append(value_entry(id, value));
  LLAMADA_CRASH_POINT("value:recorded");
}

void Determinants::record_bytes(std::span<const std::byte> bytes) {
  if (!recording_) return;
  const Turn turn(*this);
  for (const auto& entry : bytes_entries(bytes)) {
    append(entry);
    LLAMADA_CRASH_POINT("random:part-recorded");
  }
}

void Determinants::diverged(std::string_view difference) {
  world_.diverged(fmt::format(
      "replay diverged: rank {} (incarnation {}): {}; the program is not deterministic beyond what "
      "is recorded",
      world_.rank(), world_.incarnation(), difference));
  std::abort();  // Not reached.
}

void Determinants::cannot_be_replaced(std::string_view why) {
  world_.aborted(exit_unprotected, fmt::format("rank {} cannot be replaced: {}", world_.rank(), why));
  std::abort();  // Not reached.
}

Determinants::ClockState& Determinants::clock_state(ValueId id) {
  const auto number = static_cast<std::uint32_t>(id);
  auto found = std::find_if(clocks_.begin(), clocks_.end() - 1,
                            [&](const ClockState& clock) { return clock.id == number || clock.id == 0; });
  found->id = number;
  return *found;
}

std::uint64_t Determinants::read_clock(ValueId id, std::uint64_t now) {
  ClockState& clock = clock_state(id);
  if (replaying()) {
    auto value = replayer_.take_value(id);
    if (!value) diverged(value.error().text());
    clock.last = std::max(clock.last, *value);
    clock.replayed = true;
    return *value;
  }
  if (clock.replayed && now + clock.offset < clock.last) clock.offset = clock.last - now;
  const std::uint64_t value = clock.last = now + clock.offset;
  record_value(id, value);
  return value;
}

std::uint64_t Determinants::read_value(ValueId id, std::uint64_t now) {
  if (replaying()) {
    auto value = replayer_.take_value(id);
    if (!value) diverged(value.error().text());
    return *value;
  }
  record_value(id, now);
  return now;
}

std::uint64_t Determinants::read_pid(std::uint64_t real) {
  if (replaying()) {
    auto value = replayer_.take_value(ValueId::pid);
    if (!value) diverged(value.error().text());
    return pid_ = *value;
  }
  if (pid_ == 0) pid_ = real;
  record_value(ValueId::pid, pid_);
  return pid_;
}

std::vector<std::byte> Determinants::take_bytes(std::size_t size_bytes_max) {
  auto recorded = replayer_.take_bytes(size_bytes_max);
  if (!recorded) diverged(recorded.error().text());
  return std::move(*recorded);
}

void Determinants::publish_counters() {
  const std::uint64_t replayed = replayer_.replayed();
  if (replayed == published_replayed_) return;
  world_.arena().count(log::Counter::determinants_replayed, replayed - published_replayed_);
  published_replayed_ = replayed;
}

}  // namespace llamada::mpi::replay
