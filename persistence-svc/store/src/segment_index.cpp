#include "segment_index.hpp"

#include <algorithm>
#include <utility>

#include "llamada/base/rounding.hpp"

namespace llamada::store {

namespace {

std::uint64_t on_disk(const Place& place) { return rounded_up(std::uint64_t{place.bytes}, item_alignment); }

std::uint64_t payload_of(const Place& place) { return place.bytes - sizeof(ItemHeader); }

}  // namespace

const SegmentIndex::Entry* SegmentIndex::Stream::find(std::uint64_t number) const {
  const auto found = std::ranges::lower_bound(entries, number, {}, &Entry::number);
  return found != entries.end() && found->number == number ? &*found : nullptr;
}

const SegmentIndex::Stream* SegmentIndex::find(StreamId stream) const {
  const auto found = streams_.find(stream);
  return found == streams_.end() ? nullptr : &found->second;
}

void SegmentIndex::apply(const Record& record) {
  last_stream_ = std::max(last_stream_, record.stream);
  if (record.kind == record_segments) {
    remove_live(std::exchange(segments_record_, record.place));
    add_live(record.place);
    return;
  }
  if (record.kind == record_end) return apply_end(record);
  if (ended_.contains(record.stream)) return;
  if (record.is_item()) return apply_item(record);
  switch (record.kind_of_store()) {
    case record_stream:
      return apply_stream(record);
    case record_drop_below:
      return apply_drop_below(record);
    case record_drop:
      return apply_drop(record);
    default:
      return;
  }
}

SegmentIndex::Stream& SegmentIndex::stream(StreamId id) { return streams_[id]; }

void SegmentIndex::apply_stream(const Record& record) {
  Stream& stream = this->stream(record.stream);
  const auto* name = reinterpret_cast<const char*>(record.head.data());
  stream.name.assign(name, record.head.size());
  stream.description.assign(record.body.begin(), record.body.end());
  stream.is_declared = true;
  remove_live(std::exchange(stream.declared, record.place));
  add_live(record.place);
}

void SegmentIndex::apply_item(const Record& record) {
  Stream& stream = this->stream(record.stream);
  if (record.number < stream.floor) return;
  Entry* known = stream.find(record.number);
  if (known == nullptr) return insert(stream, record);
  if (known->place.segment == 0) return;
  // A copy that was made when a segment was cleaned.
  segments_.at(known->place.segment).has_doubles = true;
  stream.bytes -= payload_of(known->place);
  remove_live(std::exchange(known->place, record.place));
  add_live(record.place);
  stream.bytes += payload_of(record.place);
}

void SegmentIndex::insert(Stream& stream, const Record& record) {
  const Entry entry{record.number, record.group, record.place};
  if (stream.entries.empty() || stream.entries.back().number < record.number)
    stream.entries.push_back(entry);
  else
    stream.entries.insert(std::ranges::lower_bound(stream.entries, record.number, {}, &Entry::number), entry);
  if (record.group != 0) {
    auto& numbers = stream.groups[record.group];
    numbers.insert(std::ranges::lower_bound(numbers, record.number), record.number);
  }
  stream.last = std::max(stream.last, record.number);
  stream.bytes += payload_of(record.place);
  add_live(record.place);
}

void SegmentIndex::apply_drop_below(const Record& record) {
  Stream& stream = this->stream(record.stream);
  if (record.number < stream.floor) return;
  stream.floor = record.number;
  remove_live(std::exchange(stream.floor_at, record.place));
  add_live(record.place);
  stream.last = std::max(stream.last, record.number == 0 ? 0 : record.number - 1);
  for (Entry& entry : stream.entries) {
    if (entry.number >= record.number) break;
    if (entry.place.segment != 0) forget(stream, entry);
  }
  trim(stream);
}

void SegmentIndex::apply_drop(const Record& record) {
  Stream& stream = this->stream(record.stream);
  stream.last = std::max(stream.last, record.number);
  if (const std::uint64_t in = segment_of(record.group); in != 0 && in != record.place.segment) {
    segments_.at(record.place.segment).drops_in[in] += on_disk(record.place);
    add_live(record.place);
  }
  Entry* entry = stream.find(record.number);
  if (entry == nullptr || entry->place.segment == 0) return;
  forget(stream, *entry);
  trim(stream);
}

void SegmentIndex::apply_end(const Record& record) {
  ended_.insert(record.stream);
  ++segments_.at(record.place.segment).ends;
  const auto found = streams_.find(record.stream);
  if (found == streams_.end()) return;
  Stream& stream = found->second;
  for (Entry& entry : stream.entries)
    if (entry.place.segment != 0) remove_live(entry.place);
  remove_live(stream.declared);
  remove_live(stream.floor_at);
  streams_.erase(found);
}

void SegmentIndex::forget(Stream& stream, Entry& entry) {
  if (entry.group != 0) {
    const auto group = stream.groups.find(entry.group);
    auto& numbers = group->second;
    numbers.erase(std::ranges::lower_bound(numbers, entry.number));
    if (numbers.empty()) stream.groups.erase(group);
  }
  stream.bytes -= payload_of(entry.place);
  remove_live(std::exchange(entry.place, Place{}));
  ++stream.dropped;
}

void SegmentIndex::trim(Stream& stream) {
  auto& entries = stream.entries;
  while (!entries.empty() && entries.front().place.segment == 0) {
    entries.pop_front();
    --stream.dropped;
  }
  while (!entries.empty() && entries.back().place.segment == 0) {
    entries.pop_back();
    --stream.dropped;
  }
  if (stream.dropped <= entries.size() / 2) return;
  std::erase_if(entries, [](const Entry& entry) { return entry.place.segment == 0; });
  stream.dropped = 0;
}

void SegmentIndex::add_live(const Place& place) {
  if (place.segment != 0) segments_.at(place.segment).live_bytes += on_disk(place);
}

void SegmentIndex::remove_live(const Place& place) {
  const auto found = segments_.find(place.segment);
  if (found != segments_.end()) found->second.live_bytes -= on_disk(place);
}

void SegmentIndex::remove_segment(std::uint64_t number) {
  segments_.erase(number);
  for (auto& [other, segment] : segments_) {
    const auto drops = segment.drops_in.find(number);
    if (drops == segment.drops_in.end()) continue;
    segment.live_bytes -= drops->second;
    segment.drops_in.erase(drops);
  }
}

std::uint64_t SegmentIndex::segment_of(BatchNumber batch) const {
  // Later segments count: they have what was written anew.
  for (auto each = segments_.rbegin(); each != segments_.rend(); ++each)
    if (each->second.first <= batch) return batch <= each->second.last ? each->first : 0;
  return 0;
}

bool SegmentIndex::is_live(const Record& record, std::uint64_t leaving) const {
  if (record.kind == record_segments) return segments_record_.is_same(record.place);
  if (record.kind == record_end) {
    const auto older = std::ranges::find_if(segments_, [&](const auto& each) {
      return each.first != leaving && each.second.first <= record.group;
    });
    return older != segments_.end();
  }
  const Stream* stream = find(record.stream);
  if (stream == nullptr) return false;
  if (record.kind == record_stream) return stream->declared.is_same(record.place);
  if (record.kind == record_drop_below) return stream->floor_at.is_same(record.place);
  if (record.kind == record_drop) {
    const std::uint64_t in = segment_of(record.group);
    if (in != 0 && in != leaving) return true;
    // An older copy of the item may lie in a segment that is still to go.
    return std::ranges::any_of(segments_, [&](const auto& each) {
      return each.first != leaving && (each.second.has_doubles || each.second.gone_after != 0);
    });
  }
  const Entry* entry = stream->find(record.number);
  return entry != nullptr && entry->place.is_same(record.place);
}

std::vector<StreamId> SegmentIndex::drop_undeclared() {
  std::vector<StreamId> lost;
  for (auto& [id, stream] : streams_) {
    if (stream.is_declared) continue;
    if (!stream.entries.empty()) lost.push_back(id);
    for (Entry& entry : stream.entries)
      if (entry.place.segment != 0) remove_live(entry.place);
    remove_live(stream.floor_at);
  }
  std::erase_if(streams_, [](const auto& each) { return !each.second.is_declared; });
  return lost;
}

std::vector<std::pair<StreamId, SegmentIndex::Entry>> SegmentIndex::entries_in(std::uint64_t segment) const {
  std::vector<std::pair<StreamId, Entry>> all;
  for (const auto& [id, stream] : streams_)
    for (const Entry& entry : stream.entries)
      if (entry.place.segment == segment) all.emplace_back(id, entry);
  return all;
}

}  // namespace llamada::store
