#pragma once

#include <sys/types.h>

#include "interpose/descriptors.hpp"

/// How a rank under rank_replacement REBUILD opens files.
///
/// A file for writing is made or emptied once: a replacement opens what its predecessor's calls led to. If
/// that is there no more, it gets a file of its own without a name instead, and makes its predecessor's
/// writes there; it can go on with it if the program has removed the file itself.
///
/// Of a file for reading, its identity is recorded (device, inode, size, time of change): a replacement that
/// finds another one ends the job as diverged. Of files that are small, that have been changed since the job
/// began, or that the kernel makes (/proc, /sys), what is read is recorded instead.
///
/// Threads: the rank's.
namespace llamada::mpi::interpose {

/// openat(). A descriptor, or -1 and errno.
int open_file(replay::Determinants& determinants, int folder, const char* path, int flags, mode_t mode);

/// To be called before a call that is new. A file that only stands for its predecessor's is exchanged for the
/// file itself, if that has another name now. Ends the job as diverged if it is lost.
void must_be_there(replay::Determinants& determinants, int descriptor, const Followed& what);
/// The same for the directory that a call such as openat() is relative to.
void folder_must_be_there(replay::Determinants& determinants, int folder);

/// The flags of open() that a mode of fopen() stands for; -1 if it is none.
int flags_of_mode(const char* mode);

}  // namespace llamada::mpi::interpose
