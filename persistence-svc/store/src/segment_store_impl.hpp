#pragma once

#include <deque>
#include <mutex>
#include <utility>

#include "catalogue.hpp"
#include "llamada/store/segment_store.hpp"
#include "segment_load.hpp"

namespace llamada::store {

/// A Store of segments. One mutex guards everything but the calls of File::sync(), which another one keeps
/// apart from each other: of two at the same time only one is told that the disk failed.
class SegmentStore final : public Store {
 public:
  static Result<std::unique_ptr<Store>> open(std::unique_ptr<Files> files, SegmentOptions options);
  SegmentStore(std::unique_ptr<Files> files, SegmentOptions options);
  SegmentStore(const SegmentStore&) = delete;
  SegmentStore& operator=(const SegmentStore&) = delete;
  ~SegmentStore() override;

  Result<StreamId> stream(std::string_view name, std::span<const std::byte> description) override;
  Status append(const Item& item) override;
  Status drop_below(StreamId stream, std::uint64_t number) override;
  Status drop(StreamId stream, std::uint64_t number) override;
  Status end(StreamId stream) override;
  Result<BatchNumber> write() override;
  Status sync(BatchNumber batch) override;
  Status read(StreamId stream, std::uint64_t from, const OnItem& on_item,
              const OnDamaged& on_damaged) const override;
  Status newest(StreamId stream, std::uint64_t group, std::size_t count, const OnItem& on_item,
                const OnDamaged& on_damaged) const override;
  std::vector<StreamInfo> streams() const override;
  StoreFigures figures() const override;

 private:
  /// The segment that batches go into.
  struct Active {
    std::uint64_t number = 0;  ///< 0: none.
    std::uint64_t offset = 0;
    std::uint64_t bytes = 0;  ///< On the disk.
    std::vector<FooterEntry> footer;

    std::uint64_t room() const { return number == 0 ? 0 : bytes - offset; }
  };
  /// A file that is allocated for a segment to come.
  struct Spare {
    std::uint64_t number = 0;
    std::shared_ptr<File> file;
    std::uint64_t bytes = 0;
  };
  /// The segment that is being emptied.
  struct Cleaning {
    std::uint64_t segment = 0;  ///< 0: none.
    SegmentScan scan;
    std::size_t next = 0;  ///< The first batch that was not copied.
  };
  /// Reads items, many at a time where they lie one after another.
  class Window;

  // segment_open.cpp
  Status open_store();
  Status find_store();
  Result<std::optional<StoreId>> store_of_segments();
  Result<std::vector<std::string>> load();
  void take(LoadedStore loaded);
  Status rewrite_unsynced();
  void shorten(std::uint64_t number);
  void remove_leftover(const std::vector<std::string>& names);

  // segment_store.cpp
  Status may_change() const;
  Status add(const Item& item, std::uint64_t spares);
  Status visit(const SegmentIndex::Stream& stream, StreamId id, const SegmentIndex::Entry& entry,
               Window& window, const OnItem& on_item, const OnDamaged& on_damaged, bool& goes_on) const;

  // segment_write.cpp
  Status ensure_room(std::uint64_t bytes, std::uint64_t spares);
  Status make_spare(std::uint64_t bytes);
  Status next_segment(BatchNumber first, std::uint64_t bytes);
  Status take_spare(BatchNumber first, std::uint64_t bytes);
  Status write_header();
  void seal_active();
  void leave_active();
  Status write_in(std::span<const std::byte> batch);
  Result<BatchNumber> write_batch(BatchBuilder& builder);
  void index_batch(BatchNumber number, std::uint64_t offset, std::span<const std::byte> batch);
  void hold(UnsyncedBatch batch);

  // segment_sync.cpp
  struct Syncing {
    BatchNumber through = 0;
    std::vector<std::shared_ptr<File>> files;
    bool directory = false;
  };
  Syncing what_to_sync() const;
  void synced(BatchNumber through);
  Status heal(const Error& why);
  Status write_anew(std::uint64_t& lost);
  void give_back();

  // cleaning.cpp
  void clean();
  bool choose_segment();
  Status copy_some();
  Status finish_cleaning();
  void copy_items(const FoundBatch& batch, std::span<const std::byte> bytes);
  void copy_streams();
  void copy_lost();
  void list_segments(BatchBuilder& into, std::uint64_t leaving, BatchNumber through) const;
  void say(const std::string& sentence) const;

  std::unique_ptr<Files> files_;
  SegmentOptions options_;
  SystemClock system_clock_;
  StoreId id_{};
  mutable std::mutex mutex_;
  std::mutex syncing_;  // taken before mutex_
  Catalogue catalogue_;
  SegmentIndex index_;
  BatchBuilder open_, copies_;
  BatchNumber written_ = 0, synced_ = 0;
  Active active_;
  std::deque<Spare> spares_;
  std::uint64_t next_segment_ = 1;
  std::chrono::nanoseconds look_for_room_at_{0};
  std::deque<UnsyncedBatch> unsynced_;
  std::size_t held_ = 0;           ///< The newest ones of unsynced_ have their memory,
  std::uint64_t held_bytes_ = 0;   ///< which is so long.
  std::vector<std::byte> memory_;  ///< For the next batch.
  bool directory_changed_ = false;
  bool must_write_anew_ = false;  ///< A sync has failed, and so has writing what it left out anew.
  Cleaning cleaning_;
  mutable StoreFigures figures_;
};

}  // namespace llamada::store
