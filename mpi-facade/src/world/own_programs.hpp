#pragma once

#include <string>
#include <vector>

#include "llamada/base/result.hpp"

namespace llamada::mpi {

/// Starts a program of Llamada's ("mpirun", "llamanetd"), as a process that is no child of this one.
/// `descriptors` are what it gets as 0, 1, 2 and so on, and no others; -1: /dev/null. Errors: not_found,
/// system.
Status start_own_program(const std::string& name, std::vector<std::string> arguments,
                         std::vector<int> descriptors);

}  // namespace llamada::mpi
