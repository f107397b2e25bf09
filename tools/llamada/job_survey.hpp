#pragma once

#include "llamada/base/result.hpp"
#include "llamada/llamanet/inspector.hpp"
#include "llamada/waits/judge.hpp"

namespace llamada::tools {

/// Asks all ranks of a job what they wait for, and waits for the answers a moment. Ranks are named as their
/// slots are. Errors: closed.
Result<waits::Survey> survey_job(llamanet::Inspector& driver);

}  // namespace llamada::tools
