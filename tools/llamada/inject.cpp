#include "inject.hpp"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <cstdio>
#include <string_view>
#include <vector>

#include "llamada/llamanet/inject.hpp"
#include "llamada/llamanet/inspector.hpp"

namespace llamada::tools {
namespace {

constexpr int no_such_job = 2;

/// "job-<number>-<node>" of "llamada/<uid>/job-<number>-<node>".
std::string_view job_in(std::string_view socket_name) {
  const std::string_view name = socket_name.substr(socket_name.rfind('/') + 1);
  return name.starts_with("job-") ? name : std::string_view();
}

/// The names of the sockets of the jobs that `job` may mean. A job on node 0 has its coordinator there.
Result<std::vector<std::string>> find_jobs(std::string_view job) {
  auto found = llamanet::find_drivers(::geteuid());
  if (!found) return propagate(found);
  std::erase_if(found->names, [job](const std::string& name) {
    const std::string_view each = job_in(name);
    return each.empty() || (!each.starts_with(job) && !each.substr(4).starts_with(job));
  });
  return std::move(found->names);
}

int refuse(int exit_code, const std::string& why) {
  fmt::print(stderr, "llamada: {}\n", why);
  return exit_code;
}

}  // namespace

int inject(const std::string& job, const std::string& rule) {
  const auto names = find_jobs(job);
  if (!names) return refuse(no_such_job, names.error().text());
  if (names->empty())
    return refuse(no_such_job,
                  fmt::format("no job of this user has the number '{}'; llamada ls lists the jobs", job));
  if (names->size() > 1)
    return refuse(no_such_job, fmt::format("{} jobs have numbers that begin with '{}'; write more digits",
                                           names->size(), job));
  const auto done = llamanet::inject(names->front(), rule);
  if (!done) return refuse(1, done.error().text());
  fmt::print("{}\n", *done);
  return 0;
}

}  // namespace llamada::tools
