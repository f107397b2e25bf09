// Disks that are full, and disks that fail.
#include <fcntl.h>
#include <sched.h>
#include <sys/mount.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <functional>
#include <thread>

#include "failing_files.hpp"
#include "llamada/store/segment_store.hpp"
#include "temporary_folder.hpp"
#include "test.hpp"

using namespace llamada;
using namespace llamada::store;
using Catch::Matchers::Contains;

namespace {

class SetClock final : public Clock {
 public:
  std::chrono::nanoseconds monotonic() const override { return now; }
  std::chrono::nanoseconds realtime() const override { return now; }
  std::chrono::nanoseconds now{0};
};

std::vector<std::byte> body_of(std::uint64_t number, std::size_t size) {
  return std::vector<std::byte>(size, static_cast<std::byte>(number % 200 + 1));
}

/// How many items a stream has; 0 if one is not as it was appended.
std::uint64_t count(const Store& store, StreamId stream) {
  std::uint64_t count = 0;
  bool right = true;
  const auto read = store.read(stream, 0, [&](const Item& item) {
    right = right && std::ranges::equal(item.body, body_of(item.number, item.body.size()));
    ++count;
    return true;
  });
  return read && right ? count : 0;
}

struct OnFailingDisk {
  test::TemporaryFolder folder;
  test::Failures failures;
  std::vector<std::string> sentences;
  std::unique_ptr<Store> store;

  OnFailingDisk() { open(); }
  void open() {
    store.reset();
    auto files = open_files(folder / "store", true);
    REQUIRE(files.has_value());
    auto opened = open_segment_store(
        std::make_unique<test::FailingFiles>(std::move(*files), failures),
        {.segment_bytes = 256 << 10, .batch_bytes_max = 32 << 10, .say = [this](std::string_view text) {
           sentences.emplace_back(text);
         }});
    REQUIRE(opened.has_value());
    store = std::move(*opened);
  }
  void append(StreamId stream, std::uint64_t first, std::uint64_t last) const {
    for (std::uint64_t number = first; number <= last; ++number) {
      const auto body = body_of(number, 500);
      REQUIRE(store->append({.stream = stream, .number = number, .body = body}).has_value());
    }
  }
};

}  // namespace

TEST_CASE("segments: after a failed fdatasync the batches go elsewhere, and that file is left alone",
          "[store]") {
  OnFailingDisk disk;
  const StreamId stream = *disk.store->stream("a", {});
  disk.append(stream, 1, 10);
  REQUIRE(disk.store->sync(*disk.store->write()).has_value());
  disk.append(stream, 11, 20);
  REQUIRE(disk.store->write().has_value());
  disk.append(stream, 21, 30);
  const BatchNumber batch = *disk.store->write();
  disk.append(stream, 31, 40);
  disk.failures.syncs = 1;
  CHECK(disk.store->sync(batch).has_value());
  // Behind them the store has written a batch of its own.
  CHECK(disk.store->figures().synced == batch + 1);
  CHECK(disk.store->figures().failed_syncs == 1);
  REQUIRE(disk.sentences.size() == 1);
  CHECK_THAT(disk.sentences[0], Contains("EIO") && Contains("has written batches"));
  REQUIRE(disk.failures.failed_syncs_of.size() == 1);
  const std::string failed = disk.failures.failed_syncs_of.begin()->first;
  const int syncs = disk.failures.syncs_of[failed];
  // The open batch was not part of it.
  CHECK(count(*disk.store, stream) == 30);
  REQUIRE(disk.store->sync(*disk.store->write()).has_value());
  CHECK(disk.failures.syncs_of[failed] == syncs);
  CHECK(count(*disk.store, stream) == 40);
  disk.open();
  CHECK(count(*disk.store, stream) == 40);
}

