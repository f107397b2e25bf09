#pragma once

#include <cstdio>

/// /dev/urandom and /dev/random as files: what a rank reads from them is recorded as what getrandom() gives
/// is.
namespace llamada::mpi::interpose {

bool is_random_path(const char* path);

/// The descriptor is such a device, opened by the rank's thread.
void mark_random(int descriptor);
bool is_random(int descriptor);

/// fopen() of such a device by the rank's thread. Null and errno on failure: EMFILE when too many such
/// streams are open.
FILE* open_random_stream(const char* path, const char* mode);
/// The descriptor of a stream that the function above made; -1 for all others.
int descriptor_of_random(FILE* file);

}  // namespace llamada::mpi::interpose
