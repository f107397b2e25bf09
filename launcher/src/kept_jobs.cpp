#include "llamada/launcher/kept_jobs.hpp"

#include <algorithm>
#include <filesystem>
#include <system_error>
#include <utility>

#include "job_directory.hpp"
#include "job_past.hpp"
#include "llamada/store/segment_store.hpp"

namespace llamada::launcher {
namespace {

namespace fs = std::filesystem;

bool is_job_number(const std::string& name) {
  constexpr std::string_view digits = "0123456789abcdef";
  return name.size() == 16 && name.find_first_not_of(digits) == name.npos;
}

KeptJob look_at(const fs::path& directory) {
  KeptJob job;
  job.number = directory.filename().string();
  job.directory = directory.string();
  job.process = store::writer_of(job.directory);
  std::error_code ignored;
  for (const fs::directory_entry& file : fs::directory_iterator(directory, ignored))
    if (const auto size = file.file_size(ignored); !ignored) job.size_bytes += size;
  store::SegmentOptions options;
  options.read_only = true;
  auto store = store::open_segment_store(job.directory, options);
  auto past = store ? read_plan(**store) : propagate(store);
  if (!past) return job.error = past.error().text(), job;
  job.plan = std::move(past->plan);
  job.code = std::move(past->code);
  job.shown = std::move(past->confirmed);
  job.end = std::move(past->end);
  return job;
}

}  // namespace

Result<std::string> job_store_directory(const std::string& named, const Environment& environment) {
  const auto value = [&](const char* name) { return environment(name).value_or(""); };
  fs::path directory = named.empty() ? value("LLAMADA_STORE") : named;
  if (directory.empty() && !value("XDG_STATE_HOME").empty())
    directory = fs::path(value("XDG_STATE_HOME")) / "llamada/jobs";
  if (directory.empty() && !value("HOME").empty())
    directory = fs::path(value("HOME")) / ".local/state/llamada/jobs";
  if (directory.empty())
    return failure(
        Errc::not_found,
        "there is no directory for the record of the job, because HOME is not set; name one with --store");
  std::error_code code;
  directory = fs::absolute(directory, code);
  if (code) return system_failure("the working directory", code.value());
  return directory.lexically_normal().string();
}

Result<std::vector<KeptJob>> list_kept_jobs(const std::string& directory) {
  std::vector<KeptJob> jobs;
  std::error_code code;
  fs::directory_iterator entries(directory, code);
  if (code == std::errc::no_such_file_or_directory) return jobs;
  if (code) return system_failure(fmt::format("reading {}", directory), code.value());
  for (const fs::directory_entry& entry : entries)
    if (is_job_number(entry.path().filename().string())) jobs.push_back(look_at(entry.path()));
  std::ranges::sort(jobs, {}, &KeptJob::number);
  return jobs;
}

Result<KeptJob> find_kept_job(const std::string& directory, const std::string& number) {
  auto jobs = list_kept_jobs(directory);
  if (!jobs) return propagate(jobs);
  std::string numbers;
  for (const KeptJob& job : *jobs) numbers += (numbers.empty() ? "" : ", ") + job.number;
  std::erase_if(*jobs, [&](const KeptJob& job) { return number.empty() || !job.number.starts_with(number); });
  if (jobs->empty())
    return failure(Errc::not_found, "no job {} is kept in {}; there {}", number, directory,
                   numbers.empty() ? "is none" : "are: " + numbers);
  if (jobs->size() > 1)
    return failure(Errc::invalid_argument, "the numbers of {} jobs kept in {} begin with '{}': {}",
                   jobs->size(), directory, number, numbers);
  return std::move(jobs->front());
}

Status remove_kept_job(const KeptJob& job) { return remove_job(job.directory); }

}  // namespace llamada::launcher
