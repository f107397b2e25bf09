#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "llamada/base/file_descriptor.hpp"
#include "llamada/base/result.hpp"

namespace llamada::llamanet {

/// Where a driver takes shared memory from: a tmpfs of its own, which gives large folios and huge pages
/// (huge=within_size), whatever the machine's setting for memfds is. No path leads to it, and it is gone with
/// its last file. Where mounting is refused, to an ordinary user in a user namespace too, memfds. Or a
/// directory on a disk (log_directory), whose files have no name: the page cache is the memory, and the
/// kernel writes to the disk what it needs room for.
///
/// Threads: any; open() forks, so the process must not reap children that it does not know.
class MemorySource {
 public:
  static MemorySource open();
  /// Errors: not_found, invalid_argument (no directory), permission_denied, those of the system; each is a
  /// sentence that names the directory.
  static Result<MemorySource> open_in(const std::string& directory);

  /// Of one that open_in() has made.
  bool is_directory() const { return static_cast<bool>(directory_); }
  /// Whether that directory lies in memory after all (tmpfs).
  bool is_in_memory() const;

  bool has_own_mount() const { return static_cast<bool>(mount_); }

  /// Zeroed memory that is gone with its last descriptor and mapping. `name` is only for people who look at
  /// /proc. Nobody can change the size of a memfd; that of a file is up to those who have a descriptor for
  /// writing: the driver and the application whose arena it is.
  Result<FileDescriptor> create(const char* name, std::uint64_t size_bytes) const;
  /// The same, but that it is at first no longer than `first_bytes`, and may become `size_bytes` long. What
  /// is written behind a file's end lies in folios as large as the write (within_size: no larger than the
  /// file). Nobody can make a memfd shorter. In a directory the first bytes are reserved on
  /// the disk; reserve_on_disk() is due before others are used. Errors also: unsupported (the file system
  /// cannot reserve).
  Result<FileDescriptor> create_growing(const char* name, std::uint64_t size_bytes,
                                        std::uint64_t first_bytes) const;

 private:
  Result<FileDescriptor> create_in_directory() const;

  FileDescriptor mount_;
  FileDescriptor directory_;
  std::string directory_name_;
};

/// Reserves room on the disk for [begin, end) of a file, which becomes that long if it is shorter: no use of
/// these bytes finds a full disk later, which would end the process by SIGBUS. Gives 0 or an errno.
int reserve_on_disk(int file, std::uint64_t begin, std::uint64_t end);
/// What such an errno means, with the name of the directory.
std::string why_no_room(int error, std::string_view directory);

}  // namespace llamada::llamanet
