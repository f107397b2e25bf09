#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "llamada/base/result.hpp"
#include "llamada/llamanet/inspector.hpp"
#include "llamada/waits/judge.hpp"

namespace llamada::tools {

/// The driver of a job, by its name as `llamada ls` shows it ("job-..."), or by the pid of its mpirun or
/// llamanetd. Empty: the only job of this user. Errors: not_found, invalid_argument (there are several jobs;
/// the text lists them), those of find_drivers().
Result<std::string> find_job(const std::string& job);

/// Asks all ranks of a job what they wait for, and waits for the answers a moment. Ranks are named as their
/// slots are. Errors: closed.
Result<waits::Survey> survey_job(llamanet::Inspector& driver);

}  // namespace llamada::tools
