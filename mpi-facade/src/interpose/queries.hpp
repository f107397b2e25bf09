#pragma once

#include <sys/stat.h>

namespace llamada::mpi::interpose {

/// fstatat(), recorded if the caller is the rank: 0, or -1 and errno.
int status(const char* path, struct stat* found, int flags);

}  // namespace llamada::mpi::interpose
