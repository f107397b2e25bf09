#pragma once

namespace llamada::mpi {

/// Writes what the program has printed and its streams still hold: C's streams, std::cout and its like
/// (libstdc++'s and libc++'s), the units of gfortran. For a process that ends by _exit() at the program's
/// will, as by MPI_Abort; other buffers, such as those of a std::ofstream, are out of reach.
///
/// A stream's lock may be held for ever, by a thread that waits for input, or by the caller itself in a
/// signal handler. So `end(context)` is called in a signal handler if this takes longer than 5 s or ends by a
/// signal; it must end the process, and may call only what a signal handler may. A second call from within
/// returns at once, one from another thread waits for the end of the process.
///
/// Threads: any.
void write_last_output(void (*end)(void* context), void* context);

}  // namespace llamada::mpi
