#pragma once

#include <algorithm>
#include <deque>
#include <mutex>
#include <variant>

#include "catalogue.hpp"
#include "kept_item.hpp"
#include "llamada/store/files.hpp"
#include "llamada/store_sqlite/sqlite_store.hpp"
#include "sqlite_database.hpp"

namespace llamada::store {

/// A Store in a database. The open batch is in memory; write() makes it one transaction, which survives the
/// process. sync() is a small transaction for which SQLite syncs its log, with all that stands before in it.
/// One mutex guards everything.
class SqliteStore final : public Store {
 public:
  static Result<std::unique_ptr<Store>> open(std::unique_ptr<Files> files, SqliteOptions options);
  SqliteStore(std::unique_ptr<Files> files, SqliteOptions options);
  SqliteStore(const SqliteStore&) = delete;
  SqliteStore& operator=(const SqliteStore&) = delete;
  ~SqliteStore() override;

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
  struct Declaration {
    StreamId stream;
    std::string name;
    std::vector<std::byte> description;
  };
  struct Drop {
    StreamId stream;
    std::uint64_t first, last;
  };
  struct End {
    StreamId stream;
  };
  using Change = std::variant<Declaration, KeptItem, Drop, End>;
  using Changes = std::vector<Change>;
  /// A batch that is written and not yet durable.
  struct Held {
    BatchNumber number;
    Changes changes;
    std::uint64_t bytes;
  };

  // sqlite_store.cpp
  Result<BatchNumber> open_database();
  Status make_durable();
  Status commit_durably();
  Status load_catalogue();
  Status may_change() const;
  Status change(StreamId stream, Change change);
  void say(const std::string& sentence) const;

  // sqlite_write.cpp
  Status write_batch(const Changes& changes, BatchNumber number);
  Status apply_all(const Changes& changes, BatchNumber number);
  void was_written();
  Status sync_all();
  void synced();
  Status open_again();
  Status apply(const Declaration& declared);
  Status apply(const KeptItem& appended);
  Status apply(const Drop& drop);
  Status apply(const End& end);
  Status reached(StreamId stream, std::uint64_t number);
  Status reopen(const Error& why);

  // sqlite_read.cpp
  Status read_rows(StreamId stream, Statement& rows, const OnItem& on_item,
                   const OnDamaged& on_damaged) const;

  std::unique_ptr<Files> files_;
  SqliteOptions options_;
  mutable std::mutex mutex_;
  Database database_;
  Catalogue catalogue_;
  Changes open_;
  std::uint64_t open_bytes_ = 0;
  std::size_t tried_ = 0;  ///< So many of its changes may be in the database, though writing them has failed.
  std::deque<Held> held_;
  std::uint64_t held_bytes_ = 0;
  BatchNumber written_ = 0, synced_ = 0;
  bool has_failed_sync_ = false;  ///< Of which nothing was said yet.
  bool must_reopen_ = false;  ///< A call has failed, and nothing is known of what the log has on the disk.
  mutable StoreFigures figures_;
};

/// SQLite's integers have a sign, numbers of items do not reach it.
inline std::int64_t bounded(std::uint64_t number) {
  return static_cast<std::int64_t>(std::min<std::uint64_t>(number, INT64_MAX));
}
/// Of all fields of an item.
std::uint32_t crc_of(const Item& item);

}  // namespace llamada::store
