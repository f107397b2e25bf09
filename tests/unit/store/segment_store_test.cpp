#include "llamada/store/segment_store.hpp"

#include <fcntl.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <numeric>

#include "temporary_folder.hpp"
#include "test.hpp"

using namespace llamada;
using namespace llamada::store;
using Catch::Matchers::Contains;

namespace {

const SegmentOptions small{.segment_bytes = 256 << 10, .batch_bytes_max = 32 << 10};

std::unique_ptr<Store> open_at(const std::string& directory, SegmentOptions options = small) {
  auto opened = open_segment_store(directory, std::move(options));
  if (!opened) FAIL(opened.error().text());
  return std::move(*opened);
}

void append(Store& store, StreamId stream, std::uint64_t number, std::size_t size = 1000) {
  const std::vector<std::byte> body(size, static_cast<std::byte>(number + 1));
  if (auto appended = store.append({.stream = stream, .number = number, .body = body}); !appended) {
    REQUIRE(appended.error().code() == Errc::would_block);
    REQUIRE(store.write().has_value());
    REQUIRE(store.append({.stream = stream, .number = number, .body = body}).has_value());
  }
}

std::vector<std::uint64_t> numbers_of(const Store& store, StreamId stream) {
  std::vector<std::uint64_t> numbers;
  REQUIRE(store.read(stream, 0, [&](const Item& item) {
    CHECK(std::ranges::all_of(
        item.body, [&](std::byte each) { return each == static_cast<std::byte>(item.number + 1); }));
    numbers.push_back(item.number);
    return true;
  }));
  return numbers;
}

std::vector<std::uint64_t> from_to(std::uint64_t first, std::uint64_t last) {
  std::vector<std::uint64_t> numbers(last - first + 1);
  std::iota(numbers.begin(), numbers.end(), first);
  return numbers;
}

std::size_t files_in(const std::filesystem::path& directory) {
  return static_cast<std::size_t>(std::distance(std::filesystem::directory_iterator(directory), {}));
}

}  // namespace

TEST_CASE("segments: a store's directory is the owner's alone, and is made with those above it", "[store]") {
  const test::TemporaryFolder folder;
  const std::string directory = folder / "a/b/store";
  open_at(directory + "/");
  struct stat status {};
  REQUIRE(stat(directory.c_str(), &status) == 0);
  CHECK((status.st_mode & 0777) == 0700);
  REQUIRE(stat((directory + "/store").c_str(), &status) == 0);
  CHECK((status.st_mode & 0777) == 0600);
}

TEST_CASE("segments: one process writes a store; others are told which", "[store]") {
  const test::TemporaryFolder folder;
  const std::string directory = folder / "store";
  const auto store = open_at(directory);
  const auto second = open_segment_store(directory, small);
  REQUIRE_FALSE(second.has_value());
  CHECK(second.error().code() == Errc::already_exists);
  CHECK_THAT(second.error().text(), Contains("is in use by process " + std::to_string(getpid())));
  CHECK(remove_store(directory).error().code() == Errc::already_exists);
}

TEST_CASE("segments: a store is read while it is written", "[store]") {
  const test::TemporaryFolder folder;
  const std::string directory = folder / "store";
  SegmentOptions reading = small;
  reading.read_only = true;
  CHECK(open_segment_store(directory, reading).error().code() == Errc::not_found);
  std::filesystem::create_directory(directory);
  CHECK(open_segment_store(directory, reading).error().code() == Errc::not_found);
  CHECK(files_in(directory) == 0);

  const auto store = open_at(directory);
  const StreamId stream = *store->stream("a", {});
  for (std::uint64_t number = 1; number <= 300; ++number) append(*store, stream, number);
  REQUIRE(store->write().has_value());
  append(*store, stream, 301);

  const std::size_t files = files_in(directory);
  const auto reader = open_at(directory, reading);
  CHECK(reader->streams().size() == 1);
  CHECK(numbers_of(*reader, stream) == from_to(1, 300));
  CHECK(*reader->stream("a", {}) == stream);
  CHECK(reader->append({.stream = stream, .number = 400}).error().code() == Errc::unsupported);
  CHECK(reader->drop(stream, 4).error().code() == Errc::unsupported);
  CHECK(reader->stream("b", {}).error().code() == Errc::unsupported);
  CHECK(files_in(directory) == files);
}

