#pragma once

#include <cstdio>

namespace llamada::mpi::interpose {

/// The descriptor of a stream that popen() gave the rank; -1 for all others.
int descriptor_of_command(FILE* file);

}  // namespace llamada::mpi::interpose
