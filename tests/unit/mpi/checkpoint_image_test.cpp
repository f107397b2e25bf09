#include "checkpoint/image.hpp"

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <iterator>

#include "temporary_folder.hpp"
#include "test.hpp"

using namespace llamada;
using namespace llamada::mpi;
using namespace llamada::mpi::checkpoint;

namespace {

ImageState some_state() {
  ImageState state;
  state.number = 7;
  state.calls = std::uint64_t{1} << 40;
  state.written = {123, std::uint64_t{1} << 33};
  state.clocks = {{1, 55}, {0x30000, std::uint64_t{1} << 60}};
  state.contexts = {20, 3, {5, 9}};
  state.files = {{3, 11, 12, 4096, false}, {9, 11, 13, -1, false}};
  return state;
}

/// What a program has registered.
struct Memory {
  explicit Memory(std::initializer_list<std::size_t> sizes) {
    for (const std::size_t bytes : sizes) pieces.emplace_back(bytes);
    for (std::size_t at = 0; at < pieces.size(); ++at)
      for (std::size_t byte = 0; byte < pieces[at].size(); ++byte)
        pieces[at][byte] = static_cast<std::byte>(byte * 7 + at + 1);
  }
  std::vector<Region> regions() { return {pieces.begin(), pieces.end()}; }
  void clear() {
    for (auto& piece : pieces) std::ranges::fill(piece, std::byte{});
  }
  std::vector<std::vector<std::byte>> pieces;
};

std::string content_of(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(file), {}};
}
void write_file(const std::string& path, const std::string& content) {
  std::ofstream(path, std::ios::binary) << content;
}

/// The file is refused as damaged, by its name.
void check_refused(const std::string& path, Memory& memory) {
  const auto read = read_image(path, memory.regions());
  REQUIRE_FALSE(read);
  CHECK(read.error().code() == Errc::parse_error);
  CHECK(read.error().text().find(path) != std::string::npos);
}

}  // namespace

TEST_CASE("checkpoint image: what is written comes back, whatever memory is registered", "[mpi]") {
  const test::TemporaryFolder folder;
  const std::string path = image_path(folder.path().string(), 7, 3);
  CHECK(path == folder / "7.3");
  Memory memory = GENERATE(Memory({}), Memory({1}), Memory({3, 5000, 0, 1}));
  const auto pieces = memory.pieces;
  const ImageState state = some_state();
  REQUIRE(write_image(path, state, memory.regions()));
  memory.clear();
  const auto read = read_image(path, memory.regions());
  REQUIRE(read);
  CHECK(memory.pieces == pieces);
  CHECK(read->number == state.number);
  CHECK(read->calls == state.calls);
  CHECK(read->written == state.written);
  REQUIRE(read->clocks.size() == 2);
  for (std::size_t at = 0; at < 2; ++at) {
    CHECK(read->clocks[at].id == state.clocks[at].id);
    CHECK(read->clocks[at].last == state.clocks[at].last);
  }
  CHECK(read->contexts.next_common == 20);
  CHECK(read->contexts.next_own == 3);
  CHECK(read->contexts.unused_own == std::vector<std::uint32_t>{5, 9});
  REQUIRE(read->files.size() == 2);
  for (std::size_t at = 0; at < 2; ++at) {
    CHECK(read->files[at].descriptor == state.files[at].descriptor);
    CHECK(read->files[at].device == state.files[at].device);
    CHECK(read->files[at].inode == state.files[at].inode);
    CHECK(read->files[at].place == state.files[at].place);
  }
}

TEST_CASE("checkpoint image: one that is written anew has nothing of a longer one before", "[mpi]") {
  const test::TemporaryFolder folder;
  const std::string path = folder / "1.0";
  Memory longer({5000}), shorter({10});
  REQUIRE(write_image(path, some_state(), longer.regions()));
  REQUIRE(write_image(path, {}, shorter.regions()));
  shorter.clear();
  const auto read = read_image(path, shorter.regions());
  REQUIRE(read);
  CHECK(read->files.empty());
  CHECK(shorter.pieces == Memory({10}).pieces);
  CHECK(content_of(path).size() < 200);
}

TEST_CASE("checkpoint image: one that is cut short anywhere is refused, by its name", "[mpi]") {
  const test::TemporaryFolder folder;
  const std::string path = folder / "1.0";
  Memory memory({40, 7});
  REQUIRE(write_image(path, some_state(), memory.regions()));
  const std::string whole = content_of(path);
  for (std::size_t size = 0; size < whole.size(); ++size) {
    CAPTURE(size);
    write_file(path, whole.substr(0, size));
    check_refused(path, memory);
  }
}

