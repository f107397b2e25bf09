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

/// A damaged header of an item hides all items behind it.
void add_batch(std::span<const std::byte> batch, std::uint64_t at, StoreDamage& damage) {
  ItemWalk walk(batch.subspan(sizeof(BatchHeader)));
  bool is_hidden = at < sizeof(BatchHeader);
  while (const auto item = walk.next()) {
    const std::uint64_t begin = sizeof(BatchHeader) + item->offset;
    const bool is_hit = at >= begin && at < begin + item->header.bytes();
    is_hidden = is_hidden || (is_hit && at < begin + sizeof(ItemHeader));
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
                whole_batch ? 0 : flip.at - batch.offset, damage);
  return damage;
}

}  // namespace llamada::sim
