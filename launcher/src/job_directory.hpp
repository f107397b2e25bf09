#pragma once

#include <string>

#include "llamada/base/result.hpp"

// The directory of a kept job comes and goes in one step, whenever a process is killed: a name of 16
// hexadecimal digits always has a job that is whole.

namespace llamada::launcher {

/// Where the store of a job that is to be kept in `directory` is made first.
std::string unborn_directory(const std::string& directory);

/// The store in unborn_directory() has a job: it gets its name, durably. Errors: those of the system.
Status publish_job(const std::string& directory);

/// Takes the name of a job away whose store can no longer be written: it cannot be resumed. Errors: those of
/// the system.
Status unname_job(const std::string& directory);

/// Also one without a name. Errors: already_exists when a process writes the store; not_found; those of the
/// system.
Status remove_job(const std::string& directory);

/// Removes what killed processes have left of jobs without a name beside `directory`.
void remove_leftovers_beside(const std::string& directory);

}  // namespace llamada::launcher
