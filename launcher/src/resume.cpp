#include "resume.hpp"

#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <utility>

#include "installation.hpp"
#include "llamada/launcher/job_number.hpp"
#include "program_files.hpp"
#include "rank_environment.hpp"

namespace llamada::launcher {
namespace {

/// Whether the job of the past can go on here.
Status check_resumable(const KeptJob& job) {
  if (job.process)
    return failure(Errc::already_exists, "the job {} is running (process {})", job.number, *job.process);
  if (!job.error.empty())
    return failure(Errc::parse_error, "the job {} cannot be resumed: {}", job.number, job.error);
  if (!job.end.empty())
    return failure(Errc::unsupported, "the job {} cannot be resumed: {}", job.number, job.end);
  if (const std::string here = describe_processor(); job.plan.storing.processor != here)
    return failure(Errc::unsupported,
                   "the job {} cannot be resumed here: it ran on {}, and this is {}, where its program may "
                   "compute other results",
                   job.number, job.plan.storing.processor, here);
  if (!job.plan.nodes.empty()) return {};  // each node looks at its own files
  for (const std::string& line : job.code) {
    const std::string path = line.substr(0, line.find('\t'));
    if (describe_code(path) != line)
      return failure(Errc::unsupported,
                     "the job {} cannot be resumed: {} has changed or is gone since its ranks ran it",
                     job.number, path);
  }
  return {};
}

/// --store among the options, before it is known what these mean.
std::string store_in(std::span<const std::string> words) {
  for (std::size_t at = 0; at < words.size(); ++at)
    for (const std::string_view name : {"--store", "-store"}) {
      if (words[at] == name && at + 1 < words.size()) return words[at + 1];
      if (words[at].starts_with(std::string(name) + "=")) return words[at].substr(name.size() + 1);
    }
  return {};
}

}  // namespace

Result<std::string> directory_of_job(const Options& options, std::uint64_t job_number) {
  auto directory = job_store_directory(options.store, own_variable);
  if (!directory) return directory;
  return *directory + "/" + job_number_text(job_number);
}

Result<control::Storing> storing_for(const Options& options, std::uint64_t job_number) {
  auto directory = directory_of_job(options, job_number);
  if (!directory) return propagate(directory);
  control::Storing storing;
  storing.directory = std::move(*directory);
  storing.words = options.words;
  for (char** entry = environ; *entry != nullptr; ++entry) storing.environment.emplace_back(*entry);
  storing.working_directory = current_directory().value_or("/");
  storing.file_mode_mask = umask(0);
  umask(storing.file_mode_mask);
  storing.processor = describe_processor();
  return storing;
}

Result<KeptJob> find_resumable(std::span<const std::string> words) {
  auto directory = job_store_directory(store_in(words.subspan(1)), own_variable);
  if (!directory) return propagate(directory);
  auto job = find_kept_job(*directory, words[0]);
  if (!job) return job;
  if (auto status = check_resumable(*job); !status) return propagate(status);
  return job;
}

Result<Options> options_of_resumed(const KeptJob& job, std::span<const std::string> further) {
  const control::Storing& storing = job.plan.storing;
  if (chdir(storing.working_directory.c_str()) != 0)
    return system_failure(fmt::format("the working directory {} of the job", storing.working_directory));
  umask(storing.file_mode_mask);
  const auto variable_of_job = [&storing](std::string_view name) -> std::optional<std::string> {
    std::string value = variable_in(storing.environment, name);
    return value.empty() ? std::nullopt : std::optional(std::move(value));
  };
  return parse_options_of_resumed(storing.words, further, variable_of_job);
}

Status take_from(const KeptJob& kept, control::Start& job) {
  if (job.node_of_rank != kept.plan.node_of_rank)
    return failure(Errc::unsupported,
                   "the job {} ran on {} nodes, and ranks that shared a node must share one again: give "
                   "hosts and slots that allow it",
                   kept.number, std::max<std::size_t>(kept.plan.nodes.size(), 1));
  control::Start resumed = kept.plan;
  resumed.nodes = std::move(job.nodes);
  resumed.spares = std::move(job.spares);
  resumed.inject_rules = std::move(job.inject_rules);
  resumed.link = job.link;
  resumed.verbose = job.verbose;
  resumed.print_exit_codes = job.print_exit_codes;
  resumed.ends_at_deadlock = job.ends_at_deadlock;
  resumed.storing.directory = kept.directory;
  resumed.storing.is_resumed = 1;
  job = std::move(resumed);
  return {};
}

}  // namespace llamada::launcher
