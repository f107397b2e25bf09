#include <signal.h>

#include <algorithm>
#include <thread>
#include <vector>

#include "job_process.hpp"
#include "llamada/base/random.hpp"
#include "test.hpp"

// mpirun, its guardian, its keeper and llamanetd are killed, alone, by twos and by threes, at any moment: the
// job ends, and nothing is left.

namespace {

using namespace llamada;
using namespace llamada::system_test;

constexpr const char* guardian_name = "mpirun-guardian";
constexpr const char* keeper_name = "mpirun-keeper";
constexpr const char* driver_name = "llamanetd";

/// A rank behind a wrapper script, with children that would outlive it, one of them in a session of its own.
const std::vector<std::string> stubborn_job = {
    "-n", "3", "sh", "-c",
    "trap '' TERM INT HUP; sleep 1000 & setsid sleep 1000 & (sleep 1000 & exec sleep 1000) & echo up; wait"};

struct Victims {
  bool mpirun, guardian, keeper, driver;
  int count() const { return mpirun + guardian + keeper + driver; }
};

/// By the bits of a number from 1 to 14: all but none and all four, which nobody is left of to see it.
constexpr unsigned victims_first = 1, victims_last = 14;
Victims victims_of(unsigned bits) {
  return {(bits & 1) != 0, (bits & 2) != 0, (bits & 4) != 0, (bits & 8) != 0};
}

/// What the victims are called when a test fails.
std::string text_of(const Victims& victims) {
  std::string text;
  if (victims.mpirun) text += "mpirun ";
  if (victims.guardian) text += "guardian ";
  if (victims.keeper) text += "keeper ";
  if (victims.driver) text += "llamanetd ";
  return text;
}

bool is_up(const Job& job) {
  int ups = 0;
  const std::string output = job.output();
  for (std::size_t at = 0; (at = output.find("up\n", at)) != std::string::npos; ++at) ++ups;
  return ups == 3;
}

/// Those of the victims that are there.
std::vector<pid_t> find_victims(const Job& job, const Victims& victims) {
  std::vector<pid_t> found;
  if (victims.mpirun) found.push_back(job.pid());
  if (victims.guardian) found.push_back(job.find(guardian_name));
  if (victims.keeper) found.push_back(job.find(keeper_name));
  if (victims.driver) found.push_back(job.find(driver_name));
  std::erase_if(found, [](pid_t pid) { return pid <= 0; });
  return found;
}

/// How many of them there were.
int signal_all(const std::vector<pid_t>& pids, int signal) {
  return static_cast<int>(
      std::count_if(pids.begin(), pids.end(), [signal](pid_t pid) { return kill(pid, signal) == 0; }));
}

void check_that_nothing_is_left(Job& job) {
  const std::string names = names_left(job);
  INFO(names);
  CHECK(names == "");
}

}  // namespace

TEST_CASE(
    "launcher: whoever of mpirun, guardian, keeper and llamanetd is killed, a running job ends with one "
    "sentence",
    "[system]") {
  adopt_orphans();
  for (unsigned bits = victims_first; bits <= victims_last; ++bits) {
    const Victims victims = victims_of(bits);
    CAPTURE(text_of(victims));
    Job job(stubborn_job);
    REQUIRE(wait_for([&] { return is_up(job); }));
    const std::vector<pid_t> found = find_victims(job, victims);
    // Stopped first, so that none of them ends because it sees another's end.
    REQUIRE(signal_all(found, SIGSTOP) == victims.count());
    // Who sees the first one's end may kill the others before their turn.
    REQUIRE(signal_all(found, SIGKILL) >= 1);
    const int code = job.wait();
    CHECK(code == (victims.mpirun ? 128 + SIGKILL : 125));
    check_that_nothing_is_left(job);
    CAPTURE(job.errors());
    CHECK(lines_of_mpirun(job.errors()).size() == 1);
    reap_orphans();
  }
}

TEST_CASE("launcher: the keeper alone tells of an mpirun that dies last", "[system]") {
  adopt_orphans();
  Job job(stubborn_job);
  REQUIRE(wait_for([&] { return is_up(job); }));
  const std::vector<pid_t> below = find_victims(job, {false, true, false, true});
  REQUIRE(kill(job.pid(), SIGSTOP) == 0);
  REQUIRE(signal_all(below, SIGSTOP) == 2);
  REQUIRE(signal_all(below, SIGKILL) >= 1);
  std::this_thread::sleep_for(std::chrono::milliseconds(100));
  REQUIRE(kill(job.pid(), SIGKILL) == 0);
  CHECK(job.wait() == 128 + SIGKILL);
  check_that_nothing_is_left(job);
  CHECK(lines_of_mpirun(job.errors()).size() == 1);
  reap_orphans();
}

TEST_CASE("launcher: a kill at any moment leaves nothing", "[system]") {
  adopt_orphans();
  const std::uint64_t seed = seed_of_this_run();
  CAPTURE(seed);
  Random random(seed);
  constexpr int rounds = 60, rounds_max = 300;
  int rounds_with_a_kill = 0;
  for (int round = 0; round < rounds_max && rounds_with_a_kill < rounds; ++round) {
    const Victims victims = victims_of(victims_first + static_cast<unsigned>(random.below(victims_last)));
    const auto delay = std::chrono::microseconds(random.below(random.chance(1, 2) ? 20'000 : 150'000));
    CAPTURE(round, text_of(victims), delay.count());
    Job job(stubborn_job);
    std::this_thread::sleep_for(delay);
    const int killed = signal_all(find_victims(job, victims), SIGKILL);
    if (killed == 0) continue;  // not there yet: Job's destructor ends it
    ++rounds_with_a_kill;
    const int code = job.wait();
    CHECK(code == (victims.mpirun ? 128 + SIGKILL : 125));
    check_that_nothing_is_left(job);
    CAPTURE(job.errors());
    CHECK(lines_of_mpirun(job.errors()).size() <= 1);
    if (!victims.mpirun) CHECK(lines_of_mpirun(job.errors()).size() == 1);
    reap_orphans();
  }
  CHECK(rounds_with_a_kill == rounds);
}

TEST_CASE("launcher: a job that is ended in its first moment leaves nothing", "[system]") {
  adopt_orphans();
  for (int round = 0; round < 20; ++round) {
    Job job(stubborn_job);
    job.end();
    check_that_nothing_is_left(job);
    reap_orphans();
  }
}

TEST_CASE("launcher: an end without any kill leaves nothing either", "[system]") {
  adopt_orphans();
  Job job({"-n", "2", "sh", "-c", "setsid sleep 1000 & exit 0"});
  CHECK(job.wait() == 0);
  check_that_nothing_is_left(job);
  reap_orphans();
}
