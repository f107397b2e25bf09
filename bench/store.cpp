// Throughput of the stores beside a plain file, and beside RocksDB if librocksdb-dev was there at the build:
// items of 1 KiB (128 a batch) and 1 MiB (one a batch), with a sync after each batch and without.
// store DIRECTORY [ROUNDS=5] [MEBIBYTES=256]: the rounds alternate, and medians are printed. Build it with
// the target bench_store.
#include <fcntl.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <string>
#include <vector>

#include "llamada/base/file_descriptor.hpp"
#include "llamada/store/segment_store.hpp"
#include "llamada/store_sqlite/sqlite_store.hpp"
#ifdef LLAMADA_HAS_ROCKSDB
#include <rocksdb/db.h>
#include <rocksdb/write_batch.h>
#endif

using namespace llamada;
using namespace llamada::store;

namespace {

struct Row {
  std::size_t item_bytes, items_a_batch;
  bool syncs;
  std::vector<double> plain{}, segments{}, sqlite{}, rocksdb{};  ///< Bytes per second, of each round.
};

std::vector<std::byte> incompressible(std::size_t size) {
  std::vector<std::byte> bytes(size);
  std::uint64_t state = 1;
  for (std::byte& each : bytes)
    each = static_cast<std::byte>((state = state * 6364136223846793005 + 1) >> 56);
  return bytes;
}

[[noreturn]] void give_up(const std::string& why) {
  std::fprintf(stderr, "store: %s\n", why.c_str());
  std::exit(1);
}

double rate(std::uint64_t bytes, std::chrono::steady_clock::time_point began) {
  return static_cast<double>(bytes) /
         std::chrono::duration<double>(std::chrono::steady_clock::now() - began).count();
}

double plain_file(const std::string& path, const Row& row, std::uint64_t bytes) {
  const auto body = incompressible(row.item_bytes);
  FileDescriptor file(open(path.c_str(), O_RDWR | O_CREAT | O_TRUNC | O_CLOEXEC, 0600));
  if (!file) give_up("cannot make " + path);
  std::vector<std::byte> batch;
  const auto began = std::chrono::steady_clock::now();
  for (std::uint64_t done = 0; done < bytes; done += batch.size()) {
    batch.clear();
    for (std::size_t i = 0; i < row.items_a_batch; ++i) batch.insert(batch.end(), body.begin(), body.end());
    if (write(file.get(), batch.data(), batch.size()) != static_cast<ssize_t>(batch.size()))
      give_up("cannot write " + path);
    if (row.syncs && fdatasync(file.get()) != 0) give_up("cannot sync " + path);
  }
  const double found = rate(bytes, began);
  file.reset();
  std::filesystem::remove(path);
  return found;
}

double fill(Store& store, const Row& row, std::uint64_t bytes) {
  const auto body = incompressible(row.item_bytes);
  const auto stream = store.stream("bench", {});
  if (!stream) give_up(stream.error().text());
  std::uint64_t number = 0;
  const auto began = std::chrono::steady_clock::now();
  for (std::uint64_t done = 0; done < bytes; done += row.item_bytes * row.items_a_batch) {
    for (std::size_t i = 0; i < row.items_a_batch; ++i)
      if (auto appended = store.append({.stream = *stream, .number = ++number, .body = body}); !appended)
        give_up(appended.error().text());
    const auto written = store.write();
    if (!written) give_up(written.error().text());
    if (row.syncs)
      if (auto synced = store.sync(*written); !synced) give_up(synced.error().text());
  }
  return rate(bytes, began);
}

double in_store(Result<std::unique_ptr<Store>> store, const std::string& path, const Row& row,
                std::uint64_t bytes) {
  if (!store) give_up(store.error().text());
  const double found = fill(**store, row, bytes);
  store->reset();
  if (auto removed = remove_store(path); !removed) give_up(removed.error().text());
  return found;
}

#ifdef LLAMADA_HAS_ROCKSDB
/// With RocksDB's own defaults but for compression: bodies are incompressible.
double in_rocksdb(const std::string& path, const Row& row, std::uint64_t bytes) {
  const auto body = incompressible(row.item_bytes);
  const rocksdb::Slice value(reinterpret_cast<const char*>(body.data()), body.size());
  rocksdb::Options options;
  options.create_if_missing = true;
  options.compression = rocksdb::kNoCompression;
  rocksdb::DB* opened = nullptr;
  if (auto status = rocksdb::DB::Open(options, path, &opened); !status.ok()) give_up(status.ToString());
  std::unique_ptr<rocksdb::DB> database(opened);
  rocksdb::WriteOptions how;
  how.sync = row.syncs;
  std::uint64_t number = 0;
  const auto began = std::chrono::steady_clock::now();
  for (std::uint64_t done = 0; done < bytes; done += row.item_bytes * row.items_a_batch) {
    rocksdb::WriteBatch batch;
    for (std::size_t i = 0; i < row.items_a_batch; ++i) {
      char key[24];
      std::snprintf(key, sizeof key, "bench/%016llx", static_cast<unsigned long long>(++number));
      batch.Put(key, value);
    }
    if (auto status = database->Write(how, &batch); !status.ok()) give_up(status.ToString());
  }
  const double found = rate(bytes, began);
  database.reset();
  std::filesystem::remove_all(path);
  return found;
}
#endif

double median(std::vector<double> values) {
  if (values.empty()) return 0;
  std::ranges::sort(values);
  return values[values.size() / 2];
}

}  // namespace

int main(int argc, char** argv) {
  if (argc < 2) give_up("store DIRECTORY [ROUNDS=5] [MEBIBYTES=256]");
  const std::string folder = argv[1];
  const int rounds = argc > 2 ? std::atoi(argv[2]) : 5;
  const std::uint64_t bytes = (argc > 3 ? std::strtoull(argv[3], nullptr, 10) : 256) << 20;
  std::vector<Row> rows{{1 << 10, 128, false}, {1 << 10, 128, true}, {1 << 20, 1, false}, {1 << 20, 1, true}};
  for (int round = 0; round < rounds; ++round)
    for (Row& row : rows) {
      row.plain.push_back(plain_file(folder + "/plain", row, bytes));
      const std::string path = folder + "/store";
      row.segments.push_back(in_store(open_segment_store(path), path, row, bytes));
      row.sqlite.push_back(in_store(open_sqlite_store(path), path, row, bytes));
#ifdef LLAMADA_HAS_ROCKSDB
      row.rocksdb.push_back(in_rocksdb(path, row, bytes));
#endif
    }
  std::printf(
      "item bytes, sync, MB/s: plain file, segments, SQLite, RocksDB (0: not built); segments / plain\n");
  for (const Row& row : rows)
    std::printf("%7zu, %s, %.0f, %.0f, %.0f, %.0f, %.2f\n", row.item_bytes, row.syncs ? "yes" : "no",
                median(row.plain) / 1e6, median(row.segments) / 1e6, median(row.sqlite) / 1e6,
                median(row.rocksdb) / 1e6, median(row.segments) / median(row.plain));
  return 0;
}
