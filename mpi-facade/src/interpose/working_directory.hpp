#pragma once

#include "interpose/functions.hpp"

/// The rank's working directory, by chdir() and fchdir(). A replacement goes where its predecessor went. A
/// directory that is gone by then does no harm if the program has left it: only a name that is looked up
/// from there has to find it.
namespace llamada::mpi::interpose {

/// To be called before a call that is new looks up a name from the working directory. Ends the job as
/// diverged if that directory is gone. Threads: the rank's.
void working_directory_must_be_there(replay::Determinants& determinants);

}  // namespace llamada::mpi::interpose
