#pragma once

#include <sys/stat.h>
#include <sys/types.h>

#include <cstddef>

#include "interpose/descriptors.hpp"

/// What a rank under rank_replacement REBUILD reads from and writes into files that are followed: a
/// replacement writes nothing again, and reads what its predecessor had read.
///
/// Threads: the rank's.
namespace llamada::mpi::interpose {

/// At the descriptor's own offset, which moves on.
constexpr off_t at_offset = -1;

/// read() or pread(), write() or pwrite(): the result, or -1 and errno.
ssize_t read_followed(replay::Determinants& determinants, int descriptor, const Followed& what, void* buffer,
                      std::size_t size_bytes, off_t place = at_offset);
ssize_t write_followed(replay::Determinants& determinants, int descriptor, const Followed& what,
                       const void* bytes, std::size_t size_bytes, off_t place = at_offset);

/// The same for any descriptor and any caller: what the streams of open_stream() use.
ssize_t read_any(int descriptor, void* buffer, std::size_t size_bytes);
ssize_t write_any(int descriptor, const void* bytes, std::size_t size_bytes);

/// lseek(): the end of a file that is followed is where it was recorded.
off_t seek(replay::Determinants* determinants, int descriptor, off_t offset, int whence);

/// ftruncate() and the like; `size_bytes` is part of what is compared.
long truncate_followed(replay::Determinants& determinants, int descriptor, off_t size_bytes);

}  // namespace llamada::mpi::interpose
