#pragma once

namespace llamada::tools {

/// `llamada doctor`: one line for each thing that an administrator could set, and what it brings or costs.
/// Returns the exit code: 0, as nothing of it is needed to work.
int diagnose();

}  // namespace llamada::tools
