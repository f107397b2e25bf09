#pragma once

#include <string>
#include <vector>

#include "control.hpp"

namespace llamada::bed {

/// Runs a command in a node, in this working directory where that is there, and with LLAMADA_BED and
/// LLAMADA_BED_NODE in its environment. SIGINT, SIGTERM, SIGHUP, SIGUSR1 and SIGUSR2 are handed on; it is
/// killed if this process ends first. Gives its exit status, 128 + signal where it was killed. Errors: those
/// of ask(), system.
Result<int> run_in_node(const BedName& bed, const std::string& node, const std::vector<std::string>& command);

/// The same beside the bed, with LLAMADA_BED alone.
Result<int> run_beside(const BedName& bed, const std::vector<std::string>& command);

}  // namespace llamada::bed
