#pragma once

#include "llamada/base/result.hpp"

namespace llamada::tools {

/// Says on standard error why a subcommand failed. Its exit code.
int fail(const Error& error);

}  // namespace llamada::tools
