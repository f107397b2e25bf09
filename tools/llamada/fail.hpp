#pragma once

#include <string>

#include "llamada/base/result.hpp"

namespace llamada::tools {

/// Says on standard error why a subcommand failed. Its exit code.
int fail(const Error& error);

/// The exit code where a command names a job that there is not.
inline constexpr int no_such_job = 2;
/// Says why, and gives the exit code.
int refuse(int exit_code, const std::string& why);

}  // namespace llamada::tools
