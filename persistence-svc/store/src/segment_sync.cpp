#include <algorithm>
#include <cstring>

#include "llamada/base/crash_point.hpp"
#include "llamada/base/plain_bytes.hpp"
#include "llamada/base/rounding.hpp"
#include "segment_store_impl.hpp"

namespace llamada::store {

namespace {

/// A batch that is written and no longer in memory; empty if its file no longer has it as it was. An error of
/// the disk says nothing of that.
Result<std::vector<std::byte>> read_back(const File& file, const UnsyncedBatch& batch) {
  std::vector<std::byte> bytes(batch.bytes);
  const auto count = file.read(batch.offset, bytes);
  if (!count) return tl::unexpected<Error>(count.error());
  return *count == bytes.size() && is_whole_batch(bytes, batch.number) ? bytes : std::vector<std::byte>();
}

/// The batch without a list of segments. The rest of it may be the only copy of items.
std::vector<std::byte> without_list(std::span<const std::byte> batch, BatchNumber number, std::uint32_t tag) {
  BatchBuilder builder;
  ItemWalk walk(batch.subspan(sizeof(BatchHeader)));
  while (const auto item = walk.next())
    if (item->header.kind != record_segments) builder.add(item->item());
  builder.finish(number, 0, 0, tag, 0);
  return builder.exchange({});
}

/// Stands for a batch that is lost: the numbers of batches have no gaps.
std::vector<std::byte> empty_batch(BatchNumber number, std::uint32_t tag) {
  BatchBuilder builder;
  builder.finish(number, 0, 0, tag, 0);
  return builder.exchange({});
}

}  // namespace

Status SegmentStore::sync(BatchNumber batch) {
  const std::lock_guard one_at_a_time(syncing_);
  std::unique_lock lock(mutex_);
  if (auto checked = check_batch(batch, written_); !checked) return checked;
  if (batch <= synced_) return {};
  if (auto may = may_change(); !may) return may;
  if (must_write_anew_) return heal(Error(Errc::system, "an earlier fdatasync failed"));
  const Syncing syncing = what_to_sync();
  if (syncing.directory) directory_changed_ = false;
  lock.unlock();
  const auto began = options_.clock->monotonic();
  Status done;
  for (const auto& file : syncing.files)
    if (done) done = file->sync();
  if (done && syncing.directory) done = files_->sync_directory();
  const auto took = options_.clock->monotonic() - began;
  LLAMADA_CRASH_POINT("store:synced");
  lock.lock();
  figures_.last_sync_ns = static_cast<std::uint64_t>(took.count());
  if (!done) return heal(done.error());
  synced(syncing.through);
  return {};
}

/// All files that have batches which are not durable: the kernel would write them together anyway.
SegmentStore::Syncing SegmentStore::what_to_sync() const {
  Syncing syncing{.through = written_, .directory = directory_changed_};
  std::uint64_t segment = 0;
  for (const UnsyncedBatch& batch : unsynced_) {
    if (batch.segment == segment) continue;
    segment = batch.segment;
    syncing.files.push_back(index_.segments().at(segment).file);
  }
  return syncing;
}

void SegmentStore::synced(BatchNumber through) {
  synced_ = std::max(synced_, through);
  while (!unsynced_.empty() && unsynced_.front().number <= synced_) {
    held_bytes_ -= unsynced_.front().memory.size();
    if (held_ == unsynced_.size()) --held_;
    if (unsynced_.front().memory.capacity() > memory_.capacity())
      memory_ = std::move(unsynced_.front().memory);
    unsynced_.pop_front();
  }
  give_back();
}

/// After a failed sync nothing is known of what it was to write, and a second one may succeed without it: all
/// batches that are not durable are written anew, into another segment.
Status SegmentStore::heal(const Error& why) {
  ++figures_.failed_syncs;
  must_write_anew_ = true;
  seal_active();
  leave_active();
  std::uint64_t lost = 0;
  if (auto written = write_anew(lost); !written)
    return tl::unexpected<Error>(Error(written.error().code(),
                                       fmt::format("{}; batches {} to {} could not be written elsewhere: {}",
                                                   why.text(), synced_ + 1, written_, written.error().text()),
                                       written.error().system_errno()));
  auto loaded = load_segments(*files_, id_, written_, false);
  // Until it knows the new places, the index points to the file whose sync has failed.
  if (!loaded) return propagate(loaded);
  must_write_anew_ = false;
  say(fmt::format("{}; the store has written batches {} to {} elsewhere", why.text(), synced_ + 1, written_));
  std::erase_if(loaded->leftover, [this](const std::string& name) {
    return std::ranges::any_of(spares_,
                               [&](const Spare& spare) { return segment_name(spare.number) == name; });
  });
  remove_leftover(loaded->leftover);
  take(std::move(*loaded));
  synced(written_);
  if (lost == 0) return {};
  return failure(Errc::precondition_not_met,
                 "{}; {} batches could not be read back and are lost: append their items again", why.text(),
                 lost);
}

/// Behind the batches comes one of the store's own, with a list of segments, unless a batch was lost.
Status SegmentStore::write_anew(std::uint64_t& lost) {
  std::uint64_t bytes = 0;
  for (const UnsyncedBatch& batch : unsynced_) bytes += batch.bytes + batch_alignment;
  bytes += sizeof(BatchHeader) + sizeof(ItemHeader) + (index_.segments().size() + 1) * sizeof(ListedSegment) +
           batch_alignment;
  if (auto taken = take_spare(synced_ + 1, bytes); !taken) return taken;
  const std::uint64_t segment = active_.number;
  const auto file = index_.segment(segment).file;
  Status done;
  for (const UnsyncedBatch& batch : unsynced_) {
    std::vector<std::byte> memory = batch.memory;
    if (memory.empty()) {
      auto found = read_back(*index_.segments().at(batch.segment).file, batch);
      if (!found) done = propagate(found);
      if (!found) break;
      memory = std::move(*found);
    }
    if (memory.empty()) {
      ++lost;
      memory = empty_batch(batch.number, tag_of(id_));
    } else if (lost > 0) {
      memory = without_list(memory, batch.number, tag_of(id_));
    }
    move_batch(memory, synced_, segment, active_.offset);
    if (done = file->write(active_.offset, memory); !done) break;
    active_.offset += rounded_up(memory.size(), batch_alignment);
  }
  // A list among these batches may name a segment that never became durable. Where a batch is lost, so may be
  // the copies without which a segment that was cleaned cannot go, or the drops that made copies needless:
  // then none but an older list counts.
  BatchBuilder list;
  const std::uint64_t list_offset = active_.offset;
  if (done && lost == 0) {
    list_segments(list, 0, synced_);
    done = file->write(list_offset, list.finish(written_ + 1, synced_, segment, tag_of(id_), list_offset));
    active_.offset += list.bytes();
  }
  LLAMADA_CRASH_POINT("store:anew");
  if (done) done = file->truncate(active_.offset);
  if (done) done = file->sync();
  // Not before: the header says that these batches no longer count elsewhere, where they may be durable.
  LLAMADA_CRASH_POINT("store:anew-synced");
  if (done) done = write_header();
  if (done) done = file->sync();
  if (done) done = files_->sync_directory();
  leave_active();
  if (done && !list.is_empty()) {
    UnsyncedBatch batch{++written_, segment, list_offset, 0, list.exchange({})};
    batch.bytes = batch.memory.size();
    hold(std::move(batch));
  }
  if (done) return {};
  index_.remove_segment(segment);
  (void)files_->remove(segment_name(segment));
  return done;
}

/// Removes the segments that nothing needs any longer.
void SegmentStore::give_back() {
  std::vector<std::uint64_t> gone;
  for (const auto& [number, segment] : index_.segments())
    if (segment.gone_after != 0 && segment.gone_after <= synced_) gone.push_back(number);
  for (const std::uint64_t number : gone) {
    LLAMADA_CRASH_POINT("store:before-unlink");
    if (auto removed = files_->remove(segment_name(number)); !removed) {
      say(removed.error().text());
      continue;
    }
    LLAMADA_CRASH_POINT("store:unlinked");
    index_.remove_segment(number);
  }
}

}  // namespace llamada::store
