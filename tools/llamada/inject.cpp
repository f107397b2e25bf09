#include "inject.hpp"

#include <fmt/format.h>

#include <cstdio>

#include "fail.hpp"
#include "job_choice.hpp"
#include "llamada/llamanet/inject.hpp"

namespace llamada::tools {

int inject(const std::string& job, const std::string& rule) {
  const auto chosen = choose_job(job);
  if (!chosen) return refuse(no_such_job, chosen.error().text());
  const auto done = llamanet::inject(chosen->socket_name, rule);
  if (!done) return refuse(1, done.error().text());
  fmt::print("{}\n", *done);
  return 0;
}

}  // namespace llamada::tools