TEST_CASE("segments: batches of an abandoned file stay away when their successors were given back",
          "[store]") {
  OnFailingDisk disk;
  const StreamId kept = *disk.store->stream("kept", {});
  const StreamId dropped = *disk.store->stream("dropped", {});
  for (std::uint64_t number = 1; number < 200; number += 40) {  // their segment stays
    disk.append(kept, number, number + 39);
    REQUIRE(disk.store->sync(*disk.store->write()).has_value());
  }
  disk.append(dropped, 1, 40);
  const BatchNumber batch = *disk.store->write();
  disk.failures.syncs = 1;
  REQUIRE(disk.store->sync(batch).has_value());  // the items lie twice now, in two segments
  for (std::uint64_t number = 1; number < 40; ++number)
    REQUIRE(disk.store->drop(dropped, number).has_value());
  REQUIRE(disk.store->sync(*disk.store->write()).has_value());
  // More of this, until the second segment was emptied and given back.
  const StreamId filler = *disk.store->stream("filler", {});
  for (std::uint64_t number = 20; number <= 4000; number += 20) {
    disk.append(filler, number - 19, number);
    REQUIRE(disk.store->drop_below(filler, number).has_value());
    REQUIRE(disk.store->sync(*disk.store->write()).has_value());
  }
  CHECK(disk.store->figures().segments <= 5);
  for (int again = 0; again < 2; ++again) {
    disk.open();
    CHECK(count(*disk.store, dropped) == 1);
    CHECK(count(*disk.store, kept) == 200);
  }
}

TEST_CASE("segments: a disk that fails for good says so, and the store goes on when it works again",
          "[store]") {
  OnFailingDisk disk;
  const StreamId stream = *disk.store->stream("a", {});
  disk.append(stream, 1, 10);
  const BatchNumber batch = *disk.store->write();
  disk.failures.syncs = 3;
  const auto failed = disk.store->sync(batch);
  REQUIRE_FALSE(failed.has_value());
  CHECK_THAT(failed.error().text(), Contains("could not be written elsewhere"));
  CHECK(disk.store->figures().synced == 0);
  CHECK_FALSE(disk.store->sync(batch).has_value());
  disk.append(stream, 11, 20);
  REQUIRE(disk.store->write().has_value());
  CHECK(count(*disk.store, stream) == 20);
  CHECK(disk.store->sync(batch).has_value());
  CHECK(disk.failures.failed_syncs_of.size() == 3);
  disk.open();
  CHECK(count(*disk.store, stream) == 20);
}

namespace {

constexpr std::uint64_t dropped_below = 120, items_in_all = 300;

/// A process that dies when it has dropped what one of its segments has, and has cleaned that segment,
/// without a sync. The number of the batch with the drop.
BatchNumber drop_and_die(const std::string& directory, const SegmentOptions& options) {
  const pid_t child = fork();
  if (child == 0) {
    auto store = *open_segment_store(directory, options);
    (void)store->stream("a", {});
    for (std::uint64_t number = 1; number <= items_in_all; ++number) {
      const auto body = body_of(number, 900);
      (void)store->append({.stream = 1, .number = number, .body = body});
      if (number % 20 == 0) (void)store->write();
    }
    (void)store->sync(store->figures().written);
    (void)store->drop_below(1, dropped_below);
    const BatchNumber dropped = *store->write();
    _exit(store->figures().written > dropped ? static_cast<int>(dropped) : 0);
  }
  int status = 0;
  REQUIRE(waitpid(child, &status, 0) == child);
  REQUIRE(WEXITSTATUS(status) > 0);
  return static_cast<BatchNumber>(WEXITSTATUS(status));
}

/// Its header becomes zeros.
void forget_batch(const std::string& directory, BatchNumber batch) {
  for (const auto& entry : std::filesystem::directory_iterator(directory)) {
    if (entry.path().extension() != ".seg") continue;
    std::fstream file(entry.path(), std::ios::in | std::ios::out | std::ios::binary);
    std::array<char, 64> header{};
    for (std::streamoff at = 4096; file.seekg(at).read(header.data(), header.size()); at += 64) {
      BatchNumber number = 0;
      std::memcpy(&number, header.data() + 16, sizeof number);
      if (std::memcmp(header.data(), "BBAT", 4) != 0 || number != batch) continue;
      header = {};
      file.seekp(at).write(header.data(), header.size());
    }
  }
}

}  // namespace

