#include "interpose/file_calls.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/syscall.h>
#include <sys/sysmacros.h>
#include <unistd.h>

#include <cstring>

#include "llamada/base/crash_point.hpp"
#include "llamada/base/crc32c.hpp"
#include "process/process.hpp"
#include "runtime/protection.hpp"
#include "world/world.hpp"

namespace llamada::mpi::interpose {
namespace {

using replay::Determinants;
using replay::ValueId;

// The first byte of libmpi, and the one behind its code.
extern "C" __attribute__((visibility("hidden"))) const char __ehdr_start[];
extern "C" __attribute__((visibility("hidden"))) const char etext[];

/// A result and errno in one number: errno << 1 | 1, or the result << 1.
std::uint64_t packed(const FileOutcome& outcome) {
  return outcome.error_number != 0 ? static_cast<std::uint64_t>(outcome.error_number) << 1 | 1
                                   : static_cast<std::uint64_t>(outcome.result) << 1;
}

FileOutcome unpacked(std::uint64_t number) {
  if (number & 1) return {-1, static_cast<int>(number >> 1)};
  return {static_cast<long>(number >> 1), 0};
}

/// The head of a query's answer: what was asked, and what came of it.
struct QueryHead {
  std::uint32_t call_and_digest;  ///< call << 24 | the low bits of the digest
  std::uint32_t outcome;          ///< packed()
};
static_assert(sizeof(QueryHead) == 8);  // What the first entry of recorded bytes has room for.

constexpr std::uint32_t digest_bits = 0xffffff;
constexpr std::size_t answer_bytes_max = std::size_t{1} << 32;

QueryHead head_of(const Query& query, const FileOutcome& outcome) {
  return {static_cast<std::uint32_t>(query.call) << 24 | (query.digest & digest_bits),
          static_cast<std::uint32_t>(packed(outcome))};
}

void compare(Determinants& determinants, FileCall recorded, std::uint32_t recorded_digest, FileCall call,
             std::uint32_t digest) {
  if (recorded != call)
    determinants.diverged(
        fmt::format("where its predecessor came to {} it came to {}", to_string(recorded), to_string(call)));
  if (recorded_digest != digest)
    determinants.diverged(
        fmt::format("{} has other arguments or data than its predecessor's", to_string(call)));
}

std::uint64_t identity(const struct statx& found) {
  Arguments file;
  file.number(found.stx_dev_major).number(found.stx_dev_minor).number(found.stx_btime.tv_sec);
  file.number(found.stx_btime.tv_nsec);
  // Below 2^62: packed() has room for it.
  return ((std::uint64_t{file.digest()} << 32 ^ found.stx_ino) << 4 >> 2) | 4;
}

}  // namespace

const char* to_string(FileCall call) {
  switch (call) {
    case FileCall::open:
      return "the opening of a file for writing";
    case FileCall::write:
      return "a write into a file";
    case FileCall::make_directory:
      return "mkdir";
    case FileCall::remove_directory:
      return "rmdir";
    case FileCall::unlink:
      return "the removal of a file";
    case FileCall::rename:
      return "rename";
    case FileCall::link:
      return "link";
    case FileCall::symlink:
      return "symlink";
    case FileCall::make_node:
      return "mkfifo or mknod";
    case FileCall::truncate:
      return "truncate";
    case FileCall::allocate:
      return "fallocate";
    case FileCall::change_mode:
      return "chmod";
    case FileCall::change_owner:
      return "chown";
    case FileCall::change_times:
      return "the setting of a file's times";
    case FileCall::lock:
      return "a lock on a file";
    case FileCall::open_to_read:
      return "the opening of a file for reading";
    case FileCall::read:
      return "a read from a file";
    case FileCall::status:
      return "stat";
    case FileCall::access:
      return "access";
    case FileCall::read_link:
      return "readlink";
    case FileCall::file_system:
      return "statfs";
    case FileCall::open_directory:
      return "opendir";
    case FileCall::read_directory:
      return "readdir";
    case FileCall::change_directory:
      return "chdir";
    case FileCall::resolve:
      return "realpath";
    case FileCall::command:
      return "the running of a command";
    case FileCall::command_output:
      return "a read from a command";
  }
  return "a call on the file system";
}

Arguments& Arguments::add(const void* bytes, std::size_t size_bytes) {
  digest_ = crc32c({static_cast<const std::byte*>(bytes), size_bytes}, digest_);
  return *this;
}

Arguments& Arguments::add(const char* text) { return text ? add(text, std::strlen(text) + 1) : add("", 1); }

long change(Determinants& determinants, const Change& change) {
  const std::uint64_t announced = static_cast<std::uint64_t>(change.call) << 32 | change.digest;
  const bool repeated = determinants.replaying();
  const std::uint64_t call = determinants.read_value(ValueId::file_call, announced);
  compare(determinants, static_cast<FileCall>(call >> 32), static_cast<std::uint32_t>(call), change.call,
          change.digest);
  std::uint64_t before = 0;
  if (change.before) {
    const std::uint64_t now = determinants.replaying() ? 0 : change.before();
    before = determinants.read_value(ValueId::file_before, now);
  }
  if (repeated && determinants.replaying()) {
    const FileOutcome outcome = unpacked(determinants.read_value(ValueId::file_outcome, 0));
    if (change.repeated) change.repeated(before, outcome);
    return outcome.give();
  }
  determinants.await_stable();
  LLAMADA_CRASH_POINT("name:announced");
  const FileOutcome outcome = change.act(before, repeated);
  LLAMADA_CRASH_POINT("name:changed");
  determinants.read_value(ValueId::file_outcome, packed(outcome));
  return outcome.give();
}

long query(Determinants& determinants, const Query& query) {
  std::vector<std::byte> answer;
  FileOutcome outcome;
  QueryHead head{};
  const bool repeated = determinants.replaying();
  if (repeated) {
    answer = determinants.take_bytes(answer_bytes_max);
    if (answer.size() < sizeof head)
      determinants.diverged("it calls the file system where its predecessor did something else");
    std::memcpy(&head, answer.data(), sizeof head);
    compare(determinants, static_cast<FileCall>(head.call_and_digest >> 24),
            head.call_and_digest & digest_bits, query.call, query.digest & digest_bits);
    outcome = unpacked(head.outcome);
  } else {
    answer.resize(sizeof head);
    outcome = query.ask(answer);
    head = head_of(query, outcome);
    std::memcpy(answer.data(), &head, sizeof head);
    determinants.record_bytes(answer);
  }
  if (query.take) query.take(std::span<const std::byte>(answer).subspan(sizeof head), repeated);
  return outcome.give();
}

std::uint64_t file_at(int folder, const char* path) {
  struct statx found {};
  const int flags = AT_SYMLINK_NOFOLLOW | AT_NO_AUTOMOUNT;
  return syscall(SYS_statx, folder, path, flags, STATX_INO | STATX_BTIME, &found) == 0 ? identity(found) : 0;
}

std::uint64_t file_of(int descriptor) {
  struct statx found {};
  return syscall(SYS_statx, descriptor, "", AT_EMPTY_PATH, STATX_INO | STATX_BTIME, &found) == 0
             ? identity(found)
             : 0;
}

bool is_own(const void* caller) { return caller >= __ehdr_start && caller < etext; }

Determinants* recorder_of(const void* caller) { return is_own(caller) ? nullptr : determinants_of_caller(); }

Determinants* recorder_of_change(const void* caller, const char* function) {
  if (is_own(caller)) return nullptr;
  if (Determinants* determinants = determinants_of_caller()) return determinants;
  if (const Determinants* opened = opened_determinants(); opened && opened->recording() && joined_world())
    cannot_be_repeated(caller, fmt::format("{}() in another thread than the rank's", function).c_str());
  return nullptr;
}

void cannot_be_repeated(const void* caller, const char* what) {
  if (is_own(caller)) return;
  static_cast<void>(determinants_of_caller());  // The first call of a program may be this one.
  const Determinants* determinants = opened_determinants();
  World* world = determinants && determinants->active() ? joined_world() : nullptr;
  if (world) give_up_protection(*world, fmt::format("{} cannot be repeated by a replacement", what));
}

}  // namespace llamada::mpi::interpose
