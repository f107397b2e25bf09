#include "job.hpp"

#include <fmt/format.h>

#include <nlohmann/json.hpp>
#include <utility>

#include "fail.hpp"
#include "llamada/launcher/kept_jobs.hpp"

namespace llamada::tools {
namespace {

std::string state_of(const launcher::KeptJob& job) {
  if (job.process) return fmt::format("runs (process {})", *job.process);
  if (!job.error.empty()) return "cannot be resumed: " + job.error;
  if (!job.end.empty()) return "cannot be resumed: " + job.end;
  return "can be resumed";
}

std::string command_of(const launcher::KeptJob& job) {
  std::string text;
  for (const std::string& word : job.plan.storing.words) text += (text.empty() ? "" : " ") + word;
  return text;
}

void print_as_json(const std::vector<launcher::KeptJob>& jobs) {
  nlohmann::json list = nlohmann::json::array();
  for (const launcher::KeptJob& job : jobs)
    list.push_back({{"number", job.number},
                    {"process", job.process ? nlohmann::json(*job.process) : nlohmann::json()},
                    {"refusal", job.error.empty() ? job.end : job.error},
                    {"ranks", job.plan.rank_count},
                    {"size_bytes", job.size_bytes},
                    {"working_directory", job.plan.storing.working_directory},
                    {"arguments", job.plan.storing.words}});
  fmt::print("{}\n", nlohmann::json{{"jobs", std::move(list)}}.dump(2));
}

}  // namespace

int list_kept_jobs(const std::string& store, bool as_json) {
  const auto directory = launcher::job_store_directory(store, launcher::own_variable);
  if (!directory) return refuse(1, directory.error().text());
  const auto jobs = launcher::list_kept_jobs(*directory);
  if (!jobs) return refuse(1, jobs.error().text());
  if (as_json) return print_as_json(*jobs), 0;
  if (jobs->empty()) fmt::print("No job is kept in {}.\n", *directory);
  for (const launcher::KeptJob& job : *jobs)
    fmt::print("{}  {} ranks, {:.1f} MiB, {}\n    in {}: mpirun {}\n", job.number, job.plan.rank_count,
               static_cast<double>(job.size_bytes) / (1 << 20), state_of(job),
               job.plan.storing.working_directory, command_of(job));
  return 0;
}

int remove_kept_job(const std::string& store, const std::string& number) {
  const auto directory = launcher::job_store_directory(store, launcher::own_variable);
  if (!directory) return refuse(1, directory.error().text());
  const auto job = launcher::find_kept_job(*directory, number);
  if (!job) return refuse(no_such_job, job.error().text());
  if (job->process) return refuse(1, fmt::format("the job {} runs (process {})", job->number, *job->process));
  const auto removed = launcher::remove_kept_job(*job);
  if (!removed) return refuse(1, removed.error().text());
  fmt::print("The job {} is removed.\n", job->number);
  return 0;
}

}  // namespace llamada::tools
