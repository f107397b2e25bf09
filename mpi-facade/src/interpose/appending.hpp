#pragma once

#include <sys/types.h>

#include <cstddef>
#include <cstdint>

#include "interpose/descriptors.hpp"

/// What a rank appends to files (O_APPEND, fopen "a"), under rank_replacement REBUILD: it is recorded with
/// the place where it came to lie, and a replacement does not append it again. So each piece is in the file
/// once, whoever else appends to the file meanwhile.
///
/// Before a piece is written, its digest and the file's size are recorded; behind it, its place. When a rank
/// died between the two, its replacement looks at what lies behind that size: nothing, or a beginning of the
/// piece, which it completes. When others have appended there, nobody can tell: the job ends as diverged.
///
/// Threads: the rank's.
namespace llamada::mpi::interpose {

/// write() to a file that is followed as appended.
ssize_t append(replay::Determinants& determinants, int descriptor, const Followed& what, const void* bytes,
               std::size_t size_bytes);

/// Writes at a place, also where the descriptor appends. What cannot be written is left out.
void write_at(int descriptor, std::uint64_t place, const std::byte* bytes, std::size_t size_bytes);

}  // namespace llamada::mpi::interpose
