#include <fmt/format.h>

#include <algorithm>
#include <cstdlib>
#include <optional>

#include "sim_job.hpp"
#include "sim_program.hpp"
#include "test.hpp"

// SIM_SEED=n runs that schedule alone.

using namespace llamada;
using namespace llamada::mpi;
using namespace llamada::mpi::sim;

namespace {

struct Totals {
  std::uint64_t deaths = 0;
  std::uint64_t deaths_in_replay = 0;
  std::uint64_t compared = 0;
  std::uint64_t replayed = 0;
  std::uint64_t messages = 0;
  std::uint64_t diverged = 0;
  std::uint64_t unprotected = 0;  ///< in the middle
  std::uint64_t outages = 0;
  std::uint64_t restored = 0;
};

/// What each rank has received from another is what that one, in its last incarnation, has sent: nothing is
/// lost, doubled, out of order, or remembered from a run that nobody can repeat.
std::string compare_histories(const Job& job) {
  const int size = job.options().size;
  for (int from = 0; from < size; ++from) {
    for (int to = 0; to < size; ++to) {
      auto sent = job.history(from).sent[static_cast<std::size_t>(to)];
      auto received = job.history(to).received[static_cast<std::size_t>(from)];
      // Between communicators and tags the order of receiving is the program's.
      std::sort(sent.begin(), sent.end());
      std::sort(received.begin(), received.end());
      if (sent != received)
        return fmt::format("rank {} sent {} messages to rank {}, which received {}, or others", from,
                           sent.size(), to, received.size());
    }
  }
  return "";
}

std::string run_job(const JobOptions& options, Totals& totals) {
  Job job(options, [&](Rank& rank) { run_program(rank, options.seed); });
  const std::string failure = job.run();
  totals.deaths += static_cast<std::uint64_t>(job.deaths());
  totals.deaths_in_replay += static_cast<std::uint64_t>(job.deaths_in_replay());
  totals.compared += job.counted(log::Counter::sends_compared);
  totals.replayed += job.counted(log::Counter::determinants_replayed);
  totals.messages += job.counted(log::Counter::messages_sent);
  totals.unprotected += job.lost_protection();
  totals.outages += static_cast<std::uint64_t>(job.outages());
  totals.restored += job.restored();
  if (options.has_coin && job.has_diverged()) {
    ++totals.diverged;
    return "";
  }
  return failure.empty() ? compare_histories(job) : failure;
}

/// Runs the schedules of all seeds from `first` on, or the one that SIM_SEED names.
Totals run_schedules(std::uint64_t first, std::uint64_t count, JobOptions (*make)(std::uint64_t seed)) {
  Totals totals;
  if (const char* named = std::getenv("SIM_SEED")) {
    first = std::strtoull(named, nullptr, 10);
    count = 1;
  }
  for (std::uint64_t seed = first; seed < first + count; ++seed) {
    const std::string failure = run_job(make(seed), totals);
    INFO("SIM_SEED=" << seed);
    if (!failure.empty()) FAIL(failure);
  }
  fmt::print(
      "{} schedules: {} messages, {} deaths ({} in a replay), {} sends compared, {} determinants replayed, "
      "{} diverged, {} unprotected, {} outages with {} determinants kept\n",
      count, totals.messages, totals.deaths, totals.deaths_in_replay, totals.compared, totals.replayed,
      totals.diverged, totals.unprotected, totals.outages, totals.restored);
  return totals;
}

}  // namespace

TEST_CASE("replay: a job whose ranks die at any step ends as one without deaths", "[sim]") {
  const Totals totals = run_schedules(1, 10000, [](std::uint64_t seed) {
    JobOptions options;
    options.seed = seed;
    options.size = 1 + static_cast<int>(seed % 5);
    options.kills = static_cast<int>(seed / 5 % 8);
    return options;
  });
  if (std::getenv("SIM_SEED")) return;
  CHECK(totals.deaths > 10000);
  CHECK(totals.deaths_in_replay > 1000);
  CHECK(totals.compared > 10000);
  CHECK(totals.replayed > 10000);
}

