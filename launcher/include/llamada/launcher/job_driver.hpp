#pragma once

#include "llamada/base/file_descriptor.hpp"
#include "llamada/launcher/adoption.hpp"
#include "llamada/launcher/inject.hpp"
#include "llamada/launcher/job_arenas.hpp"
#include "llamada/launcher/last_word.hpp"

namespace llamada::launcher {

/// What `llamanetd --job` does: takes a job from the mpirun at the other end of `control`, starts
/// its ranks, is their parent, passes their input and output on, judges their deaths and replaces them, and
/// tells the exit code of the job. Returns the exit code of llamanetd: 0 once mpirun has been told, another
/// one if it is lost. It does not start the ranks of `adoption`, but takes them in. One thread, the one that
/// must stay alive: the ranks die with it.
int run_job_driver(FileDescriptor control, LastWord last_word, const ArenasFactory& make_arenas,
                   IsMpiFunction is_mpi_function, Adoption adoption);

}  // namespace llamada::launcher
