#include <algorithm>

#include "llamada/base/crash_point.hpp"
#include "llamada/base/plain_bytes.hpp"
#include "segment_store_impl.hpp"

namespace llamada::store {

namespace {

/// A segment is emptied when less of it than this is live.
constexpr std::uint64_t live_percent_min = 30;

}  // namespace

/// Between batches: copies what is live in a segment that is mostly dropped, as much as a batch at a time.
/// Its file goes once the copies are durable.
void SegmentStore::clean() {
  if (must_write_anew_) return;
  if (cleaning_.segment == 0 && !choose_segment()) return;
  copies_.clear();
  if (copy_some()) return;
  // Begins anew later. What has been copied is no longer live in the segment.
  copies_.clear();
  cleaning_ = {};
}

bool SegmentStore::choose_segment() {
  const Segment* best = nullptr;
  for (const auto& [number, segment] : index_.segments()) {
    if (number == active_.number || segment.gone_after != 0 || segment.last > synced_) continue;
    if (!segment.has_doubles && segment.live_bytes * 100 >= segment.bytes * live_percent_min) continue;
    if (best != nullptr && best->live_bytes <= segment.live_bytes) continue;
    best = &segment;
    cleaning_.segment = number;
  }
  if (best == nullptr || (best->live_bytes == 0 && best->ends == 0)) return best != nullptr;
  auto scan = scan_segment(*best->file, best->end, cleaning_.segment, tag_of(id_));
  if (!scan) {
    cleaning_ = {};
    return false;
  }
  cleaning_.scan = std::move(*scan);
  return true;
}

Status SegmentStore::copy_some() {
  const Segment& segment = index_.segments().at(cleaning_.segment);
  std::vector<std::byte> bytes;
  for (; cleaning_.next < cleaning_.scan.batches.size(); ++cleaning_.next) {
    if (copies_.bytes() >= options_.batch_bytes_max) break;
    const FoundBatch& batch = cleaning_.scan.batches[cleaning_.next];
    if (batch.number > segment.last) continue;
    bytes.resize(batch.bytes);
    if (auto read = read_all(*segment.file, batch.offset, bytes); !read) return read;
    copy_items(batch, bytes);
  }
  if (cleaning_.next == cleaning_.scan.batches.size()) return finish_cleaning();
  if (copies_.is_empty()) return {};
  auto written = write_batch(copies_);
  LLAMADA_CRASH_POINT("store:copied");
  return written ? Status() : propagate(written);
}

void SegmentStore::copy_items(const FoundBatch& batch, std::span<const std::byte> bytes) {
  const auto in_segment =
      static_cast<std::uint32_t>(batch.number - index_.segments().at(cleaning_.segment).first);
  ItemWalk walk(bytes.subspan(sizeof(BatchHeader)));
  while (const auto item = walk.next()) {
    // Looked at once more: a copy of damaged bytes would get a right checksum.
    const bool is_whole = item->is_whole();
    if (!is_whole && !batch.heads_are_good) return;
    const ItemHeader& header = item->header;
    const std::uint64_t offset = batch.offset + sizeof(BatchHeader) + item->offset;
    const Record record{.kind = header.kind,
                        .stream = header.stream,
                        .number = header.number,
                        .group = header.group,
                        .place = {static_cast<std::uint32_t>(cleaning_.segment),
                                  static_cast<std::uint32_t>(offset / item_alignment),
                                  static_cast<std::uint32_t>(header.bytes()), in_segment}};
    const bool is_copied = record.is_item() || record.kind == record_drop || record.kind == record_end;
    if (is_copied && is_whole && index_.is_live(record, cleaning_.segment)) copies_.add(item->item());
  }
}

/// All is copied but what the store knows by heart.
Status SegmentStore::finish_cleaning() {
  copy_streams();
  if (!copies_.is_empty())
    if (auto written = write_batch(copies_); !written) return propagate(written);
  // What is left there is damaged, or not where the segment's footer said.
  if (index_.segments().at(cleaning_.segment).may_have_items()) copy_lost();
  list_segments(copies_, cleaning_.segment, written_);
  auto written = write_batch(copies_);
  if (!written) return propagate(written);
  index_.segment(cleaning_.segment).gone_after = *written;
  cleaning_ = {};
  LLAMADA_CRASH_POINT("store:cleaned");
  return {};
}

void SegmentStore::copy_streams() {
  for (const auto& [id, stream] : index_.streams()) {
    if (stream.declared.segment == cleaning_.segment)
      copies_.add({.stream = id,
                   .kind = record_stream,
                   .head = std::as_bytes(std::span(stream.name)),
                   .body = stream.description});
    if (stream.floor_at.segment == cleaning_.segment)
      copies_.add({.stream = id, .number = stream.floor, .kind = record_drop_below});
  }
}

void SegmentStore::copy_lost() {
  for (const auto& [id, entry] : index_.entries_in(cleaning_.segment)) {
    ++figures_.damaged_items;
    copies_.add({.stream = id, .number = entry.number, .group = entry.group, .kind = record_lost});
  }
}

/// A missing segment is one that was lost, unless the newest list does without it. Batches behind the last of
/// a complete segment do not count: others with their numbers were in segments that may have been given back.
/// All batches behind `through` lie in the active segment, and `leaving` is to be given back.
void SegmentStore::list_segments(BatchBuilder& into, std::uint64_t leaving, BatchNumber through) const {
  std::vector<ListedSegment> listed;
  for (const auto& [number, segment] : index_.segments()) {
    const bool is_active = number == active_.number;
    const BatchNumber last = is_active && through < written_ ? written_ : std::min(segment.last, through);
    // One without a batch was never durable, or does not count any longer: it may go at the next start.
    if (number != leaving && segment.gone_after == 0 && last >= segment.first)
      listed.push_back({number, is_active ? 0 : last});
  }
  into.add(
      {.kind = record_segments, .flags = list_has_last_batches, .body = std::as_bytes(std::span(listed))});
}

}  // namespace llamada::store
