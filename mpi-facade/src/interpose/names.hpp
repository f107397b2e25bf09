#pragma once

#include <sys/types.h>

#include "interpose/functions.hpp"

namespace llamada::mpi::interpose {

/// mkdir() and unlink() by the rank's thread, recorded: 0, or -1 and errno.
int make_directory(replay::Determinants& determinants, const char* path, mode_t mode);
int remove_file(replay::Determinants& determinants, const char* path);

}  // namespace llamada::mpi::interpose
