// Throughput of a store of segments beside a plain file: items of 1 KiB (128 a batch) and 1 MiB (one a
// batch), with a sync after each batch and without. store DIRECTORY [ROUNDS=3] [MEBIBYTES=256]: the rounds
// alternate, and the best of each is printed. Build it with the target bench_store.
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

using namespace llamada;
using namespace llamada::store;

namespace {

struct Row {
  std::size_t item_bytes, items_a_batch;
  bool syncs;
  double plain = 0, segments = 0;  ///< Bytes per second.
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

double segments(const std::string& path, const Row& row, std::uint64_t bytes) {
  const auto body = incompressible(row.item_bytes);
  auto store = open_segment_store(path);
  if (!store) give_up(store.error().text());
  const auto stream = (*store)->stream("bench", {});
  if (!stream) give_up(stream.error().text());
  std::uint64_t number = 0;
  const auto began = std::chrono::steady_clock::now();
  for (std::uint64_t done = 0; done < bytes; done += row.item_bytes * row.items_a_batch) {
    for (std::size_t i = 0; i < row.items_a_batch; ++i)
      if (auto appended = (*store)->append({.stream = *stream, .number = ++number, .body = body}); !appended)
        give_up(appended.error().text());
    const auto written = (*store)->write();
    if (!written) give_up(written.error().text());
    if (row.syncs)
      if (auto synced = (*store)->sync(*written); !synced) give_up(synced.error().text());
  }
  const double found = rate(bytes, began);
  store->reset();
  if (auto removed = remove_store(path); !removed) give_up(removed.error().text());
  return found;
}

}  // namespace

int main(int argc, char** argv) {
  if (argc < 2) give_up("store DIRECTORY [ROUNDS=3] [MEBIBYTES=256]");
  const std::string folder = argv[1];
  const int rounds = argc > 2 ? std::atoi(argv[2]) : 3;
  const std::uint64_t bytes = (argc > 3 ? std::strtoull(argv[3], nullptr, 10) : 256) << 20;
  std::vector<Row> rows{{1 << 10, 128, false}, {1 << 10, 128, true}, {1 << 20, 1, false}, {1 << 20, 1, true}};
  for (int round = 0; round < rounds; ++round)
    for (Row& row : rows) {
      row.plain = std::max(row.plain, plain_file(folder + "/plain", row, bytes));
      row.segments = std::max(row.segments, segments(folder + "/segments", row, bytes));
    }
  std::printf("item bytes, sync, plain file MB/s, segments MB/s, segments / plain\n");
  for (const Row& row : rows)
    std::printf("%7zu, %s, %.0f, %.0f, %.2f\n", row.item_bytes, row.syncs ? "yes" : "no", row.plain / 1e6,
                row.segments / 1e6, row.segments / row.plain);
  return 0;
}
