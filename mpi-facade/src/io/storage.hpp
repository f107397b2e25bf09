#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>

#include "llamada/base/kept_descriptor.hpp"
#include "llamada/base/result.hpp"

namespace llamada::mpi::io {

/// The class of errors (MPI 3.1, 13.7) that a failure of the file system belongs to.
int error_class_for(int error_number);
/// "name: strerror": the failure of a system call on a file.
tl::unexpected<Error> file_failure(const std::string& name, const char* what, int error_number);

/// A POSIX file. Whole transfers: EINTR and short counts are dealt with. Every failure is Errc::system with
/// its errno and names the file.
///
/// Threads: one at a time.
class Storage {
 public:
  Storage() = default;
  /// Nothing is opened yet. `flags` are those of open(2) for an existing file.
  Storage(std::string path, int flags) : path_(std::move(path)), flags_(flags) {}

  const std::string& path() const { return path_; }
  /// Opens the file, with O_CREAT (| O_EXCL) in `more_flags` if it is to be made.
  Status open(int more_flags = 0);
  /// A replacement comes to a file that its predecessor had opened: opens it unless it is open.
  Status reach() { return descriptor_ ? Status{} : open(); }
  bool is_open() const { return static_cast<bool>(descriptor_); }
  Status close();

  Status write(std::span<const std::byte> bytes, std::uint64_t offset);
  /// How many bytes there were: fewer only at the end of the file.
  Result<std::size_t> read(std::span<std::byte> bytes, std::uint64_t offset);
  Result<std::uint64_t> size();
  Status set_size(std::uint64_t size);
  /// Makes sure that there is room for the first `size` bytes; the file grows to them, and keeps what it has.
  Status preallocate(std::uint64_t size);
  /// Nothing to do since the last time unless something was written by this one. (The first time there is:
  /// a predecessor may have written.)
  Status sync();

  /// Locks a range against other openings of the file, of this process or others, until the Lock goes.
  class Lock;
  Result<Lock> lock(bool for_writing, std::uint64_t offset, std::uint64_t bytes);

 private:
  std::string path_;
  int flags_ = 0;
  KeptDescriptor descriptor_;
  bool may_be_unsynchronised_ = true;
};

class Storage::Lock {
 public:
  Lock(int descriptor, std::uint64_t offset, std::uint64_t bytes)
      : descriptor_(descriptor), offset_(offset), bytes_(bytes) {}
  Lock(Lock&& other) noexcept
      : descriptor_(std::exchange(other.descriptor_, -1)), offset_(other.offset_), bytes_(other.bytes_) {}
  ~Lock();

 private:
  int descriptor_;
  std::uint64_t offset_;
  std::uint64_t bytes_;
};

/// Removes a file.
Status remove_file(const std::string& path);
/// Whether there is something with this name.
bool exists(const std::string& path);

}  // namespace llamada::mpi::io
