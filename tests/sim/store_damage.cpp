#include "store_damage.hpp"

#include <algorithm>
#include <cstring>

#include "llamada/base/rounding.hpp"
#include "segment_scan.hpp"

namespace llamada::sim {

using namespace store;

namespace {

void add(const ItemHeader& item, StoreDamage& damage) {
  switch (item.kind) {
    case record_stream:
      damage.streams.insert(item.stream);
      return;
    case record_drop_below:
    case record_drop:
    case record_end:
      damage.resurrected.insert(item.stream);
      return;
    case record_segments:
      damage.list = true;
      return;
    default:
      damage.items.insert({item.stream, item.number});
  }
}

bool hits_header(const StoredItem& item, std::uint64_t at) {
  const std::uint64_t begin = sizeof(BatchHeader) + item.offset;
  return at >= begin && at < begin + sizeof(ItemHeader);
}

/// A damaged header hides all items of its batch from the first damaged one on, also from one that an earlier
/// flip has damaged.
void add_batch(std::span<const std::byte> batch, std::uint64_t at, bool heads_are_good, StoreDamage& damage) {
  const auto items = batch.subspan(sizeof(BatchHeader));
  for (ItemWalk walk(items); const auto item = walk.next();)
    heads_are_good = heads_are_good && !hits_header(*item, at);
  bool is_hidden = at < sizeof(BatchHeader);
  for (ItemWalk walk(items); const auto item = walk.next();) {
    const std::uint64_t begin = sizeof(BatchHeader) + item->offset;
    const bool is_hit = at >= begin && at < begin + item->header.bytes();
    is_hidden = is_hidden || (!heads_are_good && (is_hit || !item->is_whole()));
    if (is_hit || is_hidden) add(item->header, damage);
  }
}

}  // namespace

StoreDamage damage_of(test::SimulatedDisk& disk, const test::SimulatedDisk::Flip& flip, bool whole_batch) {
  StoreDamage damage;
  const auto number = segment_number(flip.name);
  if (!number) return damage;
  const auto& inode = disk.entries.at(flip.name);
  SegmentHeader header;
  if (inode->now.size() < sizeof header) return damage;
  std::memcpy(&header, inode->now.data(), sizeof header);
  const test::SimulatedFile file(disk, inode);
  const auto scan = scan_segment(file, inode->now.size(), *number, tag_of(header.store));
  if (!scan) return damage;
  for (const FoundBatch& batch : scan->batches)
    if (flip.at >= batch.offset && flip.at < batch.offset + batch.bytes)
      add_batch(std::span(inode->now).subspan(batch.offset, batch.bytes),
                whole_batch ? 0 : flip.at - batch.offset, batch.heads_are_good, damage);
  damage.free_room = inode->durable[flip.at] == std::byte{0};
  return damage;
}

void StoreName::remember(const test::SimulatedDisk& disk) {
  const auto& bytes = disk.entries.at("store")->now;
  header_.assign(bytes.begin(), bytes.begin() + sizeof(StoreHeader));
}

bool StoreName::is_lost(const test::SimulatedDisk& disk) const {
  if (header_.empty()) return false;
  bool has_segment = false;
  for (const auto& [name, inode] : disk.entries) {
    const std::span<const std::byte> bytes(inode->now);
    if (name == "store" && std::ranges::equal(bytes.first(header_.size()), header_)) return false;
    if (!segment_number(name) || bytes.size() < sizeof(SegmentHeader)) continue;
    SegmentHeader header;
    std::memcpy(&header, bytes.data(), sizeof header);
    if (is_good(header)) return false;
    has_segment = has_segment || !is_zero(bytes.first(sizeof header));
  }
  return has_segment;
}

void StoreName::lose(test::SimulatedDisk& disk, Random& random) {
  remember(disk);
  for (const auto& [name, inode] : disk.entries) {
    const std::span<const std::byte> bytes(inode->durable);
    const bool has_header =
        (name == "store" || segment_number(name)) && bytes.size() >= sizeof(SegmentHeader);
    if (has_header && !is_zero(bytes.first(sizeof(SegmentHeader))))
      disk.apply({.name = name, .at = random.below(sizeof(SegmentHeader)), .bit = std::byte{1}});
  }
}

void StoreName::restore(test::SimulatedDisk& disk) {
  is_back_ = true;
  auto& inode = *disk.entries.at("store");
  std::ranges::copy(header_, inode.now.begin());
  std::ranges::copy(header_, inode.durable.begin());
}

}  // namespace llamada::sim
