#pragma once

#include <string>
#include <vector>

namespace llamada::tools {

/// `llamada doctor`: one line for each thing that an administrator could set, and what it brings or costs.
/// Returns the exit code: 0, as nothing of it is needed to work.
int diagnose();

/// `llamada doctor --nodes`: becomes the mpirun that lies beside this program, which looks at the hosts that
/// these of its options name and at the links between them. Returns an exit code only if that cannot be.
int diagnose_nodes(const std::vector<std::string>& options);

}  // namespace llamada::tools
