#pragma once

#include <string>

namespace llamada::tools {

/// Jobs with DURABILITY PERSISTENT that are kept in `store` (see launcher::job_store_directory()): what can
/// be resumed, and what runs. Returns the exit code.
int list_kept_jobs(const std::string& store, bool as_json);

/// Removes one, so that it cannot be resumed. Returns the exit code: 0, 1 when it runs or cannot be removed,
/// 2 when there is no such job.
int remove_kept_job(const std::string& store, const std::string& number);

}  // namespace llamada::tools
