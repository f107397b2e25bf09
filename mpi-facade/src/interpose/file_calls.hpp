#pragma once

#include <sys/stat.h>

#include <cerrno>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <span>
#include <vector>

#include "interpose/functions.hpp"

/// Calls on the file system under rank_replacement REBUILD: what came of each is recorded, and a replacement
/// is answered from the record. It changes nothing a second time, and asks nothing again.
///
/// A call that changes something is announced before and has its outcome recorded behind it. When a rank died
/// in between, its replacement finds out whether the change took place: nobody has been told yet.
///
/// docs/decisions/0019-file-system-calls.md; the bytes: docs/internals/determinants.md. Threads: only what
/// the rank's thread does is recorded.
namespace llamada::mpi::interpose {

enum class FileCall : std::uint8_t {
  open = 1,
  write,
  make_directory,
  remove_directory,
  unlink,
  rename,
  link,
  symlink,
  make_node,
  truncate,
  allocate,
  change_mode,
  change_owner,
  change_times,
  lock,
  open_to_read,
  read,
  status,
  access,
  read_link,
  file_system,
  open_directory,
  read_directory,
  change_directory,
  resolve,
  command,
  command_output,
};
const char* to_string(FileCall call);

/// What came of a call: its result, or -1 and why.
struct FileOutcome {
  long result = 0;
  int error_number = 0;

  /// Of a call of libc's that gives -1 and errno on failure.
  static FileOutcome of(long result) { return {result, result < 0 ? errno : 0}; }
  /// Gives the result to the program, with errno.
  long give() const {
    if (error_number != 0) errno = error_number;
    return result;
  }
};

/// What a call was given, as a number of 32 bits: a replacement has to give the same.
class Arguments {
 public:
  Arguments& add(const void* bytes, std::size_t size_bytes);
  Arguments& add(const char* text);  ///< null counts as empty
  template <typename Number>
  Arguments& number(Number value) {
    const auto wide = static_cast<std::uint64_t>(value);
    return add(&wide, sizeof wide);
  }
  std::uint32_t digest() const { return digest_; }

 private:
  std::uint32_t digest_ = 0;
};

/// A call that changes something. `before` tells what is there (0 if it does not matter). `act` makes the
/// change; `is_begun` tells that a predecessor died in this call and may have made it already. `repeated` is
/// what a replacement does where its predecessor's outcome is known.
struct Change {
  FileCall call;
  std::uint32_t digest = 0;
  std::function<std::uint64_t()> before;  ///< may be empty
  std::function<FileOutcome(std::uint64_t before, bool is_begun)> act;
  std::function<void(std::uint64_t before, const FileOutcome&)> repeated;  ///< may be empty
};
/// Gives the result, and sets errno, as the call had it.
long change(replay::Determinants& determinants, const Change& change);

/// A call that asks. `ask` appends what it learns to `answer`, which is given to `take` afterwards, whether
/// it was asked or recorded.
struct Query {
  FileCall call;
  std::uint32_t digest = 0;
  std::function<FileOutcome(std::vector<std::byte>& answer)> ask;
  std::function<void(std::span<const std::byte> answer, bool repeated)> take;  ///< may be empty
};
long query(replay::Determinants& determinants, const Query& query);

/// Which file a name leads to, without following a last symbolic link: a number that no other file has had
/// (inode and time of birth), with the two lowest bits clear; 0 if there is none.
std::uint64_t file_at(int folder, const char* path);
/// The same of an open file.
std::uint64_t file_of(int descriptor);

/// The recorder for a call by this address, if it is the program's and its thread is the rank; else null. A
/// call by another thread of the rank's process that changes something ends the protection, for nothing
/// orders it.
replay::Determinants* recorder_of(const void* caller);
replay::Determinants* recorder_of_change(const void* caller, const char* function);

/// Whether this is an address of libmpi's own code, whose files are none of the program's.
bool is_own(const void* caller);

/// Ends the protection of a rank under REBUILD, whose program is about to do what a replacement cannot
/// repeat; `what` begins the sentence ("POSIX shared memory"). Nothing happens in the facade's own calls, in
/// children of fork() and without protection.
void cannot_be_repeated(const void* caller, const char* what);

}  // namespace llamada::mpi::interpose

/// In a function that libmpi exports in libc's place: who calls it.
#define LLAMADA_CALLER __builtin_return_address(0)
