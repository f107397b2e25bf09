#include "io/ledger.hpp"

#include <algorithm>
#include <cstdlib>
#include <cstring>

#include "llamada/base/crash_point.hpp"
#include "p2p/engine.hpp"
#include "runtime/runtime.hpp"
#include "world/world.hpp"

namespace llamada::mpi::io {
namespace {

using log::JournalEntry;

constexpr log::LogKey journal_key{5, 0};

// What the low byte of an entry's head says.
constexpr std::uint32_t type_data = 1;       // up to 12 bytes that were read
constexpr std::uint32_t type_read = 2;       // the digest and number of the bytes read; the outcome follows
constexpr std::uint32_t type_outcome = 3;    // ends an operation
constexpr std::uint32_t type_announced = 4;  // the operation with this number finds what it expects
constexpr std::uint32_t type_begun = 5;      // the operation with this number has been begun
constexpr std::uint32_t type_passed = 6;     // the checkpoint with this number; operations count from 1 again

constexpr std::size_t data_bytes_each = 12;
constexpr std::uint64_t has_data_flag = std::uint64_t{1} << 63;

JournalEntry data_entry(std::span<const std::byte> bytes) {
  JournalEntry entry{type_data | static_cast<std::uint32_t>(bytes.size()) << 8, 0, 0};
  const std::size_t low = std::min<std::size_t>(bytes.size(), sizeof entry.value);
  std::memcpy(&entry.value, bytes.data(), low);
  std::memcpy(&entry.count, bytes.data() + low, bytes.size() - low);
  return entry;
}

void append_data(const JournalEntry& entry, std::vector<std::byte>& data) {
  std::byte bytes[data_bytes_each];
  std::memcpy(bytes, &entry.value, sizeof entry.value);
  std::memcpy(bytes + sizeof entry.value, &entry.count, sizeof entry.count);
  const std::size_t size = std::min<std::size_t>(entry.head >> 8, data_bytes_each);
  data.insert(data.end(), bytes, bytes + size);
}

}  // namespace

const char* to_string(OperationKind kind) {
  switch (kind) {
    case OperationKind::create:
      return "the creation of a file";
    case OperationKind::open:
      return "the opening of a file";
    case OperationKind::remove:
      return "the removal of a file";
    case OperationKind::set_size:
      return "the setting of a file's size";
    case OperationKind::preallocate:
      return "a preallocation";
    case OperationKind::get_size:
      return "a question for a file's size";
    case OperationKind::sync:
      return "a sync";
    case OperationKind::read:
      return "a read";
    case OperationKind::write:
      return "a write";
    case OperationKind::shared_pointer:
      return "a move of a shared file pointer";
  }
  return "an operation";
}

bool is_change(OperationKind kind) {
  switch (kind) {
    case OperationKind::create:
    case OperationKind::remove:
    case OperationKind::set_size:
    case OperationKind::preallocate:
    case OperationKind::write:
    case OperationKind::shared_pointer:
      return true;
    default:
      return false;
  }
}

Ledger::Ledger(World& world) : world_(world), marks_(world.cut()) {}

bool Ledger::is_there(World& world) { return world.arena().find_log(journal_key).has_value(); }

Result<std::unique_ptr<Ledger>> Ledger::open(World& world) {
  std::unique_ptr<Ledger> ledger(new Ledger(world));
  if (!world.protection().records_outcomes) return ledger;
  auto journal = log::Journal::open(world.arena(), journal_key);
  if (!journal) return propagate(journal);
  ledger->journal_ = std::move(*journal);
  ledger->read_past();
  ledger->recording_ = world.is_protected();
  ledger->pass_checkpoint();
  return ledger;
}

void Ledger::read_past() {
  std::vector<std::byte> data;
  std::optional<JournalEntry> read;
  while (const auto entry = journal_.read_next()) {
    switch (entry->head & 0xff) {
      case type_data:
        append_data(*entry, data);
        break;
      case type_read:
        read = entry;
        break;
      case type_announced:
        pasts_[last_passed_].announced = entry->value;
        break;
      case type_begun:
        pasts_[last_passed_].begun = {static_cast<OperationKind>(entry->head >> 8 & 0xff), entry->count,
                                      entry->value};
        break;
      case type_outcome: {
        Entry outcome;
        outcome.kind = static_cast<OperationKind>(entry->head >> 8 & 0xff);
        outcome.error_number = static_cast<int>(entry->head >> 16);
        outcome.digest = entry->count;
        outcome.value = entry->value;
        if (read) {
          outcome.data_digest = read->count;
          outcome.has_data = (read->value & has_data_flag) != 0;
          // What lies before the last so many bytes was cut off by a death. Where some of them were given
          // back nobody repeats the operation.
          const std::uint64_t kept = std::min<std::uint64_t>(read->value & ~has_data_flag, data.size());
          if (outcome.has_data)
            outcome.data.assign(data.end() - static_cast<std::ptrdiff_t>(kept), data.end());
        }
        pasts_[last_passed_].entries.push_back(std::move(outcome));
        data.clear();
        read.reset();
        break;
      }
      case type_passed:
        last_passed_ = entry->value;
        shortening_.read_passed(journal_);
        data.clear();
        read.reset();
        break;
      case log::cut_mark:
        break;
      default:
        diverged("the ledger of operations on files has an entry of an unknown type");
    }
  }
}

/// Behind the checkpoint that the rank has passed last.
void Ledger::pass_checkpoint() {
  const std::uint64_t checkpoint = world_.checkpoint();
  // Lower: the job goes on from an earlier one than before.
  if (checkpoint != 0 && last_passed_ != checkpoint) {
    append({type_passed, 0, checkpoint});
    shortening_.has_passed(journal_);
    last_passed_ = checkpoint;
  }
  past_ = std::move(pasts_[checkpoint]);
  number_ = 0;
}

void Ledger::will_pass_checkpoint() {
  if (recording_) shortening_.will_pass(journal_);
}

void Ledger::give_back_records() {
  if (recording_) shortening_.give_back(journal_);
}

void Ledger::diverged(const std::string& difference) {
  if (Runtime* runtime = runtime_if_any(); runtime && runtime->engine) runtime->engine->diverged(difference);
  world_.diverged("replay diverged: " + difference);
  std::abort();  // Not reached.
}

Ledger::Entry Ledger::take(OperationKind kind, std::uint32_t digest) {
  Entry entry = std::move(past_.entries.front());
  past_.entries.pop_front();
  ++number_;
  if (entry.kind != kind)
    diverged(fmt::format("where {} was recorded the replacement came to {}", to_string(entry.kind),
                         to_string(kind)));
  if (entry.digest != digest)
    diverged(fmt::format("{} has other arguments or data than its predecessor's", to_string(kind)));
  LLAMADA_CRASH_POINT("file:repeated");
  return entry;
}

void Ledger::append(const JournalEntry& entry) {
  if (const auto mark = recording_ ? marks_.due() : std::nullopt) keep_entry(*mark);
  keep_entry(entry);
}

void Ledger::keep_entry(const JournalEntry& entry) {
  while (recording_ && !journal_.append(entry)) {
    // The memory for histories is used up: the driver decides what becomes of the job.
    world_.log_used_up();
    if (!world_.is_protected()) {
      recording_ = false;
      return;
    }
    world_.sleep([this] { return !world_.is_protected(); });
  }
}

void Ledger::announce() {
  append({type_announced, 0, next_number()});
  LLAMADA_CRASH_POINT("file:announced");
  if (recording_) world_.await_stable();
}

void Ledger::begin(OperationKind kind, std::uint32_t digest) {
  if (past_.begun && past_.begun->number == next_number()) {
    if (past_.begun->kind != kind || past_.begun->digest != digest)
      diverged(fmt::format("where its predecessor had begun {} the replacement came to {}{}",
                           to_string(past_.begun->kind), to_string(kind),
                           past_.begun->kind == kind ? " with other arguments or data" : ""));
    past_.begun.reset();
  } else {
    append({type_begun | static_cast<std::uint32_t>(kind) << 8, digest, next_number()});
    LLAMADA_CRASH_POINT("file:begun");
  }
  // A shared file pointer is the job's own.
  if (recording_ && kind != OperationKind::shared_pointer) world_.await_stable();
}

std::string Ledger::left_over() const {
  if (!past_.entries.empty()) return to_string(past_.entries.front().kind);
  if (past_.begun && past_.begun->number == next_number()) return to_string(past_.begun->kind);
  return {};
}

void Ledger::keep(std::span<const std::byte> data) {
  kept_bytes_ += data.size();
  while (recording_ && !data.empty()) {
    const auto piece = data.first(std::min(data.size(), data_bytes_each));
    append(data_entry(piece));
    data = data.subspan(piece.size());
  }
}

void Ledger::record(const Entry& entry) {
  ++number_;
  if (recording_) {
    LLAMADA_CRASH_POINT("file:done");
    if (entry.kind == OperationKind::read) {
      append({type_read, entry.data_digest, kept_bytes_ | (entry.has_data ? has_data_flag : 0)});
      LLAMADA_CRASH_POINT("file:part-recorded");
    }
    append({type_outcome | static_cast<std::uint32_t>(entry.kind) << 8 |
                static_cast<std::uint32_t>(entry.error_number & 0xffff) << 16,
            entry.digest, entry.value});
    LLAMADA_CRASH_POINT("file:recorded");
  }
  kept_bytes_ = 0;
}

}  // namespace llamada::mpi::io
