#pragma once

#include <string>

namespace llamada::tools {

/// Has a failure done to a running job of this user (docs/injection.md). `job`: see choose_job(). Returns the
/// exit code: 0, 1 when the job does not take the rule, 2 when there is no such job.
int inject(const std::string& job, const std::string& rule);

}  // namespace llamada::tools