TEST_CASE("segments: a start writes what is not durable once more and syncs it, or writes it elsewhere",
          "[store]") {
  const test::TemporaryFolder folder;
  const std::string directory = folder / "store";
  const pid_t child = fork();
  if (child == 0) {
    auto store = *open_segment_store(directory);
    (void)store->stream("a", {});
    for (std::uint64_t number = 1; number <= 10; ++number) {
      const auto body = body_of(number, 900);
      (void)store->append({.stream = 1, .number = number, .body = body});
      (void)store->write();
    }
    _exit(0);
  }
  REQUIRE(waitpid(child, nullptr, 0) == child);
  test::Failures failures;
  failures.of = ".seg";
  failures.syncs = GENERATE(0, 1);
  const bool fails = failures.syncs > 0;
  std::vector<std::string> sentences;
  SegmentOptions options;
  options.say = [&](std::string_view text) { sentences.emplace_back(text); };
  auto store = open_segment_store(
      std::make_unique<test::FailingFiles>(*open_files(directory, true), failures), options);
  REQUIRE(store.has_value());
  // The header and ten batches: what a failed sync of the process before has left would not go with a sync.
  CHECK(failures.written_before_sync_of["00000001.seg"] >= 11);
  CHECK(failures.syncs_of["00000001.seg"] == 1);
  CHECK((*store)->figures().synced == (*store)->figures().written);
  CHECK((*store)->figures().failed_syncs == (fails ? 1 : 0));
  CHECK(sentences.size() == (fails ? 1 : 0));
  CHECK(count(**store, 1) == 10);
  store->reset();
  CHECK(count(**open_segment_store(directory), 1) == 10);
}

TEST_CASE("segments: when a drop is lost in a failed sync, no segment goes because of it", "[store]") {
  const test::TemporaryFolder folder;
  const std::string directory = folder / "store";
  const SegmentOptions options{.segment_bytes = 64 << 10, .batch_bytes_max = 32 << 10};
  const BatchNumber dropped = drop_and_die(directory, options);
  test::Failures failures;
  failures.syncs = 1;
  failures.of = ".seg";
  failures.on_failed_sync = [&] { forget_batch(directory, dropped); };
  const auto open = [&] {
    return open_segment_store(std::make_unique<test::FailingFiles>(*open_files(directory, true), failures),
                              options);
  };
  const auto refused = open();
  REQUIRE_FALSE(refused.has_value());
  CHECK(refused.error().code() == Errc::precondition_not_met);
  for (int again = 0; again < 2; ++again) {
    const auto store = open();
    REQUIRE(store.has_value());
    CHECK(count(**store, 1) == items_in_all);
  }
}

TEST_CASE("segments: a batch that cannot be written goes into another segment", "[store]") {
  OnFailingDisk disk;
  const StreamId stream = *disk.store->stream("a", {});
  disk.append(stream, 1, 10);
  REQUIRE(disk.store->write().has_value());
  disk.append(stream, 11, 20);
  disk.failures.writes = 1;
  const auto written = disk.store->write();
  REQUIRE(written.has_value());
  CHECK(disk.sentences.size() == 1);
  CHECK(disk.store->figures().segments == 2);
  REQUIRE(disk.store->sync(*written).has_value());
  disk.append(stream, 21, 30);
  disk.failures.writes = 1000;
  CHECK_FALSE(disk.store->write().has_value());
  CHECK(count(*disk.store, stream) == 20);
  disk.failures.writes = 0;
  CHECK(disk.store->write().has_value());
  CHECK(count(*disk.store, stream) == 30);
  disk.open();
  CHECK(count(*disk.store, stream) == 30);
}

TEST_CASE("segments: one item that changed on the disk is refused, all others are read", "[store]") {
  OnFailingDisk disk;
  // A name may have any bytes, and what is said of it is one line.
  const StreamId stream = *disk.store->stream("\n", {});
  disk.append(stream, 1, 30);
  REQUIRE(disk.store->sync(*disk.store->write()).has_value());
  disk.store.reset();
  {
    std::fstream file(disk.folder / "store/00000001.seg", std::ios::in | std::ios::out | std::ios::binary);
    file.seekp(4096 + 64 + 64 + 5 * 560 + 200);
    file.put('\0');
  }
  disk.open();
  std::vector<std::uint64_t> read, damaged;
  const auto on_item = [&](const Item& item) {
    read.push_back(item.number);
    return true;
  };
  CHECK(disk.store->read(stream, 0, on_item, [&](std::uint64_t number) { damaged.push_back(number); }));
  CHECK(read.size() == 29);
  REQUIRE(damaged.size() == 1);
  CHECK(std::ranges::find(read, damaged[0]) == read.end());
  REQUIRE_FALSE(disk.sentences.empty());
  CHECK_THAT(disk.sentences.back(),
             Contains("item " + std::to_string(damaged[0]) + " of stream ? is damaged"));
  // Who does not ask for damaged items is stopped by one.
  const auto stopped = disk.store->read(stream, 0, on_item);
  REQUIRE_FALSE(stopped.has_value());
  CHECK(stopped.error().code() == Errc::parse_error);
}

