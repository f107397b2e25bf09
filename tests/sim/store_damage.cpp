#include "store_damage.hpp"

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
  return damage;
}

}  // namespace llamada::sim
