#pragma once

#include <functional>
#include <memory>
#include <string>
#include <string_view>

#include "llamada/store/store.hpp"

namespace llamada::store {

struct SqliteOptions {
  /// A batch is full when it is as long; a longer item fills a batch of its own.
  std::uint64_t batch_bytes_max = std::uint64_t{8} << 20;
  /// Opens what is there to be read, also while another process writes the store.
  bool read_only = false;
  /// Is told, in one sentence each, what the store found damaged, and which faults of the disk it has got
  /// over. May be called in the thread of sync().
  std::function<void(std::string_view)> say;
};

/// The store in a database of SQLite, the file `store.sqlite` of this directory (made with mode 0700 if it is
/// not there): for people who want to query what is kept. docs/internals/store.md has its tables. One process
/// at a time may write it; others may read it, with sqlite3, too. Numbers of items are at most 2^63 - 1. Each
/// item has a checksum. A call in one thread waits for one in another. sync() waits for the disk while
/// write() waits for it. Batches that are not durable stay in memory too, up to 64 MiB; then write() syncs
/// them. After a failed sync the store opens the database again, which fails while another program has it
/// open. Errors: already_exists (another process writes it; the text has its number), not_found (to be
/// read only, and not there), parse_error (a store of segments, another version, or damaged),
/// out_of_resources, system.
Result<std::unique_ptr<Store>> open_sqlite_store(const std::string& directory, SqliteOptions options = {});

}  // namespace llamada::store
