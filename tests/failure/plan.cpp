#include "plan.hpp"

#include <fmt/format.h>
#include <signal.h>

#include <algorithm>

#include "deadlock_kinds.hpp"

namespace llamada::failures {
namespace {

constexpr int ranks_max = 4;

const std::vector<Workload>& workloads() {
  static const std::vector<Workload> all = {
      {"heat", "", true},
      {"matmul", "", true},
      {"farm", "", true, true},
      {"heat", "", true},
      {"farm", "", true, true},
      {"jacobi", "", true, true},
      {"ring", ""},
      {"collectives", ""},
      {"comm_storm", ""},
      {"big", ""},
      {"writer", ""},
      {"files", ""},
      {"clocks", "", false, true},
      {"ssend", ""},
      {"wildcards", "", false, true},
      {"wildcards", "recv", false, true},
      {"wildcards", "probe", false, true},
      {"wildcards", "iprobe", false, true},
      {"wildcards", "persistent", false, true},
      {"completion", "", false, true},
      {"completion", "test", false, true},
      {"completion", "waitany", false, true},
      {"completion", "cancel", false, true},
      {"slow_start", ""},
      {"every_step", "", false, true},
      {"phases", "", false, true},
      {"phases", "", false, true},
      {"phases", "", false, true},
  };
  return all;
}

/// The calls that row 4 kills in, with a program that makes them.
struct NamedCall {
  const char* call;
  Workload workload;
  int most;  ///< the last ordinal to kill at
};

const std::vector<NamedCall>& named_calls() {
  static const std::vector<NamedCall> all = {
      {"MPI_Init", {"ring", ""}, 1},
      {"MPI_Init", {"slow_start", ""}, 1},
      {"MPI_Finalize", {"ring", ""}, 1},
      {"MPI_Finalize", {"farm", "", true, true}, 1},
      {"MPI_Barrier", {"collectives", "barrier"}, 400},
      {"MPI_Bcast", {"collectives", "bcast"}, 400},
      {"MPI_Reduce", {"collectives", "reduce"}, 400},
      {"MPI_Allreduce", {"collectives", "allreduce"}, 400},
      {"MPI_Scan", {"collectives", "scan"}, 400},
      {"MPI_Gather", {"collectives", "gather"}, 400},
      {"MPI_Scatter", {"collectives", "scatter"}, 400},
      {"MPI_Allgather", {"collectives", "allgather"}, 400},
      {"MPI_Alltoall", {"collectives", "alltoall"}, 400},
      {"MPI_Alltoallv", {"collectives", "alltoallv"}, 400},
      {"MPI_Gatherv", {"collectives", "v"}, 400},
      {"MPI_Scatterv", {"collectives", "v"}, 400},
      {"MPI_Allgatherv", {"collectives", "v"}, 400},
      {"MPI_Reduce_scatter", {"collectives", "reduce_scatter"}, 400},
      {"MPI_Comm_split", {"comm_storm", ""}, 300},
      {"MPI_Comm_dup", {"comm_storm", ""}, 300},
      {"MPI_Comm_free", {"comm_storm", ""}, 300},
      {"MPI_Send", {"big", ""}, 0},  // by time: the large transfers are most of the run
  };
  return all;
}

/// A crash point of the library, and when a rank comes there.
struct Step {
  const char* name;
  std::uint64_t most;  ///< the last pass to kill at
  bool early = false;  ///< may come before the rank's first send
};

const std::vector<Step>& steps() {
  static const std::vector<Step> all = {{"attach:connected", 1, true},
                                        {"attach:answered", 1, true},
                                        {"attach:arena-opened", 1, true},
                                        {"attach:arena-mapped", 1, true},
                                        {"attach:peers-mapped", 1, true},
                                        {"attach:announced", 1, true},
                                        {"arena:header-written", 1, true},
                                        {"arena:header-committed", 1, true},
                                        {"directory:log-written", 2, true},
                                        {"directory:log-committed", 2, true},
                                        {"directory:cursor-written", 2, true},
                                        {"directory:cursor-committed", 2, true},
                                        {"publish:chunk-allocated", 2, true},
                                        {"publish:chunk-initialised", 2, true},
                                        {"publish:first-chunk-committed", 2, true},
                                        {"publish:reserve", 300, true},
                                        {"publish:payload-written", 20, true},
                                        {"publish:cell-written", 300, true},
                                        {"publish:committed", 300, true},
                                        {"publish:link-written", 2},
                                        {"publish:link-committed", 2},
                                        {"consume:peeked", 300},
                                        {"consume:advanced", 300},
                                        {"consume:link-followed", 2},
                                        {"consume:cursor-stored", 2},
                                        {"journal:entry-written", 200, true},
                                        {"journal:entry-committed", 200, true},
                                        {"journal:value-stored", 200, true},
                                        {"journal:count-stored", 200, true},
                                        {"wake:before-ring", 100, true},
                                        {"wake:rung", 100, true},
                                        {"sleep:flag-set", 100, true},
                                        {"sleep:asleep", 100, true},
                                        {"sleep:awake", 100, true},
                                        {"init:engine-made", 1, true},
                                        {"match:decided", 300, true},
                                        {"match:recorded", 300, true},
                                        {"match:delivered", 300, true},
                                        {"match:acknowledged", 300, true},
                                        {"probe:decided", 100, true},
                                        {"probe:recorded", 100, true},
                                        {"completion:decided", 100, true},
                                        {"completion:part-recorded", 100, true},
                                        {"completion:recorded", 100, true},
                                        {"fruitless:recorded", 100, true},
                                        {"cancel:decided", 100, true},
                                        {"cancel:recorded", 100, true},
                                        {"value:recorded", 100, true},
                                        {"random:part-recorded", 100, true},
                                        {"send:logged", 300, true},
                                        {"send:acknowledged", 300, true},
                                        {"collective:contributed", 300, true},
                                        {"collective:taken", 300, true},
                                        {"collective:passed", 300, true},
                                        {"communicator:agreed", 300, true},
                                        {"finalize:agreed", 1},
                                        {"finalize:done", 1}};
  return all;
}

/// The facade's own steps begin here.
const Step& facades_first_step() {
  static const Step& first = *std::find_if(steps().begin(), steps().end(), [](const Step& step) {
    return step.name == std::string_view("init:engine-made");
  });
  return first;
}

double fraction(Random& random, double low, double high) {
  return low + (high - low) * static_cast<double>(random.below(100000)) / 100000.0;
}

int some_rank(Random& random, const Plan& plan) {
  return static_cast<int>(random.below(static_cast<std::uint64_t>(plan.ranks)));
}

Rule rule_after(int rank, double at, int incarnation = 0) {
  Rule rule{fmt::format("kill rank {} after ", rank), at, "s"};
  if (incarnation > 0) rule.behind += fmt::format(" of incarnation {}", incarnation);
  return rule;
}

/// A kill by the clock: half of them by the runner, half by mpirun.
void kill_at(Plan& plan, Random& random, int rank, double at) {
  if (random.chance(1, 2))
    plan.kills.push_back({TimedKill::Victim::rank, rank, at});
  else
    plan.rules.push_back(rule_after(rank, at));
}

void plan_random_kills(Plan& plan, Random& random, bool only_rank_zero) {
  const auto count = 1 + random.below(3);
  for (std::uint64_t i = 0; i < count; ++i) {
    const int rank = only_rank_zero ? 0 : some_rank(random, plan);
    if (i > 0 && random.chance(1, 3))
      plan.rules.push_back({fmt::format("kill rank {} at call {}", rank, 2 + random.below(600)), -1, ""});
    else
      kill_at(plan, random, rank, fraction(random, 0.03, 0.97));
  }
}

void plan_named_call(Plan& plan, Random& random) {
  if (random.chance(1, 8)) {  // after MPI_Finalize
    plan.workload = {"finalized", ""};
    kill_at(plan, random, some_rank(random, plan), fraction(random, 0.3, 0.9));
    return;
  }
  const NamedCall& named = named_calls()[random.below(named_calls().size())];
  plan.workload = named.workload;
  const int rank = some_rank(random, plan);
  if (named.most == 0) {
    kill_at(plan, random, rank, fraction(random, 0.1, 0.9));
    return;
  }
  plan.in_init = named.call == std::string_view("MPI_Init");
  const std::uint64_t ordinal = 1 + random.below(static_cast<std::uint64_t>(named.most));
  plan.rules.push_back({fmt::format("kill rank {} in {} {}", rank, named.call, ordinal), -1, ""});
}

constexpr double lease_seconds = 1;

/// A rank is stopped for so long, by the runner or by mpirun, and then continued: if it has been replaced, so
/// is what is left of it.
void stop_at(Plan& plan, Random& random, int rank, double at, double length_seconds) {
  if (random.chance(1, 2)) {
    plan.kills.push_back({TimedKill::Victim::rank, rank, at, SIGSTOP});
    plan.kills.push_back({TimedKill::Victim::stopped, rank, at, SIGCONT, length_seconds});
  } else {
    plan.rules.push_back(
        {fmt::format("stop rank {} after ", rank), at, fmt::format("s for {} s", length_seconds)});
  }
}

/// For less than a lease, or for three.
void plan_stopped(Plan& plan, Random& random) {
  plan.lease_seconds = lease_seconds;
  const bool is_short = random.chance(1, 3);
  const double length_seconds = lease_seconds * (is_short ? fraction(random, 0.1, 0.5) : 3);
  stop_at(plan, random, some_rank(random, plan), fraction(random, 0.03, 0.97), length_seconds);
  plan.expectation = is_short ? Expectation::unharmed : Expectation::silent_replaced;
  plan.needs_hit = !is_short;
}

/// A rank that is slow all the time, or for a part of it.
void plan_slow(Plan& plan, Random& random) {
  plan.lease_seconds = lease_seconds;
  plan.expectation = Expectation::unharmed;
  plan.needs_hit = false;
  const std::string slow =
      fmt::format("slow rank {} by {} %", some_rank(random, plan), 20 + random.below(71));
  if (random.chance(1, 2))
    plan.rules.push_back({slow, -1, ""});
  else
    plan.rules.push_back({slow + " after ", fraction(random, 0.03, 0.5), "s for 2 s"});
}

/// Programs that come to every kind of step: messages of all sizes, collectives, recorded outcomes.
void plan_step(Plan& plan, Random& random) {
  static const std::vector<Workload> busy = {{"farm", "", true, true},
                                             {"wildcards", "", false, true},
                                             {"completion", "", false, true},
                                             {"clocks", "", false, true},
                                             {"collectives", ""},
                                             {"comm_storm", ""}};
  const Step& step = steps()[random.below(steps().size())];
  plan.workload = busy[random.below(busy.size())];
  // Only one program comes to all of the facade's own.
  if (&step >= &facades_first_step()) plan.workload = {"every_step", "", false, true};
  plan.in_init = step.early;
  plan.rules.push_back({fmt::format("kill rank {} at step {}:{}", some_rank(random, plan), step.name,
                                    1 + random.below(step.most)),
                        -1, ""});
}

void plan_several_at_once(Plan& plan, Random& random) {
  plan.ranks = 3 + static_cast<int>(random.below(2));
  const int spared = some_rank(random, plan);
  const double at = fraction(random, 0.05, 0.9);
  const auto kind = random.below(3);  // two, all but one, all
  int left = kind == 0 ? 2 : plan.ranks;
  for (int rank = 0; rank < plan.ranks && left > 0; ++rank) {
    if (kind != 2 && rank == spared) continue;
    plan.kills.push_back({TimedKill::Victim::rank, rank, at});
    --left;
  }
}

void plan_during_replay(Plan& plan, Random& random) {
  const int rank = some_rank(random, plan);
  const int deaths = random.chance(1, 4) ? 10 : 2 + static_cast<int>(random.below(2));
  plan.rules.push_back(rule_after(rank, fraction(random, 0.3, 0.9)));
  for (int incarnation = 2; incarnation <= deaths; ++incarnation)
    plan.rules.push_back(rule_after(rank, fraction(random, 0.01, 0.25), incarnation));
}

void plan_fault(Plan& plan, Random& random) {
  static const std::pair<const char*, int> faults[] = {
      {"segv", SIGSEGV}, {"fpe", SIGFPE}, {"ill", SIGILL}, {"abort", SIGABRT}};
  const auto& [kind, signal] = faults[random.below(4)];
  plan.workload = {"crash", kind};
  plan.expectation = Expectation::fault_reported;
  plan.exit_code = 128 + signal;
  plan.needs_hit = false;
}

void plan_nondeterministic(Plan& plan, Random& random) {
  plan.workload = {"nondeterministic", ""};
  plan.expectation = Expectation::diverged;
  kill_at(plan, random, some_rank(random, plan), fraction(random, 0.3, 0.9));
}

void plan_own_will(Plan& plan, Random& random) {
  static const std::pair<const char*, int> ways[] = {
      {"exit3", 3}, {"exit0", 1}, {"abort7", 7}, {"return4", 4}};
  const auto& [kind, code] = ways[random.below(4)];
  plan.workload = {"leaving", kind};
  plan.expectation = Expectation::own_will;
  plan.exit_code = code;
  plan.needs_hit = false;
  if (random.chance(1, 2)) kill_at(plan, random, some_rank(random, plan), fraction(random, 0.05, 0.7));
}

void plan_launcher_lost(Plan& plan, Random& random) {
  plan.expectation = Expectation::launcher_lost;
  plan.needs_hit = false;
  const double at = fraction(random, 0.02, 0.9);
  const auto which = random.below(3);
  if (which != 1) plan.kills.push_back({TimedKill::Victim::mpirun, 0, at});
  if (which != 0) plan.kills.push_back({TimedKill::Victim::llamanetd, 0, at});
}

/// Ranks wait for each other for ever. Where histories are kept, the plan may kill one of them before or
/// while it does; its replacement waits for the others as it did.
void plan_deadlock(Plan& plan, Random& random) {
  const auto& kinds = test::deadlock_kinds();
  const test::DeadlockKind& kind = kinds[random.below(kinds.size())];
  plan.workload = {"deadlocks", kind.name};
  plan.ranks = kind.ranks;
  plan.said = kind.said;
  plan.expectation = Expectation::deadlock_named;
  plan.needs_hit = false;
  if (!kind.with_histories || random.chance(1, 4)) {
    plan.profile = "default";
    return;
  }
  if (random.chance(2, 3))
    plan.rules.push_back(rule_after(some_rank(random, plan), fraction(random, 0.01, 0.6)));
}

/// Kills whose distances are spread about a mean of a part of the run, on any rank.
void plan_storm(Plan& plan, Random& random) {
  plan.expectation = Expectation::right_or_limit;
  const double mean = random.chance(1, 2) ? 0.5 : 0.25;
  double at = 0;
  for (int i = 0; i < 8; ++i) {
    at += mean * fraction(random, 0.1, 1.9);
    plan.kills.push_back({TimedKill::Victim::rank, some_rank(random, plan), at});
  }
}

}  // namespace

std::vector<std::string> arguments_of(const Workload& workload, int scale) {
  const auto times = [scale](int base) { return std::to_string(base * scale); };
  if (workload.name == "heat") return {"-n", "192", "-s", times(1000), "-o", "", "--check"};
  if (workload.name == "jacobi") return {"-n", "160", "-s", times(800), "-c", "40", "--check"};
  if (workload.name == "matmul") return {"-n", "160", "-r", times(20)};
  if (workload.name == "farm") return {"-t", times(800), "-w", "20000"};
  if (workload.name == "deadlocks") return {workload.kind};
  if (workload.name == "big") return {"-s", times(10), "-p", "60000"};
  std::vector<std::string> arguments = {"-s", times(800), "-p", "1000"};
  if (!workload.kind.empty()) arguments.insert(arguments.end(), {"-k", workload.kind});
  return arguments;
}

std::string label_of(const Workload& workload) {
  return workload.kind.empty() ? workload.name : workload.name + " -k " + workload.kind;
}

std::string text_of(const Rule& rule, double run_seconds) {
  if (rule.fraction < 0) return rule.before + rule.behind;
  return fmt::format("{}{:.4f}{}", rule.before, std::max(0.001, rule.fraction * run_seconds), rule.behind);
}

const std::vector<int>& all_rows() {
  static const std::vector<int> rows = {1, 2, 3, 4, 5, 6, 7, 8, 16, 17, 18, 19, 20, 25};
  return rows;
}

std::string_view title_of(int row) {
  switch (row) {
    case 1:
      return "any rank, any time";
    case 2:
      return "at a protocol step";
    case 3:
      return "rank 0";
    case 4:
      return "in Init, Finalize, after it, each collective";
    case 5:
      return "several at once";
    case 6:
      return "during a replay, the same rank ten times";
    case 7:
      return "stopped, for less than a lease and for three";
    case 8:
      return "slow, under a lease";
    case 16:
      return "deterministic fault";
    case 17:
      return "not deterministic";
    case 18:
      return "exit and MPI_Abort";
    case 19:
      return "mpirun or llamanetd killed";
    case 20:
      return "a storm of failures";
    case 25:
      return "ranks that wait for each other for ever";
    default:
      return "unknown";
  }
}

Plan make_plan(int row, Random& random) {
  Plan plan;
  plan.row = row;
  plan.ranks = 2 + static_cast<int>(random.below(ranks_max - 1));
  plan.workload = workloads()[random.below(workloads().size())];
  if (plan.workload.name == "phases")
    plan.workload.kind = std::to_string(random.below(1'000'000));  // its seed
  switch (row) {
    case 2:
      plan_step(plan, random);
      break;
    case 3:
      plan_random_kills(plan, random, true);
      break;
    case 4:
      plan_named_call(plan, random);
      break;
    case 5:
      plan_several_at_once(plan, random);
      break;
    case 6:
      plan_during_replay(plan, random);
      break;
    case 7:
      plan_stopped(plan, random);
      break;
    case 8:
      plan_slow(plan, random);
      break;
    case 16:
      plan_fault(plan, random);
      break;
    case 17:
      plan_nondeterministic(plan, random);
      break;
    case 18:
      plan_own_will(plan, random);
      break;
    case 19:
      plan_launcher_lost(plan, random);
      break;
    case 20:
      plan_storm(plan, random);
      break;
    case 25:
      plan_deadlock(plan, random);
      break;
    default:
      plan_random_kills(plan, random, false);
  }
  return plan;
}

}  // namespace llamada::failures