TEST_CASE("segments: a removed store leaves nothing, and nothing else is removed", "[store]") {
  const test::TemporaryFolder folder;
  const std::string directory = folder / "store";
  const auto fill = [&] {
    const auto store = open_at(directory);
    const StreamId stream = *store->stream("a", {});
    for (std::uint64_t number = 1; number <= 600; ++number) append(*store, stream, number);
    REQUIRE(store->sync(*store->write()).has_value());
  };
  fill();
  CHECK(remove_store(directory).has_value());
  CHECK_FALSE(std::filesystem::exists(directory));
  CHECK(remove_store(directory).error().code() == Errc::not_found);
  fill();
  std::ofstream(directory + "/notes") << "mine";
  CHECK(remove_store(directory).has_value());
  CHECK(files_in(directory) == 1);
}

TEST_CASE("segments: what was dropped is given back to the disk", "[store]") {
  const test::TemporaryFolder folder;
  const std::string directory = folder / "store";
  auto store = open_at(directory);
  const StreamId stream = *store->stream("a", {}), kept = *store->stream("kept", {});
  for (std::uint64_t number = 1; number <= 5000; ++number) {
    append(*store, stream, number);
    if (number % 100 == 0) append(*store, kept, number);
    if (number % 50 != 0) continue;
    // Some go below a number, some one by one.
    if (number % 100 == 0 && number > 200) REQUIRE(store->drop_below(stream, number - 200));
    if (number > 150) REQUIRE(store->drop(stream, number - 120));
    REQUIRE(store->sync(*store->write()).has_value());
  }
  const StoreFigures figures = store->figures();
  CHECK(figures.bytes <= figures.live_bytes * 10 / 3 + 3 * small.segment_bytes);
  CHECK(files_in(directory) <= 8);
  std::vector<std::uint64_t> left = numbers_of(*store, stream);
  CHECK(left.front() == 4800);
  CHECK(left.size() == 201 - 2);
  for (int again = 0; again < 2; ++again) {
    store.reset();
    store = open_at(directory);
    CHECK(numbers_of(*store, stream) == left);
    CHECK(numbers_of(*store, kept).size() == 50);
    CHECK(store->figures().damaged_batches == 0);
  }
}

TEST_CASE("segments: without its id a store is refused and left as it is, and has all once it has it again",
          "[store]") {
  const test::TemporaryFolder folder;
  const std::string name = folder / "kept/store", segment = folder / "kept/00000001.seg";
  auto store = open_at(folder / "kept");
  const StreamId stream = *store->stream("a", {});
  for (std::uint64_t number = 1; number <= 10; ++number) append(*store, stream, number);
  REQUIRE(store->sync(*store->write()).has_value());
  store = nullptr;
  std::filesystem::copy_file(name, folder / "name");
  const auto damage = [](const std::string& path) {
    std::fstream file(path, std::ios::in | std::ios::out | std::ios::binary);
    file.seekg(20);
    const int byte = file.get();  // of the id, which is random
    file.seekp(20).put(static_cast<char>(byte ^ 1));
  };
  const bool is_missing = GENERATE(false, true);
  damage(name);
  if (is_missing) std::filesystem::remove(name);
  const std::size_t files = files_in(folder / "kept");
  SECTION("the header of a segment still tells it") {
    CHECK(numbers_of(*open_at(folder / "kept"), stream) == from_to(1, 10));
  }
  SECTION("nothing tells it") {
    damage(segment);
    for (const bool read_only : {true, false}) {
      SegmentOptions options = small;
      options.read_only = read_only;
      const auto opened = open_segment_store(folder / "kept", options);
      REQUIRE_FALSE(opened.has_value());
      CHECK(opened.error().code() == Errc::parse_error);
      CHECK_THAT(opened.error().text(), Contains("kept") && Contains("store") && Contains("from a copy") &&
                                            Contains("move the directory away"));
    }
    // The lock makes the file, if it is not there.
    CHECK(files_in(folder / "kept") == files + (is_missing ? 1 : 0));
    std::filesystem::copy_file(folder / "name", name, std::filesystem::copy_options::overwrite_existing);
    CHECK(numbers_of(*open_at(folder / "kept"), stream) == from_to(1, 10));
  }
  SECTION("its segments were never used") {
    std::filesystem::resize_file(segment, 0);
    std::filesystem::resize_file(segment, 1 << 16);
    CHECK(open_at(folder / "kept")->streams().empty());
  }
}
