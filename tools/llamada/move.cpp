#include "move.hpp"

#include <fmt/format.h>

#include <cstdio>

#include "fail.hpp"
#include "job_choice.hpp"
#include "llamada/llamanet/inject.hpp"

namespace llamada::tools {
namespace {

/// The job takes it where it takes rules of `llamada inject` (launcher/src/job_moves.hpp).
int ask(const std::string& job, const std::string& request) {
  const auto chosen = choose_job(job);
  if (!chosen) return refuse(no_such_job, chosen.error().text());
  const auto done = llamanet::inject(chosen->socket_name, request);
  if (!done && done.error().code() == Errc::closed)
    return refuse(1, done.error().text() + "; the ranks of the job may just be starting again: try again");
  if (!done) return refuse(1, done.error().text());
  fmt::print("{}\n", *done);
  return 0;
}

}  // namespace

int drain(const std::string& job, const std::string& node) { return ask(job, "drain " + node); }

int migrate(const std::string& job, std::uint32_t rank, const std::string& node) {
  return ask(job, fmt::format("migrate {} {}", rank, node));
}

}  // namespace llamada::tools