TEST_CASE(
    "segments: what is behind a damaged item is found by the footer, also before the last batches are "
    "durable",
    "[store]") {
  OnFailingDisk disk;
  const StreamId early = *disk.store->stream("early", {});
  disk.append(early, 1, 1);
  REQUIRE(disk.store->write().has_value());
  disk.append(early, 2, 2);
  const StreamId late = *disk.store->stream("late", {});
  disk.append(late, 1, 1);
  REQUIRE(disk.store->sync(*disk.store->write()).has_value());
  for (std::uint64_t number = 3; disk.store->figures().segments < 2; number += 40) {
    disk.append(early, number, number + 39);
    REQUIRE(disk.store->write().has_value());
  }
  // As a kill leaves it.
  const std::filesystem::path copy = disk.folder / "copy", segment = copy / "00000001.seg";
  std::filesystem::copy(disk.folder / "store", copy);
  {
    std::fstream file(segment, std::ios::in | std::ios::out | std::ios::binary);
    std::string bytes(64 << 10, '\0');
    file.read(bytes.data(), static_cast<std::streamsize>(bytes.size()));
    const std::size_t item = bytes.find(std::string(500, static_cast<char>(body_of(2, 1)[0])));
    REQUIRE(item != std::string::npos);
    file.seekp(static_cast<std::streamoff>(item - 8));
    file.put(static_cast<char>(bytes[item - 8] ^ 1));
  }
  auto opened = open_segment_store(copy, {.segment_bytes = 256 << 10, .batch_bytes_max = 32 << 10});
  REQUIRE(opened.has_value());
  CHECK(*(*opened)->stream("late", {}) == late);
  CHECK(count(**opened, late) == 1);
  CHECK((*opened)->read(early, 2, [](const Item&) { return true; }).error().code() == Errc::parse_error);
}

TEST_CASE("segments: a full disk is looked at again once a second, and drops need no more room", "[store]") {
  const test::TemporaryFolder folder;
  test::Failures failures;
  SetClock clock;
  auto files = open_files(folder / "store", true);
  REQUIRE(files.has_value());
  auto store = *open_segment_store(std::make_unique<test::FailingFiles>(std::move(*files), failures),
                                   {.segment_bytes = 64 << 10, .batch_bytes_max = 16 << 10, .clock = &clock});
  const StreamId stream = *store->stream("a", {});
  failures.allocations = 1000;
  std::uint64_t number = 0;
  Status status;
  while (true) {
    const auto body = body_of(number + 1, 1000);
    status = store->append({.stream = stream, .number = number + 1, .body = body});
    if (!status && status.error().code() == Errc::would_block) {
      REQUIRE(store->sync(*store->write()).has_value());
      continue;
    }
    if (!status) break;
    REQUIRE(++number < 1000);
  }
  CHECK(status.error().code() == Errc::out_of_resources);
  CHECK(failures.allocations == 999);
  CHECK(store->sync(*store->write()).has_value());
  CHECK(count(*store, stream) == number);
  // Not before a second is over.
  const auto body = body_of(number + 1, 1000);
  CHECK(store->append({.stream = stream, .number = number + 1, .body = body}).error().code() ==
        Errc::out_of_resources);
  CHECK(failures.allocations == 999);
  for (std::uint64_t each = 1; each < number; ++each) {
    if (auto dropped = store->drop(stream, each); !dropped) {
      REQUIRE(dropped.error().code() == Errc::would_block);
      REQUIRE(store->sync(*store->write()).has_value());
      REQUIRE(store->drop(stream, each).has_value());
    }
  }
  REQUIRE(store->sync(*store->write()).has_value());
  CHECK(count(*store, stream) == 1);
  failures.allocations = 0;
  clock.now += std::chrono::seconds(1);
  CHECK(store->append({.stream = stream, .number = number + 1, .body = body}).has_value());
}

