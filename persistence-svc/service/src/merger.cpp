#include "merger.hpp"

#include <algorithm>
#include <functional>
#include <utility>

#include "llamada/store/in_batch.hpp"

namespace llamada::service {

Merger::Merger(store::Store& store, KeptState own)
    : store_(store), own_(std::move(own)), next_number_(own_.last_number + 1), drops_(own_.left_over) {
  for (const KeptItem& item : own_.items)
    places_[item.sample.origin.writer][item.sample.origin.number] = {item.number, false};
}

bool Merger::has(const topics::Origin& origin) const {
  const auto found = places_.find(origin.writer);
  return found != places_.end() && found->second.contains(origin.number);
}

void Merger::confirm(const topics::Origin& origin) {
  const auto found = places_.find(origin.writer);
  if (found == places_.end()) return;
  if (const auto place = found->second.find(origin.number); place != found->second.end())
    place->second.is_confirmed = true;
}

Status Merger::append(store::Item item) {
  item.stream = own_.stream;
  item.number = next_number_;
  if (auto appended = store::in_batch(store_, [&] { return store_.append(item); }); !appended)
    return appended;
  ++next_number_;
  return {};
}

Status Merger::add(const KeptSample& sample, std::span<const std::byte> body) {
  if (has(sample.origin)) return {};
  Places& places = places_[sample.origin.writer];
  const auto moved = moved_through_.find(sample.origin.writer);
  if (moved != moved_through_.end()) {
    if (sample.origin.number <= moved->second) return {};  // not in its order: its place is gone
    if (auto again = move_behind(places, moved->second, sample.origin.number); !again) return again;
  }
  const auto head = encode_head(sample);
  store::Item item;
  item.group = sample.instance;
  item.kind = item_sample;
  item.flags = sample.is_merged ? flag_merged : 0;
  item.time_ns = sample.source_timestamp_ns;
  item.head = head;
  item.body = body;
  if (auto appended = append(item); !appended) return appended;
  places[sample.origin.number] = {next_number_ - 1, true};
  moved_through_[sample.origin.writer] = sample.origin.number;
  ++added_count_;
  return {};
}

/// Those between two numbers of the writer, exclusively.
Status Merger::move_behind(Places& places, std::uint64_t after, std::uint64_t before) {
  for (auto place = places.upper_bound(after); place != places.end() && place->first < before; ++place)
    if (auto moved = move(place->second); !moved) return moved;
  return {};
}

Status Merger::move(Place& place) {
  store::Item item;
  std::vector<std::byte> head, body;
  bool is_read = false;
  auto read = read_item(store_, own_.stream, place.number, [&](const store::Item& found) {
    item = found;
    head.assign(found.head.begin(), found.head.end());
    body.assign(found.body.begin(), found.body.end());
    is_read = true;
  });
  if (!read) return read;
  if (!is_read) return {};  // damaged since
  item.head = head;
  item.body = body;
  if (auto appended = append(item); !appended) return appended;
  drops_.push_back(std::exchange(place.number, next_number_ - 1));
  return {};
}

Status Merger::set_writer(const topics::Guid& guid, const Seen& seen, const qos::EndpointQos& qos) {
  writers_[guid] = {seen, qos, 0};
  const auto known = own_.writers.find(guid);
  if (known != own_.writers.end() && known->second.record != 0) return {};
  return record(guid, known == own_.writers.end() ? Seen() : known->second.seen, qos);
}

Status Merger::set_writer_of_both(const topics::Guid& guid, const KeptState::Writer& other) {
  const auto own = own_.writers.find(guid);
  if (own == own_.writers.end()) return set_writer(guid, other.seen, other.qos);
  Seen seen = other.seen;
  seen.add(own->second.seen);
  return set_writer(guid, seen, own->second.qos);
}

Status Merger::record(const topics::Guid& guid, const Seen& seen, const qos::EndpointQos& qos) {
  KeptState::Writer& writer = own_.writers[guid];
  if (writer.record != 0 && writer.seen == seen && writer.qos == qos) return {};
  const auto head = encode_head(KeptWriter{guid, seen, {}});
  const auto body = qos::serialize(qos);
  store::Item item;
  item.kind = item_writer;
  item.head = head;
  item.body = body;
  if (auto appended = append(item); !appended) return appended;
  if (writer.record != 0) drops_.push_back(writer.record);
  writer = {seen, qos, next_number_ - 1};
  return {};
}

void Merger::choose_drops(const End& end) {
  if (end.drops_damaged) drops_.insert(drops_.end(), own_.damaged.begin(), own_.damaged.end());
  for (const auto& [writer, places] : places_) {
    for (const auto& [number, place] : places) {
      const bool is_over = end.drops_unconfirmed && !place.is_confirmed;
      if (!is_over && !end.forgotten.contains({writer, number})) continue;
      drops_.push_back(place.number);
      ++dropped_count_;
    }
  }
  // From the end: what is left of an origin after a crash never lacks a sample that was not dropped for good.
  std::sort(drops_.begin(), drops_.end(), std::greater<>());
}

Status Merger::finish(const End& end) {
  for (auto& [writer, through] : moved_through_)
    if (auto moved = move_behind(places_[writer], through, UINT64_MAX); !moved) return moved;
  if (auto written = store_.write(); !written) return propagate(written);  // before what says that they came
  for (const auto& [guid, writer] : writers_)
    if (auto recorded = record(guid, writer.seen, writer.qos); !recorded) return recorded;
  choose_drops(end);
  for (const std::uint64_t number : drops_)
    if (auto dropped = store::in_batch(store_, [&] { return store_.drop(own_.stream, number); }); !dropped)
      return dropped;
  drops_.clear();
  auto batch = store_.write();
  if (!batch) return propagate(batch);
  return store_.sync(*batch);
}

}  // namespace llamada::service
