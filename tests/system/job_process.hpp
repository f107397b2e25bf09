#pragma once

#include <sys/types.h>

#include <chrono>
#include <cstdint>
#include <string>
#include <vector>

#include "temporary_folder.hpp"

// Starting mpirun as a user does, and looking at all processes that come of it: they are known by a variable
// in their environment that no other process has.

namespace llamada::system_test {

/// A process of a job.
struct Found {
  pid_t pid = 0;
  std::string name;  ///< as /proc/PID/comm has it
  char state = '?';
};

/// A running mpirun, its output in files. Ends its job when destroyed.
class Job {
 public:
  /// `arguments` stand behind mpirun's name; standard input is /dev/null or `input`. mpirun is started with
  /// the signal `ignored` ignored, however this process was started.
  explicit Job(std::vector<std::string> arguments, const std::string& input = {}, int ignored = 0);
  ~Job();
  Job(const Job&) = delete;
  Job& operator=(const Job&) = delete;

  pid_t pid() const { return pid_; }
  /// All living processes of the job, mpirun too while it lives. Zombies are not living.
  std::vector<Found> processes() const;
  /// The first living process with this name, 0 if there is none.
  pid_t find(const std::string& name) const;
  /// Waits for mpirun to end; its exit code as a shell has it. Fails the test after a minute.
  int wait();
  /// Kills mpirun and what of the job can be seen; mpirun's watchers end what could not be seen yet.
  void end();
  /// Whether mpirun has ended.
  bool ended();
  /// Waits until no process is left, or `limit` is over; what is left then.
  std::vector<Found> wait_until_none_is_left(std::chrono::seconds limit);
  std::string output() const;
  std::string errors() const;

 private:
  std::string mark_;
  test::TemporaryFolder folder_;
  pid_t pid_ = 0;
  int status_ = 0;
  bool reaped_ = false;
};

/// Waits for a condition for at most a minute; whether it came.
template <typename Condition>
bool wait_for(Condition condition);

/// Lines that begin with "mpirun: ".
std::vector<std::string> lines_of_mpirun(const std::string& text);

/// The process id that a rank has said in its output, a line "RANK PID" each (stopped.c); 0 if it has not.
pid_t pid_said_by_rank(const std::string& output, int rank);

/// The command line of a process, a blank behind each word; empty when it is gone.
std::string command_line(pid_t pid);

/// Orphans come to this process from then on, so that they are reaped and do not count as left.
void adopt_orphans();
void reap_orphans();
/// What of the job is left a minute after its end, a line for each process.
std::string names_left(Job& job);

/// LLAMADA_TEST_SEED, or a random number.
std::uint64_t seed_of_this_run();

void sleep_for_a_moment();

template <typename Condition>
bool wait_for(Condition condition) {
  const auto limit = std::chrono::steady_clock::now() + std::chrono::seconds(60);
  while (!condition()) {
    if (std::chrono::steady_clock::now() > limit) return false;
    sleep_for_a_moment();
  }
  return true;
}

}  // namespace llamada::system_test