namespace {

/// Fills a small file system, drops, and fills it again. What is wrong, or an empty text.
std::string fill_up(const std::string& directory) {
  SetClock clock;
  const SegmentOptions options{.segment_bytes = 32 << 10, .batch_bytes_max = 8 << 10, .clock = &clock};
  auto store = open_segment_store(directory, options);
  if (!store) return store.error().code() == Errc::out_of_resources ? "" : "open: " + store.error().text();
  std::uint64_t synced = 0, number = 0;
  StreamId stream = 0;
  for (int round = 0; round < 3; ++round) {
    clock.now += std::chrono::seconds(2);
    auto found = (*store)->stream("a", {});
    if (!found)
      return found.error().code() == Errc::out_of_resources ? "" : "stream: " + found.error().text();
    stream = *found;
    while (true) {
      const auto body = body_of(number + 1, 700);
      const Status appended = (*store)->append({.stream = stream, .number = number + 1, .body = body});
      if (appended) {
        ++number;
        continue;
      }
      const auto written = (*store)->write();
      if (!written) {
        if (written.error().code() != Errc::out_of_resources) return "write: " + written.error().text();
        break;
      }
      if (auto done = (*store)->sync(*written); !done) return "sync: " + done.error().text();
      synced = number;
      if (appended.error().code() == Errc::out_of_resources) break;
      if (appended.error().code() != Errc::would_block) return "append: " + appended.error().text();
    }
    const std::uint64_t first = (*store)->streams().empty() ? 0 : (*store)->streams()[0].first;
    if (synced > 0 && count(**store, stream) < synced - first + 1) return "items are missing";
    if (round == 1) {
      store->reset();
      store = open_segment_store(directory, options);
      if (!store) return "open again: " + store.error().text();
      if (synced > 0 && count(**store, stream) < synced - first + 1) return "items are missing after a start";
    }
    if (synced > 1) {
      if (auto dropped = (*store)->drop_below(stream, synced); !dropped)
        return "drop on a full disk: " + dropped.error().text();
      const auto written = (*store)->write();
      if (!written) return "write on a full disk: " + written.error().text();
      if (auto done = (*store)->sync(*written); !done) return "sync: " + done.error().text();
    }
  }
  return {};
}

}  // namespace

TEST_CASE("segments: file systems of every small size fill up, and nothing that was synced is lost",
          "[store]") {
  const test::TemporaryFolder folder;
  int answers[2];
  REQUIRE(pipe2(answers, O_CLOEXEC) == 0);
  const pid_t child = fork();
  if (child == 0) {
    // A mount namespace of its own: nobody else sees the file systems.
    std::string wrong;
    if (unshare(CLONE_NEWNS) != 0 || mount("none", "/", nullptr, MS_REC | MS_PRIVATE, nullptr) != 0)
      _exit(77);
    for (std::size_t size = 16 << 10; size <= 400 << 10 && wrong.empty(); size += 12 << 10) {
      const std::string text = "size=" + std::to_string(size);
      if (mount("tmpfs", folder.path().c_str(), "tmpfs", 0, text.c_str()) != 0) _exit(77);
      wrong = fill_up(folder / "store");
      if (!wrong.empty()) wrong += ", " + text;
      umount2(folder.path().c_str(), MNT_DETACH);
    }
    const bool told = write(answers[1], wrong.data(), wrong.size()) == static_cast<ssize_t>(wrong.size());
    _exit(told ? 0 : 1);
  }
  close(answers[1]);
  std::string wrong;
  char buffer[512];
  for (ssize_t got; (got = read(answers[0], buffer, sizeof buffer)) > 0;)
    wrong.append(buffer, static_cast<std::size_t>(got));
  close(answers[0]);
  int status = 0;
  REQUIRE(waitpid(child, &status, 0) == child);
  REQUIRE(WIFEXITED(status));
  if (WEXITSTATUS(status) == 77) return say_skipped("full file systems: a mount namespace needs root");
  CHECK(WEXITSTATUS(status) == 0);
  CHECK(wrong == "");
}
