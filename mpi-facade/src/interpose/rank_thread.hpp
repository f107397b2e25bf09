#pragma once

#include "replay/determinants.hpp"

/// The functions of libc whose answers a program cannot foretell. Under rank_replacement REBUILD libmpi's own
/// versions of them record what the program was told, from the start of the process on, and repeat it in a
/// replacement. Everybody else gets the kernel's answer: other profiles (one branch), processes that are no
/// rank, children of fork(), other threads than the one that began the process (from MPI_Init on: the one
/// that called it), and the facade itself.
namespace llamada::mpi::interpose {

/// The rank's determinants when its outcomes are recorded or replayed and the caller is the thread that is
/// the rank; else null. Joins the job at the first call of a rank under REBUILD.
replay::Determinants* determinants_of_caller();

/// The determinants if they have been opened; else null.
replay::Determinants* opened_determinants();

/// Whether this process is a rank of a job under rank_replacement REBUILD, or a child of one.
bool is_recorded_rank();

/// Whether the program finds libmpi's functions before libc's: not so when libmpi is no library of its own,
/// only one of its libraries' (see start_over.hpp), or was opened by dlopen().
bool replaces_libc();

/// The calling thread is the rank from now on: that of a copy of the process that has taken over.
void become_rank_thread();

/// For MPI_Init, whose caller is the thread that is the rank from now on: the determinants, opened if nobody
/// has done so; null when nothing is recorded.
replay::Determinants* determinants_for_init();

}  // namespace llamada::mpi::interpose
