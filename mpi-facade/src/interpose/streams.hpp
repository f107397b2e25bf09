#pragma once

#include <cstdio>

#include "interpose/functions.hpp"

/// libc writes and reads what its own streams hold past our write() and read(). So the stream of a file that
/// is followed is one of ours, which goes through write_any() and read_any().
///
/// Threads: the functions may be called by any.
namespace llamada::mpi::interpose {

/// What ends the protection where a program opens a file of wide characters.
constexpr const char* wide_file = "a file of wide characters (fgetwc, fwprintf and the like)";

/// fopen() by the rank. Null and errno on failure: EMFILE when too many such streams are open.
FILE* open_stream(replay::Determinants& determinants, const char* path, const char* mode);
/// freopen() of one of our streams, for which libc's has no way. Recorded if there are determinants.
FILE* reopen_stream(replay::Determinants* determinants, const char* path, const char* mode, FILE* file);

/// fdopen() of a descriptor that is followed, or libc's own for others.
FILE* make_stream(int descriptor, const char* mode);

/// Makes a stream of ours, from which nothing was read or written yet, one of libc's on the same descriptor,
/// which may be of wide characters.
void give_to_libc(FILE* file);

/// The descriptor of a stream that the two above made; -1 for libc's own.
int descriptor_of_stream(FILE* file);

}  // namespace llamada::mpi::interpose
