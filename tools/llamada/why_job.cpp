#include "why_job.hpp"

#include <fmt/format.h>

#include <cstdio>

#include "job_choice.hpp"
#include "job_survey.hpp"
#include "llamada/waits/text.hpp"
#include "stack.hpp"

namespace llamada::tools {
namespace {

using llamanet::Inspector;
using Course = waits::SurveyedRank::Course;

int fail(const std::string& text) {
  fmt::print(stderr, "llamada: {}\n", text);
  return 2;
}

std::uint32_t pid_of(const Inspector& driver, std::uint32_t slot) {
  for (const auto& each : driver.slots())
    if (each.index == slot) return each.pid;
  return 0;
}

void print_stack_of(const Inspector& driver, const waits::Survey& ranks, std::uint32_t rank) {
  if (ranks[rank].course == Course::ended) return;
  const std::uint32_t pid = pid_of(driver, rank);
  if (pid == 0) return;
  fmt::print("The stack of {} (pid {}):\n", ranks[rank].name, pid);
  std::fflush(stdout);
  if (auto shown = print_stack(static_cast<std::int32_t>(pid)); !shown)
    fmt::print("  {}\n", shown.error().text());
}

/// Two looks, as a single one may find messages under way.
void print_deadlock(Inspector& driver, const waits::Survey& first) {
  auto second = survey_job(driver);
  if (!second) return;
  const waits::Verdict verdict = waits::judge(first, *second);
  if (!verdict.stuck.empty()) fmt::print("{}\n", waits::describe_deadlock(*second, verdict));
}

int explain_rank(Inspector& driver, const waits::Survey& ranks, std::uint32_t rank) {
  if (rank >= ranks.size())
    return fail(fmt::format("this job has no rank {}; its last is rank {}", rank, ranks.size() - 1));
  fmt::print("{}.\n", waits::describe_wait(ranks, rank));
  if (const std::string unmatched = waits::describe_unmatched(ranks, rank); !unmatched.empty())
    fmt::print("{}\n", unmatched);
  const auto chain = waits::chain_from(ranks, rank);
  if (chain.size() > 1) fmt::print("{}.\n", waits::describe_chain(ranks, rank));
  for (std::size_t i = 1; i < chain.size(); ++i) fmt::print("{}.\n", waits::describe_wait(ranks, chain[i]));
  print_deadlock(driver, ranks);
  print_stack_of(driver, ranks, chain.back());
  return 0;
}

int explain_all(Inspector& driver, const waits::Survey& ranks) {
  fmt::print("{}:\n{}", driver.name(), waits::describe_job(ranks));
  print_deadlock(driver, ranks);
  if (const auto last = waits::find_last(ranks)) print_stack_of(driver, ranks, *last);
  return 0;
}

}  // namespace

int explain_job(const std::string& job, std::optional<std::uint32_t> rank) {
  const auto chosen = choose_job(job);
  if (!chosen) return fail(chosen.error().text());
  auto driver = Inspector::open(chosen->socket_name);
  if (!driver) return fail(driver.error().text());
  auto ranks = survey_job(*driver);
  if (!ranks) return fail(ranks.error().text());
  if (ranks->empty()) return fail("the job has no ranks yet");
  return rank ? explain_rank(*driver, *ranks, *rank) : explain_all(*driver, *ranks);
}

}  // namespace llamada::tools
