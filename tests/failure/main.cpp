// The failure runner: starts jobs, kills their ranks by a plan that follows from a seed, and checks that each
// ends as it must. The rows of the matrix are in plan.cpp; what must hold for each is in verdict.cpp.
#include <fmt/format.h>
#include <signal.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <CLI/CLI.hpp>
#include <fstream>
#include <nlohmann/json.hpp>
#include <random>
#include <thread>

#include "runner.hpp"

namespace {

using namespace llamada::failures;
namespace fs = std::filesystem;

struct Arguments {
  RunnerOptions runner;
  std::uint64_t runs = 60;
  std::int64_t only = -1;
  int jobs = 1;
  std::string json;
};

/// The sums of one row, or of all.
struct Sums {
  int runs = 0, attempts = 0, passed = 0, deaths = 0, counted = 0, by_clock = 0;
  std::uint64_t sends_compared = 0, determinants_replayed = 0;
  int recorded_victims = 0;  ///< counted kills in programs with determinants
  std::vector<double> replay_seconds, silence_seconds;
};

void add(Sums& sums, const RunResult& result) {
  const Figures& figures = result.verdict.figures;
  sums.runs++;
  sums.attempts += result.attempts;
  sums.passed += result.verdict.wrong.empty();
  sums.deaths += figures.deaths;
  sums.counted += figures.counted;
  sums.by_clock += figures.counted_by_clock;
  sums.sends_compared += figures.sends_compared;
  sums.determinants_replayed += figures.determinants_replayed;
  if (result.plan.workload.has_determinants) sums.recorded_victims += figures.counted;
  sums.replay_seconds.insert(sums.replay_seconds.end(), figures.replay_seconds.begin(),
                             figures.replay_seconds.end());
  sums.silence_seconds.insert(sums.silence_seconds.end(), figures.silence_seconds.begin(),
                              figures.silence_seconds.end());
}

double quantile(std::vector<double> values, double part) {
  if (values.empty()) return 0;
  std::sort(values.begin(), values.end());
  return values[static_cast<std::size_t>(part * static_cast<double>(values.size() - 1))];
}

/// Set by SIGINT and SIGTERM: no new run begins, those under way are ended, and the tables are printed.
std::atomic<bool> interrupted = false;

/// The second one ends at once.
void interrupt(int signal) {
  if (interrupted.exchange(true)) _exit(128 + signal);
}

void watch_for_interrupts() {
  struct sigaction action {};
  action.sa_handler = interrupt;
  action.sa_flags = SA_RESTART;
  sigaction(SIGINT, &action, nullptr);
  sigaction(SIGTERM, &action, nullptr);
}

class Results {
 public:
  void add_run(const RunResult& result, const std::string& repeat) {
    const std::lock_guard lock(mutex_);
    results_.push_back(result);
    const bool good = result.verdict.wrong.empty();
    fmt::print("{} run {} row {} {} on {} ranks, {} counted kills, {:.1f} s\n", good ? "ok  " : "FAIL",
               result.index, result.plan.row, label_of(result.plan.workload), result.plan.ranks,
               result.verdict.figures.counted, result.wall_seconds);
    if (!good) print_failure(result, repeat);
    std::fflush(stdout);
  }

  void add_broken(std::uint64_t index, const std::string& why, const std::string& repeat) {
    const std::lock_guard lock(mutex_);
    broken_++;
    fmt::print("FAIL run {}: {}\n     repeat with: {}\n", index, why, repeat);
    std::fflush(stdout);
  }

  /// Prints the tables; returns whether all is well. The last line is "N passed, M failed".
  bool summarise() {
    std::map<int, Sums> rows;
    std::map<std::string, int> where;
    for (const RunResult& result : results_) {
      add(rows[result.plan.row], result);
      for (const auto& [call, count] : result.verdict.figures.where) where[call] += count;
    }
    print_rows(rows);
    print_where(where);
    int failed = broken_, passed = 0;
    for (const auto& [row, sums] : rows) {
      passed += sums.passed;
      failed += sums.runs - sums.passed;
      failed += row_lacks_something(row, sums);
    }
    fmt::print("{} passed, {} failed\n", passed, failed);
    return failed == 0;
  }

