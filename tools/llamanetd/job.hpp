#pragma once

#include "llamada/launcher/adoption.hpp"
#include "llamada/launcher/job_arenas.hpp"

namespace llamada::tools {

/// The arenas of a job, by llamaNET's driver.
launcher::ArenasFactory arenas_factory();

/// The driver of one MPI job, which mpirun started: its end of their socket is `control_descriptor`, and
/// `last_word_descriptor` a launcher::LastWord. With an
/// adoption another launcher has started the ranks of this node. Returns the exit code.
int run_job(int control_descriptor, int last_word_descriptor, launcher::Adoption adoption);

}  // namespace llamada::tools
