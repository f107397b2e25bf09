#include "store_model.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstring>

namespace llamada::sim {

namespace {

std::uint64_t mixed(std::uint64_t value) {
  value = (value ^ (value >> 30)) * 0xbf58476d1ce4e5b9;
  value = (value ^ (value >> 27)) * 0x94d049bb133111eb;
  return value ^ (value >> 31);
}

}  // namespace

// Not the checksum of the store, which would not see what that one does not.
std::uint64_t digest_of(std::span<const std::byte> bytes, std::uint64_t seed) {
  std::uint64_t digest = mixed(seed + bytes.size() + 1);
  while (!bytes.empty()) {
    std::uint64_t word = 0;
    const std::size_t count = std::min(bytes.size(), sizeof word);
    std::memcpy(&word, bytes.data(), count);
    digest = mixed(digest ^ word) + 0x9e3779b97f4a7c15;
    bytes = bytes.subspan(count);
  }
  return digest;
}

std::uint64_t digest_of(const store::Item& item) {
  std::uint64_t digest = mixed(item.stream + 1);
  for (const std::uint64_t each : {item.number, item.group, std::uint64_t{item.kind},
                                   std::uint64_t{item.flags}, static_cast<std::uint64_t>(item.time_ns)})
    digest = mixed(digest ^ each) + 0x9e3779b97f4a7c15;
  return digest_of(item.body, digest_of(item.head, digest));
}

std::uint64_t StoreState::items() const {
  std::uint64_t count = 0;
  for (const auto& [id, stream] : streams) count += stream.items.size();
  return count;
}

std::vector<std::uint64_t> StoreState::Stream::newest(std::uint64_t group, std::size_t count) const {
  std::vector<std::uint64_t> numbers;
  for (auto each = items.rbegin(); each != items.rend() && numbers.size() < count; ++each)
    if (each->second.group == group) numbers.insert(numbers.begin(), each->first);
  return numbers;
}

void apply_changes(const StoreChanges& changes, StoreState& state) {
  for (const StoreChange& change : changes) {
    if (change.kind == StoreChange::declare) {
      state.streams[change.stream] = {change.name, change.description, {}};
      continue;
    }
    const auto found = state.streams.find(change.stream);
    if (found == state.streams.end()) continue;
    auto& items = found->second.items;
    if (change.kind == StoreChange::append) items[change.number] = change.kept;
    if (change.kind == StoreChange::drop) items.erase(change.number);
    if (change.kind == StoreChange::drop_below) items.erase(items.begin(), items.lower_bound(change.number));
    if (change.kind == StoreChange::end) state.streams.erase(found);
  }
}

void StoreModel::note_damage(const StoreDamage& damage) {
  damage_.items.insert(damage.items.begin(), damage.items.end());
  damage_.streams.insert(damage.streams.begin(), damage.streams.end());
  damage_.resurrected.insert(damage.resurrected.begin(), damage.resurrected.end());
  damage_.list = damage_.list || damage.list;
  damage_.free_room = damage_.free_room || damage.free_room;
}

void StoreModel::note_torn_batches() {
  if (!damage_.free_room) return;
  for (const auto& [number, tries] : pending_)
    for (const StoreChanges& changes : tries.tried)
      for (const StoreChange& change : changes) {
        if (change.kind == StoreChange::append)
          damage_.items.emplace(change.stream, change.number);
        else if (change.kind == StoreChange::declare)
          damage_.streams.insert(change.stream);
        else
          damage_.resurrected.insert(change.stream);
      }
}

void StoreModel::add(StoreChange change) {
  if (change.kind == StoreChange::append) ever_[{change.stream, change.number}].push_back(change.kept);
  open_.push_back(std::move(change));
}

void StoreModel::written(BatchNumber number, bool succeeded) {
  if (open_.empty()) return;
  Tries& tries = pending_[number];
  tries.tried.push_back(open_);
  tries.succeeded = succeeded;
  if (!succeeded) return;
  apply_changes(open_, now_);
  open_.clear();
  written_ = number;
}

void StoreModel::synced(BatchNumber through) {
  for (auto each = pending_.begin(); each != pending_.end() && each->first <= through;
       each = pending_.erase(each))
    if (each->second.succeeded) apply_changes(each->second.tried.back(), confirmed_);
  synced_ = std::max(synced_, through);
}

std::string StoreModel::started(const StoreState& found, BatchNumber through, bool lost_power,
                                bool has_failed) {
  const BatchNumber least = lost_power ? synced_ : written_;
  if (through < least && !is_damaged())
    return fmt::format("the store has batches up to {}; {} was {}", through, least,
                       lost_power ? "synced" : "written");
  // The number of a damaged batch may be given again.
  const BatchNumber goes_on_from = through;
  through = std::max(through, least);
  int tries = 0;
  if (!match(found, confirmed_, synced_ + 1, through, lost_power, has_failed, tries)) {
    StoreState likely = confirmed_;
    for (const auto& [number, each] : pending_)
      if (number <= through && each.succeeded) apply_changes(each.tried.back(), likely);
    return fmt::format(
        "no prefix of the batches gives what is there up to batch {} (synced {}, written {}): {}", through,
        synced_, written_, difference(likely, found));
  }
  open_.clear();
  pending_.clear();
  confirmed_ = now_ = found;
  synced_ = written_ = goes_on_from;
  return {};
}

bool StoreModel::match(const StoreState& found, StoreState state, BatchNumber number, BatchNumber through,
                       bool lost_power, bool has_failed, int& tries) const {
  constexpr int tries_max = 20'000;
  for (; number <= through; ++number) {
    const auto pending = pending_.find(number);
    if (pending == pending_.end()) continue;  // the store's own
    const auto& [tried, succeeded] = pending->second;
    // While the kernel's memory lasts, what was written is there.
    const bool is_sure = succeeded && (!lost_power || (tried.size() == 1 && !has_failed));
    if (!is_sure) {
      for (std::size_t each = 0; each + 1 < tried.size(); ++each) {
        StoreState other = state;
        apply_changes(tried[each], other);
        if (match(found, std::move(other), number + 1, through, lost_power, has_failed, tries)) return true;
      }
      if ((has_failed || !succeeded) &&
          match(found, state, number + 1, through, lost_power, has_failed, tries))
        return true;
    }
    if (tries > tries_max) return false;
    apply_changes(tried.back(), state);
  }
  ++tries;
  return difference(state, found).empty();
}

std::string StoreModel::check(const StoreState& found) const { return difference(now_, found); }

std::string StoreModel::check_live_bytes(std::uint64_t live_bytes) const {
  std::uint64_t least = 0;
  for (const auto& [id, stream] : now_.streams)
    for (const auto& [number, kept] : stream.items) least += kept.bytes;
  // Headers, declarations, floors, and drops whose items still lie in a segment.
  const std::uint64_t most = least + now_.items() * 64 + 48 * 1024;
  if (live_bytes >= least && live_bytes <= most) return {};
  return fmt::format("{} bytes are said to be live, {} are kept", live_bytes, least);
}

bool StoreModel::may_have(StreamId stream, std::uint64_t number, const StoreState::Kept& kept) const {
  if (!damage_.list && !damage_.resurrected.contains(stream)) return false;
  const auto ever = ever_.find({stream, number});
  return ever != ever_.end() && std::ranges::find(ever->second, kept) != ever->second.end();
}

std::string StoreModel::difference(const StoreState& expected, const StoreState& found) const {
  if (expected == found) return {};
  for (const auto& [id, stream] : expected.streams) {
    const auto other = found.streams.find(id);
    // A running store may lose its declaration, too, when it reads its segments after a failed sync.
    if (damage_.streams.contains(id)) continue;
    if (other == found.streams.end()) {
      return fmt::format("stream {} ({}) is missing", id, stream.name);
    }
    if (other->second.name != stream.name || other->second.description != stream.description)
      return fmt::format("stream {} ({}) has another name or description: {}", id, stream.name,
                         other->second.name);
    for (const auto& [number, kept] : stream.items) {
      const auto item = other->second.items.find(number);
      if (item == other->second.items.end()) {
        if (damage_.items.contains({id, number})) continue;
        return fmt::format("item {} of stream {} ({}) is missing", number, id, stream.name);
      }
      if (item->second != kept)
        return fmt::format("item {} of stream {} ({}) is not what was appended", number, id, stream.name);
    }
  }
  for (const auto& [id, stream] : found.streams) {
    const auto other = expected.streams.find(id);
    if (damage_.streams.contains(id)) continue;
    if (other == expected.streams.end() && !damage_.list && !damage_.resurrected.contains(id))
      return fmt::format("stream {} ({}) should not be there", id, stream.name);
    for (const auto& [number, kept] : stream.items)
      if ((other == expected.streams.end() || !other->second.items.contains(number)) &&
          !may_have(id, number, kept))
        return fmt::format("item {} of stream {} ({}) should not be there", number, id, stream.name);
  }
  return {};
}

}  // namespace llamada::sim