TEST_CASE("checkpoint image: one with any bit changed is refused, by its name", "[mpi]") {
  const test::TemporaryFolder folder;
  const std::string path = folder / "1.0";
  Memory memory({40, 7});
  REQUIRE(write_image(path, some_state(), memory.regions()));
  const std::string whole = content_of(path);
  for (std::size_t bit = 0; bit < 8 * whole.size(); ++bit) {
    CAPTURE(bit);
    std::string damaged = whole;
    damaged[bit / 8] = static_cast<char>(damaged[bit / 8] ^ 1 << bit % 8);
    write_file(path, damaged);
    check_refused(path, memory);
  }
}

TEST_CASE("checkpoint image: memory of another size or number is refused", "[mpi]") {
  const test::TemporaryFolder folder;
  const std::string path = folder / "1.0";
  Memory memory({40, 7});
  REQUIRE(write_image(path, some_state(), memory.regions()));
  const auto why = [&](Memory other) {
    check_refused(path, other);
    return read_image(path, other.regions()).error().text();
  };
  const auto has = [](const std::string& text, const char* part) {
    return text.find(part) != std::string::npos;
  };
  CHECK(has(why(Memory({40})), "registered 1 pieces of memory, and had registered 2"));
  CHECK(has(why(Memory({40, 7, 1})), "registered 3 pieces of memory, and had registered 2"));
  CHECK(has(why(Memory({40, 8})), "piece 2 of the registered memory has 8 bytes, and had 7"));
  CHECK(has(why(Memory({39, 7})), "piece 1 of the registered memory has 39 bytes, and had 40"));
}

TEST_CASE("checkpoint image: where it cannot be written or read, the error says of which file", "[mpi]") {
  const test::TemporaryFolder folder;
  Memory memory({40});
  const auto missing = folder / "none/1.0";
  const Status not_written = write_image(missing, some_state(), memory.regions());
  REQUIRE_FALSE(not_written);
  CHECK(not_written.error().text().find(missing) != std::string::npos);
  const auto not_read = read_image(missing, memory.regions());
  REQUIRE_FALSE(not_read);
  CHECK(not_read.error().system_errno() == ENOENT);
  CHECK(not_read.error().text().find(missing) != std::string::npos);
  // The device that is always full.
  std::filesystem::create_symlink("/dev/full", folder / "1.0");
  const Status full = write_image(folder / "1.0", some_state(), memory.regions());
  REQUIRE_FALSE(full);
  CHECK(full.error().system_errno() == ENOSPC);
  CHECK(full.error().text().find(folder / "1.0") != std::string::npos);
}

TEST_CASE("checkpoint image: those of a rank with lower numbers are removed, and nothing else", "[mpi]") {
  const test::TemporaryFolder folder;
  for (const char* name :
       {"1.0", "2.0", "9.0", "10.0", "11.0", "1.1", "1.00", "1.10", "9", "x.0", "1.0.kept", "-1.0"})
    write_file(folder / name, "image");
  remove_images_before(folder.path().string(), 10, 0, 0);
  for (const char* gone : {"1.0", "2.0", "9.0"}) CHECK_FALSE(std::filesystem::exists(folder / gone));
  for (const char* left : {"10.0", "11.0", "1.1", "1.00", "1.10", "9", "x.0", "1.0.kept", "-1.0"}) {
    CAPTURE(left);
    CHECK(std::filesystem::exists(folder / left));
  }
  remove_image(folder.path().string(), 11, 0);
  CHECK_FALSE(std::filesystem::exists(folder / "11.0"));
  // There is nothing to be removed.
  remove_image(folder.path().string(), 11, 0);
  remove_images_before(folder / "none", 10, 0, 1);
}

TEST_CASE("checkpoint image: the last ones before may be kept", "[mpi]") {
  const test::TemporaryFolder folder;
  for (const char* name : {"2.0", "9.0", "10.0", "12.0", "11.1"}) write_file(folder / name, "image");
  remove_images_before(folder.path().string(), 12, 0, 1);
  for (const char* gone : {"2.0", "9.0"}) CHECK_FALSE(std::filesystem::exists(folder / gone));
  for (const char* left : {"10.0", "12.0", "11.1"}) CHECK(std::filesystem::exists(folder / left));
  remove_images_before(folder.path().string(), 12, 0, 5);
  CHECK(std::filesystem::exists(folder / "10.0"));
}
