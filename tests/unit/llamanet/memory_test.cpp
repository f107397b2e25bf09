#include <errno.h>
#include <signal.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <filesystem>

#include "llamada/llamanet/memory_source.hpp"
#include "llamada/llamanet/shared_memory.hpp"
#include "temporary_folder.hpp"
#include "test.hpp"

using namespace llamada;
using namespace llamada::llamanet;

namespace {

constexpr std::uint64_t size_bytes = 4 << 20;

/// Two pieces of memory with the same name, each zeroed, of its size and seen by two mappings.
bool gives_memory(const MemorySource& source) {
  auto one = source.create("llamada-test", size_bytes);
  auto other = source.create("llamada-test", size_bytes);
  if (!one || !other || size_of(one->get()).value_or(0) != size_bytes) return false;
  auto read_only = reopen_read_only(one->get());
  if (!read_only) return false;
  auto writing = Mapping::map(one->get(), size_bytes, Mapping::Access::read_write);
  auto reading = Mapping::map(read_only->get(), size_bytes, Mapping::Access::read_only);
  auto another = Mapping::map(other->get(), size_bytes, Mapping::Access::read_only);
  if (!writing || !reading || !another) return false;
  if (Mapping::map(read_only->get(), size_bytes, Mapping::Access::read_write)) return false;
  writing->bytes().back() = std::byte{7};
  constexpr std::byte piece[] = {std::byte{1}, std::byte{2}};
  if (::pwrite(one->get(), piece, sizeof(piece), 4095) != sizeof(piece)) return false;
  const auto zeros = [](std::span<const std::byte> bytes) {
    return std::all_of(bytes.begin(), bytes.end(), [](std::byte byte) { return byte == std::byte{0}; });
  };
  return zeros(another->bytes()) && zeros(reading->bytes().first(4095)) &&
         reading->bytes()[4096] == std::byte{2} && reading->bytes().back() == std::byte{7};
}

std::uint64_t reserved_bytes(int file) {
  struct stat about {};
  return ::fstat(file, &about) == 0 ? static_cast<std::uint64_t>(about.st_blocks) * 512 : 0;
}

/// Why no file can be had there.
std::string error_of_directory(const std::string& directory) {
  const auto source = MemorySource::open_in(directory);
  if (!source) return source.error().text();
  const auto file = source->create("llamada-test", 4096);
  return file ? "ok" : file.error().text();
}

bool can_reserve(const std::string& directory) {
  return error_of_directory(directory).find("cannot reserve room for a file") == std::string::npos;
}

/// Neither gives a file that the limit does not allow, and neither is ended by trying.
bool says_what_limit_forbids() {
  const rlimit small{size_bytes / 2, RLIM_INFINITY};
  if (::setrlimit(RLIMIT_FSIZE, &small) != 0) return false;
  for (const MemorySource& source : {MemorySource::open(), MemorySource()}) {
    auto memory = source.create_growing("llamada-test", size_bytes, 4096);
    if (memory || memory.error().code() != Errc::out_of_resources) return false;
  }
  return true;
}

}  // namespace

TEST_CASE("memory: a source gives zeroed memory that two processes can map", "[llamanet]") {
  CHECK(gives_memory(MemorySource::open()));
}

TEST_CASE("memory: where nothing may be mounted memfds are given", "[llamanet]") {
  const MemorySource source;
  CHECK_FALSE(source.has_own_mount());
  CHECK(gives_memory(source));
}

TEST_CASE("memory: a directory on a disk gives files without a name, whose first bytes are reserved",
          "[llamanet]") {
  const test::TemporaryFolder directory;
  const auto source = MemorySource::open_in(directory.path().string());
  REQUIRE(source);
  if (!can_reserve(directory.path().string())) {
    WARN("SKIPPED: the file system of " << directory.path().string() << " cannot reserve room for files");
    return;
  }
  CHECK(source->is_directory());
  CHECK(gives_memory(*source));
  auto growing = source->create_growing("llamada-test", size_bytes, 1 << 20);
  REQUIRE(growing);
  CHECK(size_of(growing->get()).value_or(0) == 1 << 20);
  CHECK(reserved_bytes(growing->get()) >= 1 << 20);
  CHECK(reserve_on_disk(growing->get(), 1 << 20, size_bytes) == 0);
  CHECK(reserved_bytes(growing->get()) >= size_bytes);
  CHECK(size_of(growing->get()).value_or(0) == size_bytes);
  CHECK(std::filesystem::is_empty(directory.path().string()));
}

TEST_CASE("memory: a directory that cannot be used is told by name", "[llamanet]") {
  const test::TemporaryFolder directory;
  const std::string missing = directory.path().string() + "/missing";
  CHECK(error_of_directory(missing) ==
        "the directory " + missing +
            " (log_directory) does not exist; make it on each node of the job, "
            "or name another one in the profile");
  CHECK(error_of_directory("/dev/null") == "/dev/null (log_directory) is not a directory");
  CHECK(error_of_directory("/proc").starts_with("no file can be made in /proc (log_directory): "));
  CHECK(why_no_room(ENOSPC, "/a") == "no room is left in /a (log_directory)");
  CHECK(why_no_room(EDQUOT, "/a") == "this user's disk quota for /a (log_directory) is used up");
  CHECK(why_no_room(EIO, "/a") == "no room can be reserved in /a (log_directory): Input/output error");
  CHECK(reserve_on_disk(-1, 0, 1) == EBADF);
}

TEST_CASE("memory: a user who may not mount gets memory too", "[llamanet]") {
  const pid_t child = ::fork();
  if (child == 0) {
    constexpr uid_t nobody = 65534;
    if (::geteuid() == 0 &&
        (::setresgid(nobody, nobody, nobody) != 0 || ::setresuid(nobody, nobody, nobody) != 0))
      ::_exit(2);
    ::_exit(gives_memory(MemorySource::open()) ? 0 : 1);
  }
  int status = -1;
  REQUIRE(::waitpid(child, &status, 0) == child);
  CHECK(status == 0);
}

TEST_CASE("memory: a file that is to grow is short at first, and no longer than it may become",
          "[llamanet]") {
  for (const MemorySource& source : {MemorySource::open(), MemorySource()}) {
    auto memory = source.create_growing("llamada-test", size_bytes, 4096);
    auto small = source.create_growing("llamada-test", 4096, size_bytes);
    REQUIRE(memory);
    REQUIRE(small);
    CHECK(size_of(memory->get()).value_or(0) == 4096);
    CHECK(size_of(small->get()).value_or(0) == 4096);
    constexpr char byte = 1;
    CHECK(::pwrite(memory->get(), &byte, 1, size_bytes - 1) == 1);
    CHECK(size_of(memory->get()).value_or(0) == size_bytes);
    CHECK(source.has_own_mount() == static_cast<bool>(set_size(memory->get(), 4096)));
  }
}

TEST_CASE("memory: what the limit on the size of files forbids is an error", "[llamanet]") {
  const pid_t child = ::fork();
  if (child == 0) {
    ::signal(SIGXFSZ, SIG_DFL);
    ::_exit(says_what_limit_forbids() ? 0 : 1);
  }
  int status = -1;
  REQUIRE(::waitpid(child, &status, 0) == child);
  CHECK(status == 0);
}
