#pragma once

#include <sys/stat.h>
#include <sys/types.h>

#include <cstddef>
#include <cstdint>
#include <optional>

#include "interpose/functions.hpp"

/// The rank's open files whose course a replacement repeats.
namespace llamada::mpi::interpose {

/// How the calls on an open regular file are repeated.
enum class Following : unsigned char {
  nothing,   ///< as they are: an input that is the same, and what is no regular file
  kept,      ///< open for reading; what is read is recorded, for the file may be another later
  written,   ///< open for writing: writes are recorded and not made again; what is read is recorded
  appended,  ///< open for appending: the same, and where each piece came to lie
};

/// A file of its own that a replacement has where its predecessor's is there no more.
enum class Standing : unsigned char {
  real,
  part,    ///< stands for a file of which this rank knows only a part
  whole,   ///< stands for a file that this rank began: it has all that is in it
  copied,  ///< has all that was in the file when its last name was removed: see last_name.hpp
};

/// What is known of a descriptor.
struct Followed {
  Following what = Following::nothing;
  Standing standing = Standing::real;
  std::uint64_t file = 0;  ///< the file's number (see file_at), of its predecessor's file
};

/// Remembers what a descriptor is of, until it is another file's. False if its number is above the limit:
/// then it is not followed.
///
/// Threads: any, for different descriptors.
bool follow(int descriptor, const Followed& what);
void forget(int descriptor);
Followed following(int descriptor);
/// The first descriptor from `first` on that is followed and of this file; -1 if there is none.
int next_followed(int first, std::uint64_t file);

/// libc's own functions.
int real_openat(int folder, const char* path, int flags, mode_t mode);
ssize_t real_write(int descriptor, const void* bytes, std::size_t size_bytes);
ssize_t real_read(int descriptor, void* bytes, std::size_t size_bytes);
int real_fstat(int descriptor, struct stat* found);
/// The size of an open file; 0 if it cannot be told.
std::uint64_t size_of(int descriptor);
off_t real_lseek(int descriptor, off_t offset, int whence);
int real_close(int descriptor);

}  // namespace llamada::mpi::interpose
