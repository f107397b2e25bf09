#pragma once

#include "replay/determinants.hpp"

/// The functions of libc whose answers a program cannot foretell. Under rank_replacement REBUILD libmpi's own
/// versions of them record what the program was told, from the start of the process on, and repeat it in a
/// replacement. Everybody else gets the kernel's answer: other profiles (one branch), processes that are no
/// rank, children of fork(), other threads than the one that began the process, and the facade itself.
namespace llamada::mpi::interpose {

/// The rank's determinants when its outcomes are recorded or replayed and the caller is the thread that is
/// the rank; else null. Joins the job at the first call of a rank under REBUILD.
replay::Determinants* determinants_of_caller();

/// For MPI_Init: the determinants if a call above has opened them; else null.
replay::Determinants* opened_determinants();

}  // namespace llamada::mpi::interpose