  void write_json(const std::string& path, std::uint64_t seed) const {
    nlohmann::ordered_json json = {{"seed", seed}, {"runs", nlohmann::ordered_json::array()}};
    for (const RunResult& result : results_)
      json["runs"].push_back({{"index", result.index},
                              {"row", result.plan.row},
                              {"program", label_of(result.plan.workload)},
                              {"ranks", result.plan.ranks},
                              {"attempts", result.attempts},
                              {"wall_seconds", result.wall_seconds},
                              {"deaths", result.verdict.figures.deaths},
                              {"counted", result.verdict.figures.counted},
                              {"sends_compared", result.verdict.figures.sends_compared},
                              {"determinants_replayed", result.verdict.figures.determinants_replayed},
                              {"where", result.verdict.figures.where},
                              {"replay_seconds", result.verdict.figures.replay_seconds},
                              {"silence_seconds", result.verdict.figures.silence_seconds},
                              {"wrong", result.verdict.wrong}});
    std::ofstream(path) << json.dump(2, ' ', false, nlohmann::ordered_json::error_handler_t::replace) << '\n';
  }

 private:
  static void print_failure(const RunResult& result, const std::string& repeat) {
    for (const std::string& sentence : result.verdict.wrong) fmt::print("     {}\n", sentence);
    std::string command;
    for (const std::string& word : result.command)
      command += word.empty() || word.find(' ') != word.npos ? fmt::format(" '{}'", word) : " " + word;
    for (const TimedKill& kill : result.plan.kills)
      fmt::print("     killed by the runner at {:.3f} of the run: {}\n", kill.fraction,
                 kill.victim == TimedKill::Victim::rank      ? fmt::format("rank {}", kill.rank)
                 : kill.victim == TimedKill::Victim::mpirun  ? "mpirun"
                 : kill.victim == TimedKill::Victim::stopped ? "who was stopped is continued"
                                                             : "llamanetd");
    fmt::print("     command:{}\n     output is in {}\n     repeat with: {}\n", command,
               result.folder.string(), repeat);
  }

  static void print_rows(const std::map<int, Sums>& rows) {
    fmt::print(
        "\n| row | what | runs | attempts | passed | deaths | counted | by clock | sends compared | "
        "determinants "
        "replayed | "
        "replay s p50/max |\n|---|---|---|---|---|---|---|---|---|---|---|\n");
    for (const auto& [row, sums] : rows)
      fmt::print("| {} | {} | {} | {} | {} | {} | {} | {} | {} | {} | {:.3f}/{:.3f} |\n", row, title_of(row),
                 sums.runs, sums.attempts, sums.passed, sums.deaths, sums.counted, sums.by_clock,
                 sums.sends_compared, sums.determinants_replayed, quantile(sums.replay_seconds, 0.5),
                 quantile(sums.replay_seconds, 1));
    for (const auto& [row, sums] : rows)
      if (!sums.silence_seconds.empty())
        fmt::print(
            "\nRow {}: {} ranks were stopped for longer than their lease; their replacements started "
            "{:.3f} s (median) to {:.3f} s after that was first seen.\n",
            row, sums.silence_seconds.size(), quantile(sums.silence_seconds, 0.5),
            quantile(sums.silence_seconds, 1));
  }

  static void print_where(const std::map<std::string, int>& where) {
    fmt::print("\nWhere the counted kills hit:\n");
    int most = 1;
    for (const auto& [call, count] : where) most = std::max(most, count);
    for (const auto& [call, count] : where)
      fmt::print("  {:<34} {:>5} {}\n", call, count,
                 std::string(static_cast<std::size_t>(1 + count * 40 / most), '#'));
    fmt::print("\n");
  }

  /// Rows that had victims must show that something was compared, and replayed where there was something to
  /// replay. In many programs only one rank has determinants, so a few victims prove nothing.
  static int row_lacks_something(int row, const Sums& sums) {
    constexpr int enough = 30;
    int lacks = 0;
    if (row != 17 && row != 19 && sums.counted >= enough && sums.sends_compared == 0) {
      fmt::print("row {}: no send was compared\n", row);
      lacks++;
    }
    if (row != 17 && row != 19 && sums.recorded_victims >= enough && sums.determinants_replayed == 0) {
      fmt::print("row {}: no determinant was replayed\n", row);
      lacks++;
    }
    return lacks;
  }

