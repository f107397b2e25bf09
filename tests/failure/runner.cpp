#include "runner.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <fstream>
#include <stdexcept>

namespace llamada::failures {
namespace {

namespace fs = std::filesystem;

constexpr double run_seconds_least = 1.0;  ///< shorter runs are made longer
constexpr int scale_max = 256;
constexpr int attempts_max = 10;

/// A run that ends otherwise by itself has no reference of its own: a fault, an exit or a deadlock comes
/// before the answer.
bool has_reference(const Plan& plan) {
  return plan.expectation != Expectation::fault_reported && plan.expectation != Expectation::own_will &&
         plan.expectation != Expectation::deadlock_named;
}

/// For a program that has no reference, the length of one that paces its steps alike.
Workload measured_instead(const Plan& plan) {
  return has_reference(plan) ? plan.workload : Workload{"ring", ""};
}

Random random_of(std::uint64_t seed, std::uint64_t index, int attempt) {
  Random random(seed * 0x9e3779b97f4a7c15 + index * 64 + static_cast<std::uint64_t>(attempt));
  random.next();
  return random;
}

/// Rows in turn, the random ones more often.
int row_of(std::uint64_t index, int nodes) {
  static const int turns[] = {1, 4, 3, 6, 16, 1, 5, 17, 4, 18, 20, 1, 19, 6, 4, 2, 3, 7, 8, 25};
  static const int turns_on_nodes[] = {1, 4, 3, 6, 16, 1, 5, 17, 4, 18, 20, 1, 19, 6, 4, 2, 3};
  if (nodes > 1) return turns_on_nodes[index % std::size(turns_on_nodes)];
  return turns[index % std::size(turns)];
}

/// What --qos is given: the plan's profile, or, for a plan with a lease, a file in the folder of the run.
std::string profile_of(const Plan& plan, const fs::path& folder) {
  if (plan.lease_seconds <= 0) return plan.profile;
  const double whole = std::floor(plan.lease_seconds);
  fs::create_directories(folder);
  std::ofstream(folder / "lease.xml") << fmt::format(
      "<dds><qos_library name='l'><qos_profile name='p' base_name='llamada::fault_tolerant'><datawriter_qos>"
      "<liveliness><lease_duration><sec>{:.0f}</sec><nanosec>{:.0f}</nanosec></lease_duration></liveliness>"
      "</datawriter_qos></qos_profile></qos_library></dds>\n",
      whole, (plan.lease_seconds - whole) * 1e9);
  return folder / "lease.xml";
}

/// What spreads so many ranks over nodes, of which each has its own llamanetd.
std::vector<std::string> hosts_of(int ranks, int nodes) {
  nodes = std::min(nodes, ranks);
  if (nodes < 2) return {};
  std::string hosts;
  for (int node = 0; node < nodes; ++node)
    hosts += fmt::format("{}:{}", node == 0 ? "localhost" : fmt::format(",node{}", node),
                         ranks / nodes + (node < ranks % nodes ? 1 : 0));
  return {"--launcher", "fork", "--host", hosts};
}

}  // namespace

fs::path Runner::program_of(const Workload& workload) const {
  return options_.build / (workload.sample ? "samples" : "tests/failure") / workload.name;
}

std::vector<std::string> Runner::command_of(const Plan& plan, const Reference& reference,
                                            const fs::path& folder) const {
  std::vector<std::string> command = {
      options_.build / "bin/mpirun", "-n",       std::to_string(plan.ranks), "--qos",
      profile_of(plan, folder),      "--report", folder / "report.json"};
  const std::vector<std::string> hosts = hosts_of(plan.ranks, options_.nodes);
  command.insert(command.end(), hosts.begin(), hosts.end());
  if (plan.expectation == Expectation::deadlock_named)
    command.insert(command.end(), {"--on-deadlock", "end"});
  for (const Rule& rule : plan.rules)
    command.insert(command.end(), {"--inject", text_of(rule, reference.wall_seconds)});
  command.push_back(program_of(plan.workload));
  for (std::string& argument : arguments_of(plan.workload, reference.scale))
    command.push_back(std::move(argument));
  if (options_.nodes > 1 && plan.workload.name == "phases") command.push_back("-d");
  return command;
}

Reference Runner::measure(const Workload& workload, int ranks) {
  Plan plan;
  plan.workload = workload;
  plan.ranks = ranks;
  Reference reference;
  for (; reference.scale <= scale_max; reference.scale *= 2) {
    JobOrder order;
    order.folder = options_.folder / fmt::format("reference-{}-{}", workload.name + workload.kind, ranks);
    order.command = command_of(plan, reference, order.folder);
    order.ranks = ranks;
    order.hang_limits = options_.hang_limits;
    order.interrupted = options_.interrupted;
    const JobOutcome outcome = run_job(order);
    if (outcome.interrupted) throw std::runtime_error("interrupted");
    if (outcome.exit_code != 0 || outcome.hung)
      throw std::runtime_error(fmt::format("without any failure, {} on {} ranks ends with code {}{}:\n{}{}",
                                           label_of(workload), ranks, outcome.exit_code,
                                           outcome.hung ? " (hung)" : "", outcome.errors, outcome.dump));
    reference.output = outcome.output;
    reference.wall_seconds = outcome.wall_seconds;
    std::error_code error;
    fs::remove_all(order.folder, error);
    if (outcome.wall_seconds >= run_seconds_least) break;
  }
  return reference;
}

Reference Runner::reference_of(const Workload& workload, int ranks) {
  const std::lock_guard lock(mutex_);
  const std::string key = fmt::format("{} {}", label_of(workload), ranks);
  const auto found = references_.find(key);
  if (found != references_.end()) return found->second;
  return references_[key] = measure(workload, ranks);
}

RunResult Runner::attempt(std::uint64_t index, int number) {
  Random random = random_of(options_.seed, index, number);
  RunResult result;
  result.index = index;
  result.attempts = number + 1;
  result.plan = make_plan(options_.row != 0 ? options_.row : row_of(index, options_.nodes), random);
  // It comes to every step, those of shared file pointers too, which work on one node.
  if (options_.nodes > 1 && result.plan.workload.name == "every_step") result.plan.workload = {"files", ""};
  const Reference reference = reference_of(measured_instead(result.plan), result.plan.ranks);
  result.folder = options_.folder / fmt::format("run-{}-{}", index, number);
  JobOrder order;
  order.folder = result.folder;
  order.command = result.command = command_of(result.plan, reference, order.folder);
  order.kills = result.plan.kills;
  order.run_seconds = reference.wall_seconds;
  order.ranks = result.plan.ranks;
  order.hang_limits = options_.hang_limits;
  order.interrupted = options_.interrupted;
  const JobOutcome outcome = run_job(order);
  result.wall_seconds = outcome.wall_seconds;
  result.interrupted = outcome.interrupted;
  if (result.interrupted) return result;
  result.verdict = judge(result.plan, outcome, reference);
  if (const std::string files = files_left(); !files.empty())
    result.verdict.wrong.push_back("files are left:\n" + files);
  if (!outcome.dump.empty()) result.verdict.wrong.push_back(outcome.dump);
  return result;
}

RunResult Runner::run(std::uint64_t index) {
  for (int number = 0;; ++number) {
    RunResult result = attempt(index, number);
    if (result.interrupted) return result;
    const bool missed = result.verdict.missed;
    if (missed && result.verdict.wrong.empty() && number + 1 == attempts_max)
      result.verdict.wrong.push_back(
          fmt::format("in {} attempts no kill hit what it was meant for", attempts_max));
    if (!missed || !result.verdict.wrong.empty()) {
      std::error_code error;
      if (result.verdict.wrong.empty()) fs::remove_all(result.folder, error);
      return result;
    }
    std::error_code error;
    fs::remove_all(result.folder, error);
  }
}

std::string Runner::repeat_command(std::uint64_t index) const {
  const std::string row = options_.row != 0 ? fmt::format(" --row {}", options_.row) : "";
  const std::string nodes = options_.nodes > 1 ? fmt::format(" --nodes {}", options_.nodes) : "";
  return fmt::format("{} --seed {}{}{} --only {}", (options_.build / "tests/run_failures").string(),
                     options_.seed, row, nodes, index);
}

}  // namespace llamada::failures
