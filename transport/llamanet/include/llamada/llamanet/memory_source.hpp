#pragma once

#include <cstdint>

#include "llamada/base/file_descriptor.hpp"
#include "llamada/base/result.hpp"

namespace llamada::llamanet {

/// Where a driver takes shared memory from: a tmpfs of its own, which gives large folios and huge pages
/// (huge=within_size), whatever the machine's setting for memfds is. No path leads to it, and it is gone with
/// its last file. Where mounting is refused, to an ordinary user in a user namespace too, memfds.
///
/// Threads: any; open() forks, so the process must not reap children that it does not know.
class MemorySource {
 public:
  static MemorySource open();

  bool has_own_mount() const { return static_cast<bool>(mount_); }

  /// Zeroed memory that is gone with its last descriptor and mapping. `name` is only for people who look at
  /// /proc. Nobody can change the size of a memfd; that of a file is up to those who have a descriptor for
  /// writing: the driver and the application whose arena it is.
  Result<FileDescriptor> create(const char* name, std::uint64_t size_bytes) const;
  /// The same, but that it is at first no longer than `first_bytes`, and may become `size_bytes` long. What
  /// is written behind a file's end lies in folios as large as the write (within_size: no larger than the
  /// file). Nobody can make a memfd shorter.
  Result<FileDescriptor> create_growing(const char* name, std::uint64_t size_bytes,
                                        std::uint64_t first_bytes) const;

 private:
  FileDescriptor mount_;
};

}  // namespace llamada::llamanet
