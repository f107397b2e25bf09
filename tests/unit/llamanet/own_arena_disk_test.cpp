#include <errno.h>
#include <sched.h>
#include <signal.h>
#include <sys/mount.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <fstream>
#include <functional>

#include "bell_owner.hpp"
#include "llamada/log/log_reader.hpp"
#include "llamada/log/log_writer.hpp"
#include "temporary_folder.hpp"

// An arena whose file lies on a disk. Full disks are small file systems of a child process, in namespaces of
// its own.

using namespace llamada;
using namespace llamada::llamanet;

namespace {

constexpr log::LogKey key{1, 2};
constexpr std::uint64_t size_bytes = 64 << 20;
constexpr std::uint64_t first_bytes = 1 << 20;
constexpr int refused = 77;

using Arena = std::unique_ptr<OwnArena>;

log::LogOptions keep_all() {
  log::LogOptions options;
  options.retention = log::Retention::keep_all;
  return options;
}

std::vector<std::byte> payload_of(std::uint64_t number) {
  return std::vector<std::byte>(300'000, static_cast<std::byte>(number + 1));
}

Result<Arena> open_arena(FileDescriptor file, std::uint32_t incarnation = 1) {
  // Where a limit is set, the file has its full length already.
  return OwnArena::open(
      std::move(file), size_bytes, [] { return true; }, small_arena(incarnation), OwnArena::Place::disk);
}

Result<Arena> open_arena_in(const std::string& directory) {
  auto source = MemorySource::open_in(directory);
  if (!source) return propagate(source);
  auto file = source->create_growing("llamada-test", size_bytes, first_bytes);
  if (!file) return propagate(file);
  return open_arena(std::move(*file));
}

std::uint64_t reserved_bytes(int file) {
  struct stat about {};
  return ::fstat(file, &about) == 0 ? static_cast<std::uint64_t>(about.st_blocks) * 512 : 0;
}

/// How many records whole payloads follow each other from the first one on.
std::uint64_t readable_records(const OwnArena& arena) {
  const auto mapped = MappedArena::map(arena.file(), size_bytes);
  if (!mapped) return 0;
  std::uint32_t scanned = 0;
  const auto index = log::find_log(mapped->reading(), key, scanned);
  if (!index) return 0;
  auto reader = log::LogReader::open(mapped->reading(), *index);
  std::uint64_t count = 0;
  for (auto record = reader.peek(); record; reader.advance(), record = reader.peek(), ++count)
    if (!std::ranges::equal(record->payload, payload_of(count))) break;
  return count;
}

/// The code of a child process that does this.
int in_child(const std::function<int()>& act) {
  const pid_t child = ::fork();
  if (child == 0) ::_exit(act());
  int status = -1;
  REQUIRE(::waitpid(child, &status, 0) == child);
  return WIFEXITED(status) ? WEXITSTATUS(status) : -WTERMSIG(status);
}

bool write_text(const char* path, const std::string& text) {
  std::ofstream file(path);
  file << text;
  file.close();
  return !file.fail();
}

/// False: this user may make no namespaces.
bool mount_small_disk(const std::string& at, const char* options) {
  const std::string user = fmt::format("{0} {0} 1\n", ::geteuid());
  const std::string group = fmt::format("{0} {0} 1\n", ::getegid());
  return ::unshare(CLONE_NEWUSER | CLONE_NEWNS) == 0 && write_text("/proc/self/setgroups", "deny") &&
         write_text("/proc/self/uid_map", user) && write_text("/proc/self/gid_map", group) &&
         ::mount("small", at.c_str(), "tmpfs", 0, options) == 0;
}

/// Fills a disk of 4 MiB. 0: what was published is there, the rest was refused in a sentence.
int fills_disk(const std::string& at) {
  if (!mount_small_disk(at, "size=4m")) return refused;
  auto arena = open_arena_in(at);
  if (!arena) return 1;
  auto writer = log::LogWriter::create((*arena)->writer(), key, keep_all());
  if (!writer || (*arena)->disk_error() != 0) return 2;
  std::uint64_t published = 0;
  Status last;
  while (published < 100) {
    auto record = writer->publish(log::kind_data, 0, published, payload_of(published));
    if (!record) {
      last = propagate(record);
      break;
    }
    ++published;
  }
  if (published < 5 || published > 13) return 3;
  if (last.error().code() != Errc::out_of_resources || (*arena)->disk_error() != ENOSPC) return 4;
  if (last.error().text() != "no room is left in the directory of the logs (log_directory)") return 5;
  (*arena)->prepare_ahead();
  if ((*arena)->prepare_next(8 << 20)) return 6;
  if (readable_records(**arena) != published) return 7;
  auto successor = open_arena(copy_of((*arena)->file()), 2);
  return successor && (*successor)->writer().adopted() && readable_records(**successor) == published ? 0 : 8;
}

/// Under a limit on the size of files that came later.
int goes_on_under_limit(const std::string& directory) {
  ::signal(SIGXFSZ, SIG_DFL);
  auto arena = open_arena_in(directory);
  if (!arena) return 1;
  // The file is as long as the arena at once, since the driver may do that.
  if (::ftruncate((*arena)->file(), size_bytes) != 0) return 2;
  const rlimit small{2 << 20, 2 << 20};
  if (::setrlimit(RLIMIT_FSIZE, &small) != 0) return 3;
  auto writer = log::LogWriter::create((*arena)->writer(), key, keep_all());
  if (!writer) return 4;
  for (std::uint64_t i = 0; i < 20; ++i)
    if (!writer->publish(log::kind_data, 0, i, payload_of(i))) return 5;
  return readable_records(**arena) == 20 ? 0 : 6;
}

bool can_reserve(const std::string& directory) {
  const auto arena = open_arena_in(directory);
  if (!arena) WARN("SKIPPED: " << arena.error().text());
  return arena.has_value();
}

}  // namespace

TEST_CASE("own arena on a disk: others read its logs, a successor adopts it, and the directory is empty",
          "[llamanet]") {
  const test::TemporaryFolder directory;
  if (!can_reserve(directory.path().string())) return;
  auto arena = open_arena_in(directory.path().string());
  REQUIRE(arena);
  auto writer = log::LogWriter::create((*arena)->writer(), key, keep_all());
  REQUIRE(writer);
  for (std::uint64_t i = 0; i < 60; ++i) {
    REQUIRE(writer->publish(log::kind_data, 0, i, payload_of(i)));
    (*arena)->prepare_ahead();
  }
  CHECK(readable_records(**arena) == 60);
  CHECK(reserved_bytes((*arena)->file()) >= (*arena)->writer().pool() + (*arena)->writer().pool_used());
  CHECK(std::filesystem::is_empty(directory.path()));
  FileDescriptor file = copy_of((*arena)->file());
  arena->reset();
  auto successor = open_arena(std::move(file), 2);
  REQUIRE(successor);
  CHECK((*successor)->writer().adopted());
  CHECK(readable_records(**successor) == 60);
  auto more = log::LogWriter::open((*successor)->writer(), key, keep_all());
  REQUIRE(more);
  for (std::uint64_t i = 60; i < 80; ++i) REQUIRE(more->publish(log::kind_data, 0, i, payload_of(i)));
  CHECK(readable_records(**successor) == 80);
}

TEST_CASE("own arena on a disk: memory for the start is reserved, and no more", "[llamanet]") {
  const test::TemporaryFolder directory;
  if (!can_reserve(directory.path().string())) return;
  auto arena = open_arena_in(directory.path().string());
  REQUIRE(arena);
  const auto before = reserved_bytes((*arena)->file());
  REQUIRE((*arena)->prepare_next(16 << 20));
  CHECK(reserved_bytes((*arena)->file()) >= before + (14 << 20));
}

TEST_CASE("own arena on a disk: a full disk is an error, and what was published stays", "[llamanet]") {
  const test::TemporaryFolder directory;
  const int code = in_child([&] { return fills_disk(directory.path().string()); });
  if (code == refused)
    WARN("SKIPPED: this user may not mount a small file system");
  else
    CHECK(code == 0);
}

TEST_CASE("own arena on a disk: a limit on the size of files that comes later ends nothing", "[llamanet]") {
  const test::TemporaryFolder directory;
  if (!can_reserve(directory.path().string())) return;
  CHECK(in_child([&] { return goes_on_under_limit(directory.path().string()); }) == 0);
}
