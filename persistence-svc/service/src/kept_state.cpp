#include "kept_state.hpp"

#include <algorithm>

namespace llamada::service {
namespace {

bool is_disposal(const KeptSample& sample) { return sample.kind == topics::ChangeKind::disposed; }

Status add_item(KeptState& state, std::map<topics::Guid, std::uint64_t>& newest, const store::Item& item) {
  if (item.kind == item_writer) {
    auto kept = decode_writer(item);
    if (!kept) return propagate(kept);
    auto& writer = state.writers[kept->guid];
    writer.seen.add(kept->seen);
    writer.qos = std::move(kept->qos);
    writer.record = item.number;
  }
  if (item.kind != item_sample) return {};
  auto sample = decode_sample(item);
  if (!sample) return propagate(sample);
  auto& through = newest[sample->origin.writer];
  if (sample->origin.number <= through) {
    state.left_over.push_back(item.number);
    return {};
  }
  through = sample->origin.number;
  state.writers[sample->origin.writer].seen.through(through);
  state.items.push_back({*sample, item.number});
  if (is_disposal(*sample))
    state.disposed[sample->instance] = sample->source_timestamp_ns;
  else
    state.disposed.erase(sample->instance);
  return {};
}

/// True if an item of the instance cannot be read.
bool has_damage_in(const store::Store& store, const KeptState& own, std::uint64_t instance) {
  bool found = false;
  const auto read = store.newest(
      own.stream, instance, SIZE_MAX, [](const store::Item&) { return true; },
      [&](std::uint64_t) { found = true; });
  return found || !read;
}

}  // namespace

Result<KeptState> read_state(const store::Store& store, const store::StreamInfo& stream) {
  auto topic = decode_topic(stream.description);
  if (!topic) return propagate(topic);
  KeptState state;
  state.topic = std::move(*topic);
  state.stream = stream.id;
  state.last_number = stream.used;
  state.lost_batches = store.figures().damaged_batches > 0;
  std::map<topics::Guid, std::uint64_t> newest;
  Status added;
  auto read = store.read(
      stream.id, 1,
      [&](const store::Item& item) {
        added = add_item(state, newest, item);
        return added.has_value();
      },
      [&](std::uint64_t number) { state.damaged.push_back(number); });
  if (!read) return propagate(read);
  if (!added) return propagate(added);
  return state;
}

Status read_item(const store::Store& store, store::StreamId stream, std::uint64_t number,
                 const std::function<void(const store::Item&)>& on_item) {
  return store.read(
      stream, number,
      [&](const store::Item& found) {
        if (found.number == number) on_item(found);
        return false;
      },
      [](std::uint64_t) {});
}

std::set<topics::Origin> forgotten(const KeptState& own, const KeptState& other) {
  std::set<topics::Origin> gone;
  if (other.is_damaged()) return gone;
  std::set<std::uint64_t> known;
  for (const KeptItem& item : other.items) known.insert(item.sample.instance);
  for (const KeptItem& item : own.items)
    if (!known.contains(item.sample.instance) && other.has_seen(item.sample.origin))
      gone.insert(item.sample.origin);
  return gone;
}

bool is_missing(const store::Store& store, const KeptState& own, const KeptSample& sample) {
  // What is older than the last disposal of its instance has been disposed of.
  const auto disposed = own.disposed.find(sample.instance);
  if (disposed != own.disposed.end() && sample.source_timestamp_ns < disposed->second) return false;
  if (!own.has_seen(sample.origin)) return true;
  return own.lost_batches || (!own.damaged.empty() && has_damage_in(store, own, sample.instance));
}

}  // namespace llamada::service
