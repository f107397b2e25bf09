#pragma once

#include <cstdint>
#include <span>
#include <string>

#include "llamada/base/result.hpp"
#include "llamada/launcher/job_control.hpp"
#include "llamada/launcher/kept_jobs.hpp"
#include "llamada/launcher/options.hpp"

// What mpirun notes of a job with DURABILITY PERSISTENT, and takes from there for --resume.

namespace llamada::launcher {

/// The directory of a job that is kept, and what names of others beside it begin with. Errors: those of
/// job_store_directory().
Result<std::string> directory_of_job(const Options& options, std::uint64_t job_number);

/// What mpirun --resume will need. Errors: those of job_store_directory().
Result<control::Storing> storing_for(const Options& options, std::uint64_t job_number);

/// The job that `words` (JOB [options]) name, if it can go on here. Errors: not_found; already_exists, it
/// runs; parse_error; unsupported, with the reason.
Result<KeptJob> find_resumable(std::span<const std::string> words);

/// The directory, the file mode mask and the options that the job was started with, and what is said now.
/// This process has that directory and mask from then on.
Result<Options> options_of_resumed(const KeptJob& job, std::span<const std::string> further);

/// The job runs as it did before, wherever that is now. Errors: unsupported, its ranks would not be together
/// as they were.
Status take_from(const KeptJob& kept, control::Start& job);

}  // namespace llamada::launcher
