#pragma once

/// A program that names no function of libmpi's itself, only one of its libraries does, is loaded with libc
/// in front of libmpi: it never meets the functions of interpose/. Under rank_replacement REBUILD such a
/// process starts its program over before main(), once, with libmpi preloaded; the program sees the same
/// arguments, environment and process id. It does not where that would change more than the order of the
/// libraries: under valgrind, a sanitizer, an explicit loader, and where libmpi is opened by dlopen().
namespace llamada::mpi::interpose {

/// Returns when there is nothing to start over, or it is not possible (see replaces_libc()).
void start_over_behind_libc(char** arguments);

}  // namespace llamada::mpi::interpose
