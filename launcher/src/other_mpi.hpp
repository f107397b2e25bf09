#pragma once

#include <sys/types.h>

#include <string>
#include <vector>

namespace llamada::launcher {

/// A library of MPI that is not ours among these files; empty if there is none, or ours is among them, too.
std::string other_mpi_among(const std::vector<std::string>& libraries);

/// The same of what a running process has mapped.
std::string other_mpi_of_process(pid_t pid);

/// The same of what the dynamic loader would load for the program, which is not run. Empty for what is no
/// dynamic program (a script, say).
std::string other_mpi_of_program(const std::string& program, const std::vector<std::string>& environment,
                                 const std::string& directory);

/// What a person should know of a job whose ranks used that library.
std::string describe_other_mpi(const std::string& library, std::size_t rank_count);

}  // namespace llamada::launcher
