#include <algorithm>
#include <cstring>

#include "llamada/base/crash_point.hpp"
#include "llamada/base/crc32c.hpp"
#include "llamada/base/plain_bytes.hpp"
#include "llamada/base/rounding.hpp"
#include "segment_store_impl.hpp"

namespace llamada::store {

namespace {

/// Between two looks for room on a full disk.
constexpr std::chrono::seconds room_interval{1};

/// Batches that are not durable are kept in memory up to this, the newest ones. Older ones are read back from
/// their file should they have to be written anew.
constexpr std::uint64_t held_bytes_max = std::uint64_t{64} << 20;

}  // namespace

/// Room for a batch of so many bytes, in the segment in use or behind it, where so many are allocated then.
Status SegmentStore::ensure_room(std::uint64_t bytes, std::uint64_t spares) {
  if (bytes <= active_.room()) return {};
  while (spares_.size() < spares || spares_.front().bytes < segment_header_bytes + bytes)
    if (auto made = make_spare(segment_header_bytes + bytes); !made) return made;
  return {};
}

/// Allocates a further file, or makes the first one as large.
Status SegmentStore::make_spare(std::uint64_t bytes) {
  if (options_.clock->monotonic() < look_for_room_at_)
    return failure(Errc::out_of_resources, "{} has no room for another segment", files_->name());
  const std::uint64_t size = std::max(options_.segment_bytes, rounded_up(bytes, segment_header_bytes));
  Status allocated;
  if (!spares_.empty() && spares_.front().bytes < bytes) {
    allocated = spares_.front().file->allocate(size);
    if (allocated) spares_.front().bytes = size;
  } else {
    const std::uint64_t number = next_segment_;
    auto file = files_->open(segment_name(number), Files::Open::to_create);
    if (!file && file.error().code() == Errc::already_exists) {
      // A file that could not be removed has this number; the caller tries the next one.
      ++next_segment_;
      return {};
    }
    if (!file) {
      allocated = propagate(file);
    } else if (allocated = (*file)->allocate(options_.segment_bytes); allocated) {
      LLAMADA_CRASH_POINT("store:allocated");
      spares_.push_back({number, std::move(*file), options_.segment_bytes});
      ++next_segment_;
    } else {
      (void)files_->remove(segment_name(number));
    }
  }
  if (allocated) return {};
  look_for_room_at_ = options_.clock->monotonic() + room_interval;
  return tl::unexpected<Error>(
      Error(Errc::out_of_resources,
            fmt::format("{} has no room for another segment: {}", files_->name(), allocated.error().text()),
            allocated.error().system_errno()));
}

/// Goes on in another segment, which has room for a batch of so many bytes.
Status SegmentStore::next_segment(BatchNumber first, std::uint64_t bytes) {
  if (auto taken = take_spare(first, bytes); !taken) return taken;
  if (auto written = write_header(); !written) {
    const std::uint64_t number = active_.number;
    leave_active();
    index_.remove_segment(number);
    (void)files_->remove(segment_name(number));
    return written;
  }
  LLAMADA_CRASH_POINT("store:begun");
  directory_changed_ = true;
  return {};
}

/// The same without the header: until it is written, the next start passes the segment over.
Status SegmentStore::take_spare(BatchNumber first, std::uint64_t bytes) {
  seal_active();
  leave_active();
  if (auto room = ensure_room(bytes, 1); !room) return room;
  Spare spare = std::move(spares_.front());
  spares_.pop_front();
  active_ = {.number = spare.number, .offset = segment_header_bytes, .bytes = spare.bytes, .footer = {}};
  index_.add_segment(spare.number, {.file = std::move(spare.file),
                                    .first = first,
                                    .last = first - 1,
                                    .end = segment_header_bytes,
                                    .bytes = spare.bytes});
  return {};
}

Status SegmentStore::write_header() {
  const Segment& segment = index_.segment(active_.number);
  const SegmentHeader header = make_segment_header(id_, active_.number, segment.first);
  return segment.file->write(0, plain_bytes(header));
}

/// Writes what the next start would else find out by reading all batches. It is no harm if this fails.
void SegmentStore::seal_active() {
  if (active_.number == 0) return;
  Segment& segment = index_.segment(active_.number);
  const std::uint64_t offset = rounded_up(segment.end, batch_alignment);
  const auto footer = std::as_bytes(std::span(active_.footer));
  Seal seal{.magic = {},
            .footer_offset = offset,
            .entries = active_.footer.size(),
            .last = segment.last,
            .synced = synced_,
            .segment = active_.number,
            .tag = tag_of(id_),
            .footer_crc = crc32c(footer),
            .zero = 0,
            .crc = 0};
  finish(seal);
  const std::uint64_t end = offset + footer_mark.size() + footer.size();
  if (!segment.file->truncate(end) || !segment.file->write(offset, std::as_bytes(std::span(footer_mark))) ||
      !segment.file->write(offset + footer_mark.size(), footer))
    return;
  segment.bytes = end;
  LLAMADA_CRASH_POINT("store:footer");
  (void)segment.file->write(seal_offset, plain_bytes(seal));
  LLAMADA_CRASH_POINT("store:sealed");
}

void SegmentStore::leave_active() { active_ = {}; }

Status SegmentStore::write_in(std::span<const std::byte> batch) {
  return index_.segment(active_.number).file->write(active_.offset, batch);
}

Result<BatchNumber> SegmentStore::write_batch(BatchBuilder& builder) {
  const BatchNumber number = written_ + 1;
  const std::uint64_t bytes = builder.bytes();
  const auto finished = [&] {
    return builder.finish(number, synced_, active_.number, tag_of(id_), active_.offset);
  };
  if (bytes > active_.room())
    if (auto next = next_segment(number, bytes); !next) return propagate(next);
  LLAMADA_CRASH_POINT("store:before-write");
  if (auto written = write_in(finished()); !written) {
    // The segment ends before this batch, of which an unknown part is there.
    say(fmt::format("{}; the store goes on in another segment", written.error().text()));
    leave_active();
    if (auto next = next_segment(number, bytes); !next) return propagate(next);
    if (auto again = write_in(finished()); !again) {
      leave_active();
      return propagate(again);
    }
  }
  LLAMADA_CRASH_POINT("store:written");
  UnsyncedBatch batch{number, active_.number, active_.offset, 0, builder.exchange(std::move(memory_))};
  memory_ = {};
  batch.bytes = batch.memory.size();
  Segment& segment = index_.segment(active_.number);
  segment.last = number;
  segment.end = active_.offset + batch.bytes;
  index_batch(number, active_.offset, batch.memory);
  active_.offset += bytes;
  written_ = number;
  hold(std::move(batch));
  return number;
}

void SegmentStore::index_batch(BatchNumber number, std::uint64_t offset, std::span<const std::byte> batch) {
  const auto in_segment = static_cast<std::uint32_t>(number - index_.segment(active_.number).first);
  ItemWalk walk(batch.subspan(sizeof(BatchHeader)));
  while (const auto item = walk.next()) {
    const ItemHeader& header = item->header;
    const Place place{
        static_cast<std::uint32_t>(active_.number),
        static_cast<std::uint32_t>((offset + sizeof(BatchHeader) + item->offset) / item_alignment),
        static_cast<std::uint32_t>(header.bytes()), in_segment};
    index_.apply({header.kind, header.stream, header.number, header.group, place, item->head, item->body});
    active_.footer.push_back(
        {header.number, header.group, header.stream, place.unit, place.bytes, place.batch, header.kind, {}});
  }
}

void SegmentStore::hold(UnsyncedBatch batch) {
  held_bytes_ += batch.memory.size();
  unsynced_.push_back(std::move(batch));
  ++held_;
  for (; held_bytes_ > held_bytes_max && held_ > 1; --held_) {
    UnsyncedBatch& oldest = unsynced_[unsynced_.size() - held_];
    held_bytes_ -= oldest.memory.size();
    memory_ = std::exchange(oldest.memory, {});
  }
}

}  // namespace llamada::store
