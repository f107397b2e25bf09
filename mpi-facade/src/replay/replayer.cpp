#include "replay/replayer.hpp"

#include <cstring>

#include "llamada/base/rounding.hpp"
#include "llamada/log/cuts.hpp"

namespace llamada::mpi::replay {
namespace {

using log::JournalEntry;

std::uint32_t type_of(const JournalEntry& entry) { return entry.head & 0xff; }

bool is_of_file(ValueId id) {
  return (id >= ValueId::file_opened && id <= ValueId::stream_buffer) ||
         (id >= ValueId::file_call && id <= ValueId::files_since);
}

std::string_view name_of_waiting(ValueId id) {
  if (id == ValueId::input_read) return "a read from standard input";
  return id == ValueId::signal ? "the handling of a signal" : "a function that waits (poll, nanosleep, ...)";
}

std::string describe(const Outcome& outcome) {
  switch (outcome.type) {
    case Outcome::Type::fruitless:
      return "a call that found nothing";
    case Outcome::Type::completion:
    case Outcome::Type::message:
      return std::string(to_string(outcome.kind));
    case Outcome::Type::cancelled:
      return "MPI_Cancel";
    case Outcome::Type::value:
      if (is_of_file(outcome.id)) return "an operation on a file";
      if (outcome.id >= ValueId::input_read) return std::string(name_of_waiting(outcome.id));
      return outcome.id == ValueId::pid ? "getpid" : "the reading of a clock";
    case Outcome::Type::bytes:
      return "a function that gives random numbers or reads from a file";
  }
  return "?";
}

}  // namespace

Result<Replayer> Replayer::read(std::span<const JournalEntry> entries) {
  Replayer replayer;
  for (std::size_t at = 0; at < entries.size();) {
    Status status = replayer.add(entries, at);
    if (!status) return propagate(status);
  }
  return replayer;
}

Status Replayer::add(std::span<const JournalEntry> entries, std::size_t& at) {
  const JournalEntry& entry = entries[at];
  switch (type_of(entry)) {
    case 1:
      matches_[std::uint64_t{entry.count} | (entry.value & 0xffff) << 32] = {
          static_cast<int>(entry.head >> 8), entry.value >> 16};
      break;
    case 2: {
      const std::uint64_t post_index = std::uint64_t{entry.count} | entry.value << 32;
      cancelled_.insert(post_index);
      append({.type = Outcome::Type::cancelled, .kind = CallKind::cancel, .post_index = post_index});
      break;
    }
    case 3:
      append({.type = Outcome::Type::fruitless, .count = entry.count});
      break;
    case 4:
    case 8:
      add_list(entries, at);
      return {};
    case 5:
    case 9:
      break;  // What a death has cut off before this.
    case 6:
      append({.type = Outcome::Type::message,
              .kind = static_cast<CallKind>(entry.head >> 8 & 0xff),
              .message = {static_cast<int>(entry.count), entry.value}});
      break;
    case 7:
      append({.type = Outcome::Type::value,
              .count = entry.count,
              .id = static_cast<ValueId>(entry.head >> 8),
              .value = entry.value});
      break;
    case log::cut_mark:
      break;
    default:
      return failure(Errc::parse_error, "determinant {} has the unknown type {}", at, type_of(entry));
  }
  ++at;
  return {};
}

void Replayer::add_list(std::span<const JournalEntry> entries, std::size_t& at) {
  const JournalEntry& head = entries[at++];
  const bool completion = type_of(head) == 4;
  const std::size_t first = completion ? 2 : 8;
  const std::size_t each = completion ? 3 : 12;
  const std::size_t wanted = head.count > first ? divided_up(head.count - first, each) : 0;
  const std::size_t begin = at;
  while (at < entries.size() && at - begin < wanted && type_of(entries[at]) == (completion ? 5U : 9U)) ++at;
  if (at - begin < wanted) return;  // Cut off by a death: nobody has seen it.
  Outcome outcome;
  if (completion) {
    outcome.type = Outcome::Type::completion;
    outcome.kind = static_cast<CallKind>(head.head >> 8 & 0xff);
    outcome.indices = {static_cast<std::uint32_t>(head.value), static_cast<std::uint32_t>(head.value >> 32)};
    for (std::size_t i = begin; i < at; ++i)
      outcome.indices.insert(outcome.indices.end(),
                             {entries[i].count, static_cast<std::uint32_t>(entries[i].value),
                              static_cast<std::uint32_t>(entries[i].value >> 32)});
    outcome.indices.resize(head.count);
  } else {
    outcome.type = Outcome::Type::bytes;
    outcome.bytes.resize(first + wanted * each);
    std::memcpy(outcome.bytes.data(), &head.value, first);
    for (std::size_t i = begin; i < at; ++i) {
      std::byte* const to = outcome.bytes.data() + first + each * (i - begin);
      std::memcpy(to, &entries[i].value, sizeof entries[i].value);
      std::memcpy(to + sizeof entries[i].value, &entries[i].count, sizeof entries[i].count);
    }
    outcome.bytes.resize(head.count);
  }
  append(std::move(outcome));
}

void Replayer::append(Outcome outcome) {
  const bool run = outcome.type == Outcome::Type::fruitless && !outcomes_.empty() &&
                   outcomes_.back().type == Outcome::Type::fruitless;
  if (run)
    outcomes_.back().count += outcome.count;
  else
    outcomes_.push_back(std::move(outcome));
}

void Replayer::count_down() {
  ++replayed_;
  if (--outcomes_.front().count == 0) outcomes_.pop_front();
}

std::optional<Match> Replayer::take_match(std::uint64_t post_index) {
  auto found = matches_.find(post_index);
  if (found == matches_.end()) return std::nullopt;
  const Match match = found->second;
  matches_.erase(found);
  ++replayed_;
  return match;
}

tl::unexpected<Error> Replayer::other_kind(std::string_view asked) const {
  return failure(Errc::diverged, "where {} was recorded the replacement called {}", describe_next(), asked);
}

Result<Outcome> Replayer::take(CallKind kind) {
  Outcome& next = outcomes_.front();
  if (next.type == Outcome::Type::fruitless && may_be_fruitless(kind)) {
    count_down();
    return Outcome{.kind = kind};
  }
  const bool fits =
      (next.type == Outcome::Type::completion || next.type == Outcome::Type::message) && next.kind == kind;
  if (!fits) return other_kind(to_string(kind));
  Outcome taken = std::move(next);
  outcomes_.pop_front();
  ++replayed_;
  return taken;
}

Result<bool> Replayer::take_cancel(std::uint64_t post_index) {
  const Outcome& next = outcomes_.front();
  const bool cancelled = next.type == Outcome::Type::cancelled && next.post_index == post_index;
  const bool too_late = next.type == Outcome::Type::completion && next.kind == CallKind::cancel;
  if (!cancelled && !too_late) return other_kind("MPI_Cancel");
  outcomes_.pop_front();
  ++replayed_;
  return cancelled;
}

Result<std::uint64_t> Replayer::take_value(ValueId id) {
  const Outcome& next = outcomes_.front();
  if (next.type != Outcome::Type::value || next.id != id)
    return other_kind(id == ValueId::pid          ? "getpid"
                      : is_of_file(id)            ? "a function that works on files"
                      : id >= ValueId::input_read ? name_of_waiting(id)
                                                  : "a function that reads another clock");
  const std::uint64_t value = next.value;
  count_down();
  return value;
}

Result<std::vector<std::byte>> Replayer::take_bytes(std::size_t count) {
  Outcome& next = outcomes_.front();
  if (next.type != Outcome::Type::bytes || next.bytes.size() > count)
    return other_kind("a function that gives random numbers or reads from a file");
  std::vector<std::byte> bytes = std::move(next.bytes);
  outcomes_.pop_front();
  ++replayed_;
  return bytes;
}

std::deque<std::uint64_t> Replayer::values_left(ValueId id) const {
  std::deque<std::uint64_t> values;
  for (const Outcome& outcome : outcomes_)
    if (outcome.type == Outcome::Type::value && outcome.id == id) values.push_back(outcome.value);
  return values;
}

bool Replayer::outcomes_of_mpi_left() const {
  return !std::ranges::all_of(outcomes_, [](const Outcome& outcome) {
    return outcome.type == Outcome::Type::value || outcome.type == Outcome::Type::bytes;
  });
}

std::string Replayer::describe_next() const {
  return outcomes_.empty() ? std::string("nothing") : describe(outcomes_.front());
}

}  // namespace llamada::mpi::replay
