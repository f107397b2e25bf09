#include <sys/wait.h>

#include <algorithm>
#include <cstdlib>
#include <optional>

#include "job_process.hpp"
#include "llamada/base/random.hpp"
#include "test.hpp"

// A rank whose wild pointer writes over its own arena harms nobody else: the job ends right, or with a
// sentence that names this rank.

namespace {

using namespace llamada;
using namespace llamada::system_test;

/// The `number`th value that wild_pointer.c draws, from 1.
std::uint64_t drawn(std::uint64_t seed, std::uint64_t number) {
  std::uint64_t z = seed + number * 0x9e3779b97f4a7c15u;
  z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9u;
  z = (z ^ (z >> 27)) * 0x94d049bb133111ebu;
  return z ^ (z >> 31);
}

std::uint64_t culprit_of(std::uint64_t seed, std::uint64_t rank_count) { return drawn(seed, 1) % rank_count; }
/// In which round it writes.
std::uint64_t round_of(std::uint64_t seed) { return 1 + drawn(seed, 2) % 59; }

bool contains(const std::string& text, const std::string& part) {
  return text.find(part) != std::string::npos;
}

std::uint64_t rank_count_of(std::uint64_t seed) { return 2 + seed % 3; }

/// Gives mpirun's exit code. `victim`: a rank that is killed by the options.
int run_wildly(std::uint64_t seed, const std::vector<std::string>& options,
               const std::vector<std::string>& how = {}, std::optional<std::uint64_t> victim = {}) {
  const std::uint64_t rank_count = rank_count_of(seed);
  const std::uint64_t culprit = culprit_of(seed, rank_count);
  std::vector<std::string> arguments = {"-n", std::to_string(rank_count)};
  arguments.insert(arguments.end(), options.begin(), options.end());
  arguments.insert(arguments.end(), {LLAMADA_WILD_POINTER, std::to_string(seed)});
  arguments.insert(arguments.end(), how.begin(), how.end());
  Job job(arguments);
  const int code = job.wait();
  const std::string errors = job.errors();
  INFO("seed " << seed << ", culprit " << culprit << " of " << rank_count << ", code " << code << "\n"
               << errors);
  for (std::uint64_t rank = 0; rank < rank_count; ++rank)
    if (rank != culprit) {
      if (rank != victim)
        CHECK_FALSE(contains(errors, "mpirun: rank " + std::to_string(rank) + " of "));  // ... died
      CHECK_FALSE(contains(errors, "the arena of rank " + std::to_string(rank) + " is damaged"));
    }
  if (code == 0)
    CHECK(job.output() == std::to_string(rank_count) + " ranks have agreed 60 times\n");
  else if (victim && code == 122)
    CHECK(contains(errors, "replay diverged"));  // a store that changed what a message says
  else
    CHECK(contains(errors, "rank " + std::to_string(culprit)));
  if (contains(errors, "is damaged")) CHECK(code == 121);
  CHECK(job.wait_until_none_is_left(std::chrono::seconds(60)).empty());
  return code;
}

/// At its MPI call `call` another rank is killed, and its replacement reads all that the culprit ever sent.
int run_with_a_death(std::uint64_t seed, const std::string& how, std::uint64_t call) {
  const std::uint64_t rank_count = rank_count_of(seed);
  const std::uint64_t victim = (culprit_of(seed, rank_count) + 1 + seed / 3 % (rank_count - 1)) % rank_count;
  const std::string rule = "kill rank " + std::to_string(victim) + " at call " + std::to_string(call);
  return run_wildly(seed, {"--qos", "fault-tolerant", "--inject", rule}, {how}, victim);
}

/// At about the time of the wild stores.
int run_with_a_death(std::uint64_t seed, const std::string& how) {
  const bool is_mixed = contains(how, "mixed");
  return run_with_a_death(seed, how, (is_mixed ? 2 : 6) * round_of(seed) + 1 + seed % (is_mixed ? 60 : 12));
}

}  // namespace

TEST_CASE("wild pointer: it never harms another rank, and its own is named", "[system]") {
  CHECK(run_wildly(0, {}) == 0);
  for (std::uint64_t seed = 1; seed <= 60; ++seed) (void)run_wildly(seed, {});
}

TEST_CASE("wild pointer: nor under the fault-tolerant profile", "[system]") {
  for (std::uint64_t seed = 1; seed <= 40; ++seed) (void)run_wildly(seed, {"--qos", "fault-tolerant"});
}

TEST_CASE("wild pointer: a replacement takes over nothing that is damaged", "[system]") {
  int refused = 0;
  for (std::uint64_t seed = 1; seed <= 15; ++seed)
    refused += run_wildly(seed, {"--qos", "fault-tolerant"}, {"die"}) == 121;
  CHECK(refused > 0);
}

TEST_CASE("wild pointer: nobody waits for ever when another rank dies at the same time", "[system]") {
  for (std::uint64_t seed = 1; seed <= 12; ++seed)
    for (const char* how : {"plain", "content", "mixed", "mixed content"}) {
      INFO(how);
      (void)run_with_a_death(seed, how);
    }
  // A culprit that asks again and again instead of waiting.
  CHECK(run_with_a_death(1065, "mixed", 52) == 121);
}

TEST_CASE("wild pointer: llamada survives whatever lies in an arena", "[system]") {
  for (std::uint64_t seed = 1; seed <= 20; ++seed) {
    INFO("seed " << seed);
    Job job({"-n", "3", LLAMADA_WILD_POINTER, std::to_string(seed), "stay"});
    REQUIRE(
        wait_for([&] { return job.output().size() >= 3 * std::string("written\n").size() || job.ended(); }));
    for (const char* what : {" ls", " ls --json", " why ranks", " top --once --interval 0.05"}) {
      const int status = std::system((std::string(LLAMADA_TOOL) + what + " >/dev/null 2>&1").c_str());
      // Other jobs of the machine may have to do with what it answers; here it is to answer.
      CHECK(WIFEXITED(status));
      CHECK(WEXITSTATUS(status) < 128);
    }
  }
}
