#include <algorithm>
#include <cstddef>
#include <cstring>

#include "llamada/base/copy.hpp"
#include "llamada/base/rounding.hpp"
#include "log_record.hpp"
#include "slot_store.hpp"
#include "writer_store.hpp"

namespace llamada::topics::detail {
namespace {

// What one VOLATILE writer holds for readers that are behind, and how many chunks at least: more than
// chunks_behind_max in log_stream.cpp, so that a cache which copies out in time hardly ever stops its writer.
constexpr std::uint64_t log_live_bytes_max = 4 << 20;
constexpr std::uint32_t log_chunk_count_min = 8;

constexpr std::size_t copied_to_and_fro_min = 512 << 10;
constexpr std::size_t copied_block_bytes = 64 << 10;

constexpr std::size_t loan_alignment = 64;

/// A payload of this size lies apart from its cell.
constexpr std::size_t apart_size_min = log::inline_payload_max + 1;

/// Field by field: a RecordHeader made beside would be loaded by more bytes at once than it was stored by,
/// which makes the processor wait.
void write_header(std::byte* to, const SampleHeader& header) {
  constexpr std::uint32_t reserved = 0;
  std::memcpy(to + offsetof(RecordHeader, source_timestamp_ns), &header.source_timestamp_ns, 8);
  std::memcpy(to + offsetof(RecordHeader, group_sequence), &header.group_sequence, 8);
  std::memcpy(to + offsetof(RecordHeader, coherent_set), &header.coherent_set, 4);
  std::memcpy(to + offsetof(RecordHeader, reserved), &reserved, 4);
}

}  // namespace

Result<std::unique_ptr<WriterStore>> LogStore::create(log::ArenaWriter& arena, bool keeps,
                                                      StorePlace& place) {
  log::LogOptions options;
  options.retention = keeps ? log::Retention::keep_all : log::Retention::recycle;
  options.live_bytes_max = log_live_bytes_max;
  options.chunk_count_min = log_chunk_count_min;
  options.readers_expected = 0;  // what nobody is there to read is not kept
  options.is_endpoints = true;
  auto log = log::LogWriter::create(arena, {}, options);
  if (!log) return propagate(log);
  auto store = std::make_unique<LogStore>();
  store->log_ = std::move(*log);
  place.log = store->log_.index();
  return std::unique_ptr<WriterStore>(std::move(store));
}

void LogStore::add_reader(const log::MatchEntry& match, bool reliable) {
  if (!reliable) {
    ++lossy_count_;
    return;
  }
  log_.add_reader(&match.cursor);
  readers_.push_back(&match);
}

void LogStore::remove_reader(const log::MatchEntry& match) {
  if (std::erase(readers_, &match) == 0)
    --lossy_count_;
  else
    log_.remove_reader(&match.cursor);
}

bool LogStore::is_released_by_all() const {
  if (lossy_count_ > 0) return false;
  return std::all_of(readers_.begin(), readers_.end(), [this](const log::MatchEntry* reader) {
    // Pairs with the release store in LogStream::let_go().
    return reader->released.load(std::memory_order_acquire) >= log_.published();
  });
}

/// Large samples that are read as fast as they come lie in the same place, which is in the cache.
Status LogStore::reserve(std::size_t size_bytes, log::Reservation& into) {
  if (log_.may_rewind(size_bytes) && is_released_by_all()) log_.rewind();
  return log_.reserve(size_bytes, into);
}

/// What is larger than a cache and comes from the same place, or goes to the same, is copied to and fro: each
/// copy begins with what the last one ended with.
void LogStore::copy(std::byte* to, std::span<const std::byte> from) {
  if (from.size() < copied_to_and_fro_min) return copy_bytes(to, from.data(), from.size());
  const std::size_t block_count = divided_up(from.size(), copied_block_bytes);
  backwards_ = !backwards_;
  for (std::size_t i = 0; i < block_count; ++i) {
    const std::size_t at = (backwards_ ? block_count - 1 - i : i) * copied_block_bytes;
    copy_bytes(to + at, from.data() + at, std::min(copied_block_bytes, from.size() - at));
  }
}

/// A small one is not written in its cell, whose line readers look at all the time: they would have it back
/// before it is committed.
Status LogStore::loan(std::size_t size_bytes, Loan& into) {
  const bool is_small = size_bytes <= log::inline_payload_max;
  if (is_small && !small_is_lent_) {
    small_is_lent_ = true;
    into.small_is_lent_ = &small_is_lent_;
    into.data_ = {small_room_, size_bytes};
    return {};
  }
  if (is_small || log_.is_reserved()) {  // another is out
    into.private_ =
        std::make_unique<std::uint64_t[]>(divided_up(size_bytes + loan_alignment, sizeof(std::uint64_t)));
    auto* begin = reinterpret_cast<std::byte*>(into.private_.get());
    const auto past = reinterpret_cast<std::uintptr_t>(begin) % loan_alignment;
    into.data_ = {begin + (loan_alignment - past), size_bytes};
    return {};
  }
  if (auto reserved = reserve(size_bytes, into.reservation_); !reserved) return reserved;
  into.data_ = into.reservation_.payload();
  return {};
}

Status LogStore::publish(Loan& loan, const SampleHeader& header) {
  if (!loan.reservation_) return publish(loan.data_, header);
  write_header(loan.reservation_.extra().data(), header);
  log_.commit(std::move(loan.reservation_), log::kind_data, record_flags(header, false), header.instance);
  return {};
}

Status LogStore::publish(std::span<const std::byte> data, const SampleHeader& header) {
  if (log_.is_reserved()) return failure(Errc::would_block, "a loan of this writer is out: publish it first");
  const bool extended = needs_extension(header);
  const std::size_t front_bytes = extended ? sizeof(RecordHeader) : compact_header_bytes;
  if (front_bytes + data.size() <= log::inline_payload_max) return publish_small(data, header, extended);
  log::Reservation room;
  if (auto reserved = reserve(std::max(data.size(), apart_size_min), room); !reserved) return reserved;
  copy(room.payload().data(), data);
  if (data.size() < apart_size_min) room.shrink(data.size());
  write_header(room.extra().data(), header);
  log_.commit(std::move(room), log::kind_data, record_flags(header, false), header.instance);
  return {};
}

Status LogStore::publish(std::span<const std::byte> data, const SampleHeader& header, const Origin& origin) {
  const std::size_t size_bytes = data.size() + sizeof(origin);
  log::Reservation room;
  if (auto reserved = reserve(std::max(size_bytes, apart_size_min), room); !reserved) return reserved;
  copy(room.payload().data(), data);
  std::memcpy(room.payload().data() + data.size(), &origin, sizeof(origin));
  if (size_bytes < apart_size_min) room.shrink(size_bytes);
  write_header(room.extra().data(), header);
  const auto flags = static_cast<std::uint16_t>(record_flags(header, false) | record_has_origin);
  log_.commit(std::move(room), log::kind_data, flags, header.instance);
  return {};
}

Status LogStore::publish_small(std::span<const std::byte> data, const SampleHeader& header, bool extended) {
  const std::uint16_t flags = record_flags(header, extended);
  if (!extended &&
      log_.try_publish_small(log::kind_data, flags, header.instance, header.source_timestamp_ns, data))
    return {};
  std::byte record[log::inline_payload_max];
  const RecordHeader front = record_header(header);
  const std::size_t front_bytes = extended ? sizeof(front) : compact_header_bytes;
  std::memcpy(record, &front, front_bytes);
  std::copy(data.begin(), data.end(), record + front_bytes);
  const std::span<const std::byte> payload(record, front_bytes + data.size());
  if (log_.try_publish(log::kind_data, flags, header.instance, payload)) return {};
  return log_.publish(log::kind_data, flags, header.instance, payload);
}

Result<std::unique_ptr<WriterStore>> make_store(log::ArenaWriter& arena, const EndpointSpec& spec,
                                                StorePlace& place) {
  const qos::DataWriterQos& qos = spec.qos.datawriter;
  if (qos.reliability.kind == qos::ReliabilityKind::reliable &&
      qos.history.kind == qos::HistoryKind::keep_all) {
    const bool keeps = qos.durability.kind != qos::DurabilityKind::volatile_ && !spec.only_with;
    return LogStore::create(arena, keeps, place);
  }
  return SlotStore::create(arena, qos, place);
}

}  // namespace llamada::topics::detail
