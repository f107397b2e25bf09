#include "checkpoint/open_files.hpp"

#include <fcntl.h>
#include <unistd.h>

#include <algorithm>
#include <optional>

#include "llamada/base/file_descriptor.hpp"
#include "temporary_folder.hpp"
#include "test.hpp"

using namespace llamada;
using namespace llamada::mpi::checkpoint;

namespace {

FileDescriptor open_file(const std::string& path, int flags) {
  FileDescriptor file(::open(path.c_str(), flags | O_CREAT | O_CLOEXEC, 0600));
  REQUIRE(file);
  return file;
}

std::int64_t place_of(const FileDescriptor& file) { return ::lseek(file.get(), 0, SEEK_CUR); }

std::optional<OpenFile> found(const FileDescriptor& file) {
  const std::vector<OpenFile> files = open_files();
  const auto at = std::ranges::find(files, file.get(), &OpenFile::descriptor);
  return at == files.end() ? std::nullopt : std::optional(*at);
}

bool contains(const std::string& text, const std::string& part) {
  return text.find(part) != std::string::npos;
}

}  // namespace

TEST_CASE("checkpoint files: regular files that are open are found, with their offsets", "[mpi]") {
  const test::TemporaryFolder folder;
  const FileDescriptor writing = open_file(folder / "out", O_WRONLY);
  REQUIRE(::write(writing.get(), "12345", 5) == 5);
  const FileDescriptor reading = open_file(folder / "out", O_RDONLY);
  REQUIRE(found(writing));
  CHECK(found(writing)->place == 5);
  CHECK_FALSE(found(writing)->is_only_for_reading);
  REQUIRE(found(reading));
  CHECK(found(reading)->place == 0);
  CHECK(found(reading)->is_only_for_reading);
  CHECK(found(reading)->inode == found(writing)->inode);
  CHECK(std::ranges::is_sorted(open_files(), {}, &OpenFile::descriptor));
  // Pipes and folders are none.
  int ends[2];
  REQUIRE(::pipe(ends) == 0);
  const FileDescriptor first(ends[0]), second(ends[1]);
  CHECK_FALSE(found(first));
  const FileDescriptor directory(::open(folder.path().c_str(), O_RDONLY | O_DIRECTORY));
  CHECK_FALSE(found(directory));
}

TEST_CASE("checkpoint files: one that was opened since the first checkpoint is an obstacle, by its name",
          "[mpi]") {
  const test::TemporaryFolder folder;
  const FileDescriptor before = open_file(folder / "before", O_WRONLY);
  const auto first = open_files();
  CHECK(obstacle_in(first, open_files()).empty());
  const FileDescriptor since = open_file(folder / "since", GENERATE(O_WRONLY, O_RDONLY));
  const std::string why = obstacle_in(first, open_files());
  CHECK(why == folder / "since" + " is open, and was not at the first checkpoint");
}

TEST_CASE("checkpoint files: one that was closed since the first checkpoint is an obstacle", "[mpi]") {
  const test::TemporaryFolder folder;
  FileDescriptor file = open_file(folder / "file", O_WRONLY);
  const int number = file.get();
  const auto first = open_files();
  file.reset();
  CHECK(contains(obstacle_in(first, open_files()), "descriptor " + std::to_string(number) + " was open"));
  // Another one under the same number is another one, and the same under another number as well.
  file = open_file(folder / "another", O_WRONLY);
  REQUIRE(file.get() == number);
  CHECK(contains(obstacle_in(first, open_files()), "another is open, and was not"));
  file.reset();
  file = FileDescriptor(::fcntl(open_file(folder / "file", O_WRONLY).get(), F_DUPFD_CLOEXEC, number + 50));
  CHECK(contains(obstacle_in(first, open_files()), "file is open, and was not"));
}

TEST_CASE(
    "checkpoint files: one that was read on since the first checkpoint is an obstacle, one written on is "
    "none",
    "[mpi]") {
  const test::TemporaryFolder folder;
  const FileDescriptor writing = open_file(folder / "file", O_WRONLY);
  REQUIRE(::write(writing.get(), "12345", 5) == 5);
  const FileDescriptor reading = open_file(folder / "file", O_RDONLY),
                       both = open_file(folder / "file", O_RDWR);
  char byte;
  REQUIRE(::read(reading.get(), &byte, 1) == 1);
  const auto first = open_files();
  REQUIRE(::write(writing.get(), "678", 3) == 3);
  REQUIRE(::read(both.get(), &byte, 1) == 1);
  CHECK(obstacle_in(first, open_files()).empty());
  REQUIRE(::read(reading.get(), &byte, 1) == 1);
  CHECK(obstacle_in(first, open_files()) ==
        folder / "file" + " is open, and has been read on since the first checkpoint");
  REQUIRE(::lseek(reading.get(), 1, SEEK_SET) == 1);
  CHECK(obstacle_in(first, open_files()).empty());
}

TEST_CASE("checkpoint files: they go on at the offsets that they had", "[mpi]") {
  const test::TemporaryFolder folder;
  const FileDescriptor writing = open_file(folder / "file", O_WRONLY),
                       reading = open_file(folder / "file", O_RDONLY);
  REQUIRE(::write(writing.get(), "12345", 5) == 5);
  const std::vector<OpenFile> then{*found(writing), *found(reading)};
  REQUIRE(::write(writing.get(), "678", 3) == 3);
  char bytes[4];
  REQUIRE(::read(reading.get(), bytes, 4) == 4);
  restore(then);
  CHECK(place_of(writing) == 5);
  CHECK(place_of(reading) == 0);
  REQUIRE(::write(writing.get(), "abc", 3) == 3);
  char all[9] = {};
  CHECK(::read(reading.get(), all, 8) == 8);
  CHECK(std::string(all) == "12345abc");
}