// What was copied from other nodes must come anew, whatever the network does to it.
TEST_CASE("replay: ranks of several nodes die at any step, and replay what comes over a bad network",
          "[sim][nodes]") {
  const Totals totals = run_schedules(1, 1000, [](std::uint64_t seed) {
    JobOptions options;
    options.seed = seed;
    options.size = 2 + static_cast<int>(seed % 4);
    options.kills = static_cast<int>(seed / 5 % 8);
    options.ranks_per_linked_node = 1 + static_cast<int>(seed % 2);
    // Records that are longer than the window come one at a time, in pieces.
    if (seed % 5 < 2) options.link_window_bytes = 2048;
    if (seed % 3 == 0) options.faults = {.loss = 20, .doubling = 20, .reordering = 50, .corruption = 5};
    return options;
  });
  if (std::getenv("SIM_SEED")) return;
  CHECK(totals.deaths > 1000);
  CHECK(totals.deaths_in_replay > 100);
  CHECK(totals.compared > 1000);
  CHECK(totals.replayed > 1000);
}

// What all record is read while they go on, one rank's journal after the other's.
TEST_CASE("replay: a job whose ranks all die at once resumes from its last cut, and dies again",
          "[sim][outage]") {
  const Totals totals = run_schedules(1, 3000, [](std::uint64_t seed) {
    JobOptions options;
    options.seed = seed;
    options.size = 1 + static_cast<int>(seed % 5);
    options.outages = 1 + static_cast<int>(seed % 3);
    options.kills = static_cast<int>(seed / 5 % 8);
    return options;
  });
  if (std::getenv("SIM_SEED")) return;
  CHECK(totals.outages > 2000);
  CHECK(totals.restored > 10000);
  CHECK(totals.deaths > 2000);
}

// Each node hears of the next cut at its own time.
TEST_CASE("replay: a job on several nodes resumes from a cut that fits together", "[sim][outage][nodes]") {
  const Totals totals = run_schedules(1, 1000, [](std::uint64_t seed) {
    JobOptions options;
    options.seed = seed;
    options.size = 2 + static_cast<int>(seed % 4);
    options.outages = 1 + static_cast<int>(seed % 3);
    options.kills = static_cast<int>(seed / 5 % 4);
    options.ranks_per_linked_node = 1 + static_cast<int>(seed % 2);
    if (seed % 3 == 0) options.faults = {.loss = 20, .doubling = 20, .reordering = 50, .corruption = 5};
    return options;
  });
  if (std::getenv("SIM_SEED")) return;
  CHECK(totals.outages > 500);
  CHECK(totals.restored > 3000);
}

// SIM_SEEDS=n runs so many.
TEST_CASE("replay: a job with one unrecorded coin ends as it must, or as diverged", "[sim]") {
  const char* const seeds = std::getenv("SIM_SEEDS");
  const std::uint64_t count = seeds ? std::strtoull(seeds, nullptr, 10) : 3000;
  const Totals totals = run_schedules(1, count, [](std::uint64_t seed) {
    JobOptions options;
    options.seed = seed;
    options.size = 2 + static_cast<int>(seed % 4);
    options.kills = 1 + static_cast<int>(seed / 4 % 6);
    options.has_coin = true;
    return options;
  });
  if (std::getenv("SIM_SEED")) return;
  CHECK(totals.diverged > count / 20);
  CHECK(totals.diverged < count / 10 * 9);
}

TEST_CASE("messages: without a history nothing is lost in small logs", "[sim]") {
  const Totals totals = run_schedules(1, 1000, [](std::uint64_t seed) {
    JobOptions options;
    options.seed = seed;
    options.size = 1 + static_cast<int>(seed % 5);
    options.rebuild = false;
    options.eager_bytes_max = seed % 2 ? 256 : 64 * 1024;
    options.log_bytes_max = 4096;
    return options;
  });
  if (std::getenv("SIM_SEED")) return;
  CHECK(totals.messages > 10000);
}

TEST_CASE("messages: a job that becomes unprotected in the middle ends as it must", "[sim]") {
  const Totals totals = run_schedules(1, 1000, [](std::uint64_t seed) {
    JobOptions options;
    options.seed = seed;
    options.size = 1 + static_cast<int>(seed % 5);
    options.unprotect_at = 1 + seed % 97;
    options.eager_bytes_max = 256;
    options.log_bytes_max = 4096;
    return options;
  });
  if (std::getenv("SIM_SEED")) return;
  CHECK(totals.unprotected > 500);
}
