#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "llamada/base/result.hpp"
#include "llamada/launcher/job_control.hpp"
#include "llamada/launcher/options.hpp"

// Jobs with DURABILITY PERSISTENT, each in a directory below one of the user: DIRECTORY/<16 hexadecimal
// digits>. docs/internals/job-store.md has what is in it.

namespace llamada::launcher {

/// Where jobs are kept: `named` (--store), else LLAMADA_STORE, else $XDG_STATE_HOME/llamada/jobs, else
/// ~/.local/state/llamada/jobs. Absolute. Errors: not_found, there is no home directory.
Result<std::string> job_store_directory(const std::string& named, const Environment& environment);

/// A job that is kept.
struct KeptJob {
  std::string number;     ///< 16 hexadecimal digits
  std::string directory;  ///< its own
  control::Start plan;
  std::optional<int> process;     ///< that runs it now
  std::vector<std::string> code;  ///< describe_code() of all files that its ranks have mapped
  std::map<std::uint64_t, std::uint64_t>
      shown;        ///< bytes of output that were shown, by 2 rank + stream (1, 2)
  std::string end;  ///< why it cannot be resumed; empty: it can
  std::uint64_t size_bytes = 0;
  std::string error;  ///< why it cannot be read; `plan` is empty then
};

/// All of a directory, by number; none where there is no such directory. Errors: those of the system.
Result<std::vector<KeptJob>> list_kept_jobs(const std::string& directory);

/// The one whose number begins with `number`. Errors: not_found (with those that there are), invalid_argument
/// (several do).
Result<KeptJob> find_kept_job(const std::string& directory, const std::string& number);

/// Errors: already_exists when it runs; those of the system.
Status remove_kept_job(const KeptJob& job);

}  // namespace llamada::launcher
