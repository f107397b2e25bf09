#include "rank_logs.hpp"

#include <algorithm>
#include <cstring>

#include "llamada/mpi/message_record.hpp"

namespace llamada::tools {
namespace {

/// A log whose writer is as fast as this reader does not keep it from the others.
constexpr int records_per_look_max = 4096;

bool is_message_log(const log::LogKey& key) { return mpi::kind_of_log(key) == mpi::message_log_kind; }

/// So much of a record is copied that the lines of a patch for the first `bytes_max` bytes are among it.
std::size_t copied_bytes(std::size_t bytes_max) {
  return (bytes_max / mpi::PatchLine::line_bytes + 1) * sizeof(mpi::PatchLine);
}

}  // namespace

RankLogs::RankLogs(int rank, std::uint32_t arena_id, std::shared_ptr<const llamanet::MappedArena> memory,
                   const RankWatchOptions& options, bool from_start)
    : rank_(rank),
      arena_id_(arena_id),
      memory_(std::move(memory)),
      arena_(memory_->reading()),
      options_(options),
      skips_(!from_start) {}

bool RankLogs::look(RankWatchEvents& events) {
  if (!arena_.ready()) {
    skips_ = false;  // nothing is there yet
    return false;
  }
  bool any = false;
  // What logs have last whose entries have become others'.
  if (!skips_ && arena_.header().reuses.load(std::memory_order_acquire) != scan_.reuses)
    for (Stream& stream : streams_) any |= read(stream, &events);
  find_streams();
  if (std::exchange(skips_, false))
    for (Stream& stream : streams_)
      while (read(stream, nullptr)) continue;
  for (Stream& stream : streams_) any |= read(stream, &events);
  return any;
}

bool RankLogs::is_wanted(const log::LogKey& key) const {
  if (is_message_log(key)) return !options_.to || key.low == static_cast<std::uint64_t>(*options_.to);
  return options_.with_collectives && !options_.to && !options_.tag && mpi::coll::name_of_collective_log(key);
}

/// An entry that has another key now is another log: what it was is over.
void RankLogs::find_streams() {
  const std::uint32_t scanned_before = scan_.scanned;
  scan_.renew(arena_);
  const auto key_at = [this](std::uint32_t index) {
    const log::LogEntry& entry = arena_.log(index);
    return log::LogKey{__atomic_load_n(&entry.key_high, __ATOMIC_ACQUIRE),
                       __atomic_load_n(&entry.key_low, __ATOMIC_ACQUIRE)};
  };
  if (scan_.scanned < scanned_before) {
    std::erase_if(streams_, [&](const Stream& each) { return key_at(each.index) != each.key; });
    for (Stream& each : streams_) each.reader.look_at_entry_again();
  }
  const std::uint32_t count = arena_.log_count();
  for (; scan_.scanned < count; ++scan_.scanned) {
    const std::uint32_t index = scan_.scanned;
    const bool is_known =
        std::ranges::any_of(streams_, [&](const Stream& each) { return each.index == index; });
    if (is_known) continue;
    const log::LossyReader reader(arena_, index, copied_bytes(options_.bytes_max));
    if (is_wanted(reader.key())) streams_.push_back({reader.key(), index, reader, {}, {}});
  }
}

/// Tells `events`, unless that is null, what has come. True if anything has.
bool RankLogs::read(Stream& stream, RankWatchEvents* events) {
  int count = 0;
  while (count < records_per_look_max) {
    const log::CopiedRecord* record = stream.reader.next();
    if (record == nullptr) break;
    ++count;
    if (std::exchange(stream.restarts, stream.reader.restarts()) != stream.reader.restarts()) {
      stream.ordinals.clear();
      stream.patch.clear();
    }
    if (const std::uint64_t missed = stream.reader.missed(); missed != stream.missed) {
      if (events != nullptr)
        events->on_missed(
            rank_,
            is_message_log(stream.key) ? std::optional(static_cast<int>(stream.key.low)) : std::nullopt,
            missed - stream.missed);
      stream.missed = missed;
      stream.patch.clear();
    }
    take(stream, *record, events);
  }
  return count > 0;
}

void RankLogs::take(Stream& stream, const log::CopiedRecord& record, RankWatchEvents* events) {
  if (!is_message_log(stream.key)) {
    if (events != nullptr) take_collective(stream, record, *events);
  } else if (record.kind == mpi::kind_message || record.kind == mpi::kind_announcement) {
    take_message(stream, record, events);
    stream.patch.clear();
  } else if (record.kind == mpi::kind_patch) {
    stream.patch = record.bytes;
    stream.patch.resize(stream.patch.size() / sizeof(mpi::PatchLine) * sizeof(mpi::PatchLine));
  }
}

void RankLogs::take_message(Stream& stream, const log::CopiedRecord& record, RankWatchEvents* events) {
  SeenMessage message;
  message.context = mpi::label_context(record.label);
  if (stream.reader.is_whole()) message.ordinal = ++stream.ordinals[message.context];
  message.tag = mpi::label_tag(record.label);
  if (events == nullptr || (options_.tag && *options_.tag != message.tag)) return;
  message.source = rank_;
  message.destination = static_cast<int>(stream.key.low);
  message.is_synchronous = (record.flags & mpi::flag_synchronous) != 0;
  message.number = record.number;
  message.payload = payload_of(record, stream.patch);
  message.incarnation = memory_->view().incarnation();
  message.call_index = memory_->view().call_index();
  events->on_message(message);
}

SeenPayload RankLogs::payload_of(const log::CopiedRecord& record, const std::vector<std::byte>& patch) const {
  SeenPayload payload{record.size_bytes, std::nullopt};
  if (record.kind == mpi::kind_announcement) {
    mpi::Announcement announcement;
    if (record.bytes.size() >= sizeof(announcement))
      std::memcpy(&announcement, record.bytes.data(), sizeof(announcement));
    payload.size_bytes = announcement.size;
    return payload;
  }
  const bool is_patched = record.kind == mpi::kind_message && (record.flags & mpi::flag_patched) != 0;
  if (!record.has_bytes || (is_patched && patch.empty())) return payload;
  const std::size_t shown = std::min(record.bytes.size(), options_.bytes_max);
  std::vector<std::byte> bytes(record.bytes.begin(),
                               record.bytes.begin() + static_cast<std::ptrdiff_t>(shown));
  const auto put = [&](std::size_t offset, std::span<const std::byte> line) {
    if (offset < shown)
      std::copy_n(line.begin(), std::min(line.size(), shown - offset),
                  bytes.begin() + static_cast<std::ptrdiff_t>(offset));
  };
  if (!is_patched || mpi::apply_patch(patch, record.size_bytes, put)) payload.first_bytes = std::move(bytes);
  return payload;
}

void RankLogs::take_collective(const Stream& stream, const log::CopiedRecord& record,
                               RankWatchEvents& events) const {
  if (!mpi::coll::is_collective(record.kind)) return;
  SeenCollective collective;
  collective.source = rank_;
  collective.context = mpi::coll::name_of_collective_log(stream.key)->first;
  collective.kind = static_cast<mpi::coll::Kind>(record.kind);
  collective.ordinal = static_cast<std::uint32_t>(record.label >> 32);
  if (record.flags != 0) collective.member = record.flags - 1;
  collective.payload = payload_of(record, {});
  events.on_collective(collective);
}

}  // namespace llamada::tools