  std::mutex mutex_;
  std::vector<RunResult> results_;
  int broken_ = 0;
};

/// Takes numbers until there are none left.
void work(Runner& runner, Results& results, std::atomic<std::uint64_t>& next, std::uint64_t end) {
  for (std::uint64_t index = next++; index < end && !interrupted; index = next++) {
    try {
      const RunResult result = runner.run(index);
      if (!result.interrupted) results.add_run(result, runner.repeat_command(index));
    } catch (const std::exception& error) {
      if (interrupted) return;
      results.add_broken(index, error.what(), runner.repeat_command(index));
    }
  }
}

void parse(CLI::App& app, Arguments& arguments) {
  arguments.runner.build = fs::canonical("/proc/self/exe").parent_path().parent_path();
  arguments.runner.seed = std::random_device{}();
  app.add_option("--runs", arguments.runs, "how many runs");
  app.add_option("--seed", arguments.runner.seed, "what the plans follow from; a fresh one without it");
  app.add_option("--row", arguments.runner.row, "only this row of the matrix")
      ->check(CLI::IsMember(all_rows()));
  app.add_option("--nodes", arguments.runner.nodes, "nodes of this machine over which each job is spread")
      ->check(CLI::PositiveNumber);
  app.add_option("--only", arguments.only, "only the run with this number");
  app.add_option("--jobs", arguments.jobs, "runs at a time")->check(CLI::PositiveNumber);
  app.add_option("--json", arguments.json, "write the results to this file");
  app.add_option("--still", arguments.runner.hang_limits.still_seconds,
                 "a run hangs when nothing has moved for so many seconds")
      ->capture_default_str();
  app.add_option("--idle", arguments.runner.hang_limits.idle_seconds,
                 "a run hangs when nothing has come of its calls for so many seconds")
      ->capture_default_str();
  app.add_option("--build", arguments.runner.build, "the build folder");
  app.add_option("--output", arguments.runner.folder, "where the outputs of failing runs stay");
}

int run(Arguments arguments) {
  if (arguments.runner.folder.empty())
    arguments.runner.folder =
        arguments.runner.build / "failures" / fmt::format("{}-{}", arguments.runner.seed, getpid());
  arguments.runner.folder = fs::absolute(arguments.runner.folder);
  fs::create_directories(arguments.runner.folder);
  if (const auto folders = isolate(arguments.runner.build); folders.size() < 2)
    fmt::print("not looked for: files left in /dev/shm and /tmp, {} of which could be made private\n",
               folders.size());
  fmt::print("seed {}\n", arguments.runner.seed);
  std::fflush(stdout);
  watch_for_interrupts();
  arguments.runner.interrupted = &interrupted;
  Runner runner(arguments.runner);
  Results results;
  const bool one = arguments.only >= 0;
  std::atomic<std::uint64_t> next = one ? static_cast<std::uint64_t>(arguments.only) : 0;
  const std::uint64_t end = one ? next + 1 : arguments.runs;
  std::vector<std::thread> threads;
  for (int i = 0; i < arguments.jobs; ++i) threads.emplace_back([&] { work(runner, results, next, end); });
  for (std::thread& thread : threads) thread.join();
  if (!arguments.json.empty()) results.write_json(arguments.json, arguments.runner.seed);
  if (interrupted) fmt::print("\ninterrupted: what was run until then\n");
  const bool good = results.summarise();
  std::error_code error;
  if (good) fs::remove_all(arguments.runner.folder, error);
  if (interrupted) return 128 + SIGINT;
  return good ? 0 : 1;
}

}  // namespace

int main(int argc, char** argv) {
  CLI::App app("kills ranks of running jobs by plan, and checks that every job ends as it must");
  Arguments arguments;
  parse(app, arguments);
  CLI11_PARSE(app, argc, argv);
  return run(std::move(arguments));
}
