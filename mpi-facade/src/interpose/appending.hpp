#pragma once

#include <sys/stat.h>
#include <sys/types.h>

#include <cstddef>
#include <cstdio>

/// Files that a rank opens for appending (O_APPEND, fopen "a"), under rank_replacement REBUILD: what it
/// appends is recorded with the place where it came to lie, and a replacement does not append it again. So
/// each piece is in the file once, whoever else appends to the file meanwhile.
///
/// Before a piece is written, its digest and the file's size are recorded; behind it, its place. When a rank
/// died between the two, its replacement looks at what lies behind that size: nothing, or a beginning of the
/// piece, which it completes. When others have appended there, nobody can tell: the job ends as diverged.
///
/// Whoever asks for the end of such a file, or of one that is open for writing, is told what was recorded; so
/// is who makes a file that must not be there (O_EXCL).
///
/// Threads: the functions may be called by any; only what the rank's thread does is recorded.
namespace llamada::mpi::interpose {

/// openat() for the program's calls, whatever the flags. Gives a descriptor, or -1 and errno.
int open_file(int folder, const char* path, int flags, mode_t mode);

/// Whether the caller is the rank and the descriptor is a file that it opened for appending.
bool is_appended(int descriptor);

/// write() to such a descriptor.
ssize_t append(int descriptor, const void* bytes, std::size_t size_bytes);

/// lseek() and fstat().
off_t seek(int descriptor, off_t offset, int whence);
int stat_file(int descriptor, struct stat* found);

/// fopen() with a mode that begins with 'a', and fdopen() of a descriptor that is_appended(), by the rank's
/// thread. Null and errno on failure: EMFILE when too many such streams are open.
FILE* open_appended_stream(const char* path, const char* mode);
FILE* make_appended_stream(int descriptor, const char* mode);

/// The descriptor of a stream that the two above made; -1 for all others.
int descriptor_of_appended(FILE* file);

}  // namespace llamada::mpi::interpose
