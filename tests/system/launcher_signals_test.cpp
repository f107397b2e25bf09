#include <signal.h>

#include <chrono>

#include "job_process.hpp"
#include "test.hpp"

// Signals that mpirun is sent, and what its ranks are given of them.

namespace {

using namespace llamada::system_test;

std::size_t count_of(const std::string& text, const std::string& part) {
  std::size_t count = 0;
  for (std::size_t at = 0; (at = text.find(part, at)) != std::string::npos; at += part.size()) ++count;
  return count;
}

bool is_up(const Job& job, std::size_t ranks) {
  return wait_for([&] { return count_of(job.output(), "up\n") == ranks; });
}

/// Signals mpirun, and at once its whole process group, as timeout(1) does. False: too much time lay between.
bool send_twice(pid_t pid, int signal) {
  const auto begin = std::chrono::steady_clock::now();
  kill(pid, signal);
  sleep_for_a_moment();
  kill(pid, signal);
  return std::chrono::steady_clock::now() - begin < std::chrono::milliseconds(20);
}

TEST_CASE("mpirun: SIGTERM reaches the ranks, SIGUSR1 too, and a second SIGINT kills", "[system]") {
  Job user({"-n", "2", "sh", "-c", "trap 'echo got; exit 0' USR1; echo up; while :; do sleep 0.05; done"});
  REQUIRE(wait_for([&] { return count_of(user.output(), "up") == 2; }));
  kill(user.pid(), SIGUSR1);
  CHECK(user.wait() == 0);
  CHECK(count_of(user.output(), "got") == 2);

  Job term({"-n", "2", "--qos", "fault-tolerant", "sh", "-c", "echo up; exec sleep 1000"});
  REQUIRE(wait_for([&] { return count_of(term.output(), "up") == 2; }));
  kill(term.pid(), SIGTERM);
  CHECK(term.wait() == 128 + SIGTERM);

  Job stubborn({"-n", "2", "sh", "-c", "trap '' INT TERM; echo up; while :; do sleep 0.05; done"});
  REQUIRE(wait_for([&] { return count_of(stubborn.output(), "up") == 2; }));
  kill(stubborn.pid(), SIGINT);
  kill(stubborn.pid(), SIGCONT);
  CHECK_FALSE(stubborn.ended());
  // The first one must have been taken: two that are pending at once are one.
  while (!stubborn.ended()) {
    kill(stubborn.pid(), SIGINT);
    sleep_for_a_moment();
  }
  CHECK(stubborn.wait() == 128 + SIGINT);
  CHECK(stubborn.wait_until_none_is_left(std::chrono::seconds(60)).empty());
}

TEST_CASE("mpirun: ranks that do not end upon SIGTERM are killed after the time of --kill-after",
          "[system]") {
  Job job(
      {"-n", "2", "--kill-after", "0.3", "sh", "-c", "trap '' TERM; echo up; while :; do sleep 0.05; done"});
  REQUIRE(is_up(job, 2));
  kill(job.pid(), SIGTERM);
  CHECK(job.wait() == 128 + SIGTERM);
  CHECK(count_of(job.errors(), "the job has not ended within 0.3 s of SIGTERM") == 1);
  CHECK(job.wait_until_none_is_left(std::chrono::seconds(60)).empty());
}

TEST_CASE("mpirun: timeout sends SIGTERM twice, and ranks that handle it may still end by themselves",
          "[system]") {
  Job job({"-n", "2", "sh", "-c",
           "trap 'sleep 0.7; echo saved; exit 0' TERM; echo up; while :; do sleep 0.05; done"});
  REQUIRE(is_up(job, 2));
  const bool at_once = send_twice(job.pid(), SIGTERM);
  const int code = job.wait();
  if (!at_once) {
    WARN("the machine is too slow to send a signal twice at once");
    return;
  }
  CHECK(code == 0);
  CHECK(count_of(job.output(), "saved") == 2);
  CHECK(lines_of_mpirun(job.errors()).empty());
}

TEST_CASE("mpirun: a signal that was ignored when mpirun was started stays ignored", "[system]") {
  for (const int signal : {SIGHUP, SIGINT, SIGQUIT}) {
    CAPTURE(signal);
    Job job({"-n", "2", "sh", "-c", "trap 'echo told' USR1; echo up; while :; do sleep 0.05; done"}, {},
            signal);
    REQUIRE(is_up(job, 2));
    for (int times = 0; times < 3; ++times) {
      kill(job.pid(), signal);
      // The next one finds mpirun awake: what came before it has been taken.
      const std::size_t told = count_of(job.output(), "told");
      kill(job.pid(), SIGUSR1);
      REQUIRE(wait_for([&] { return count_of(job.output(), "told") >= told + 2; }));
    }
    CHECK_FALSE(job.ended());
    kill(job.pid(), SIGTERM);
    CHECK(job.wait() == 128 + SIGTERM);
  }
}

}  // namespace
