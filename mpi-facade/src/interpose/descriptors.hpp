#pragma once

#include <sys/stat.h>
#include <sys/types.h>

#include <cstddef>

#include "interpose/functions.hpp"

/// What the rank's descriptors are of whose course a replacement repeats.
namespace llamada::mpi::interpose {

enum class Following : unsigned char {
  nothing,
  written,   ///< a regular file, open for writing
  appended,  ///< a regular file, open for appending
  lost,      ///< stands for one that was open for appending and is there no more
};

/// Remembers what a descriptor is of, until it is another file's. A descriptor above a limit is not followed.
///
/// Threads: any, for different descriptors.
void follow(int descriptor, Following what);
void forget(int descriptor);
Following following(int descriptor);
/// Whether a descriptor with this number could be followed.
bool can_follow(int descriptor);

/// libc's own functions.
int real_openat(int folder, const char* path, int flags, mode_t mode);
ssize_t real_write(int descriptor, const void* bytes, std::size_t size_bytes);
int real_fstat(int descriptor, struct stat* found);
off_t real_lseek(int descriptor, off_t offset, int whence);

}  // namespace llamada::mpi::interpose
