#pragma once

#include "replay/protection.hpp"

namespace llamada::mpi {

/// give_up_protection() for a call of MPI: `what` names in a few words what it begins ("one-sided
/// communication"). Always MPI_SUCCESS.
int give_up_protection(const char* what);

}  // namespace llamada::mpi
