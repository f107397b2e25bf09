#include "job_choice.hpp"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <charconv>
#include <optional>

#include "llamada/llamanet/inspector.hpp"

namespace llamada::tools {
namespace {

constexpr std::string_view job_prefix = "job-";

std::optional<std::int32_t> process_id(const std::string& text) {
  std::int32_t pid = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), pid);
  if (error != std::errc() || end != text.data() + text.size() || pid <= 0) return std::nullopt;
  return pid;
}

bool is_named(const FoundJob& job, const std::string& wanted) {
  return wanted.empty() || job.name.starts_with(wanted) ||
         job.name.substr(job_prefix.size()).starts_with(wanted);
}

std::string names_of(const std::vector<FoundJob>& jobs) {
  std::string names;
  for (const FoundJob& job : jobs) names += (names.empty() ? "" : ", ") + job.name;
  return names;
}

}  // namespace

Result<std::vector<FoundJob>> find_jobs() {
  auto drivers = llamanet::find_drivers(::geteuid());
  if (!drivers) return propagate(drivers);
  std::vector<FoundJob> jobs;
  for (const std::string& socket_name : drivers->names) {
    std::string name = socket_name.substr(socket_name.rfind('/') + 1);
    if (name.starts_with(job_prefix)) jobs.push_back({std::move(name), socket_name});
  }
  return jobs;
}

Result<FoundJob> choose_job(const std::string& wanted) {
  auto jobs = find_jobs();
  if (!jobs) return propagate(jobs);
  if (jobs->empty()) return failure(Errc::not_found, "no job of this user is running on this node");
  std::vector<FoundJob> fitting;
  std::ranges::copy_if(*jobs, std::back_inserter(fitting),
                       [&](const FoundJob& job) { return is_named(job, wanted); });
  // A process id has fewer digits than a job's name: nothing else can be meant by it once it is found.
  if (const auto pid = process_id(wanted)) {
    if (auto found = llamanet::find_job_driver(::geteuid(), *pid)) {
      fitting.clear();
      std::ranges::copy_if(*jobs, std::back_inserter(fitting),
                           [&](const FoundJob& job) { return job.socket_name == *found; });
    }
  }
  if (fitting.size() == 1) return fitting.front();
  if (fitting.empty())
    return failure(Errc::not_found,
                   "there is no job '{}'; there are: {} (or name the process id of its mpirun)", wanted,
                   names_of(*jobs));
  return failure(Errc::invalid_argument, "which job? There are: {} (or name the process id of its mpirun)",
                 names_of(fitting));
}

}  // namespace llamada::tools
