#pragma once

#include <sys/types.h>

#include <cstddef>
#include <cstdio>

#include "interpose/functions.hpp"

/// Standard input that comes from others, piece by piece: a pipe, a socket or a terminal. The launcher gives
/// a replacement the same bytes again, but other pieces. So under rank_replacement REBUILD what came of each
/// read is recorded, and a replacement reads as many bytes.
///
/// Threads: only what the rank's thread reads is recorded.
namespace llamada::mpi::interpose {

/// Before main(): from now on `stdin` reads by read_input(), too.
void begin_standard_input();

/// Whether the descriptor is the standard input that the process began with, under whatever number.
bool is_standard_input(int descriptor);

/// read() of such a descriptor.
ssize_t read_input(replay::Determinants& determinants, int descriptor, void* buffer, std::size_t size_bytes);

/// For freopen(): libc's own stream if the file is the one that begin_standard_input() put in its place,
/// which `stdin` names again from now on; else the file.
FILE* give_back_standard_input(FILE* file);

}  // namespace llamada::mpi::interpose
