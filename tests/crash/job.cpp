#include "job.hpp"

#include <fmt/core.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <chrono>
#include <vector>

#include "test.hpp"

namespace llamada::crash {
namespace {

constexpr int deaths_max = 10;

/// Of a job on several nodes, all ranks of which are here: so the links are made in each attach, too.
llamanet::Driver open_driver() {
  static int last = 0;
  llamanet::DriverOptions options;
  options.name = fmt::format("crash-{}-{}", ::getpid(), ++last);
  options.slot_count_max = 2;
  options.arena_size_bytes = 64 << 20;
  options.nodes = llamanet::JobNodes{0, {0, 0}, "127.0.0.1", 1, {2, 3}};
  auto driver = llamanet::Driver::open(options);
  REQUIRE(driver);
  REQUIRE(driver->create_slots(2));
  REQUIRE(driver->meet_nodes(std::vector{driver->endpoints()}));
  return std::move(*driver);
}

}  // namespace

Job::Job()
    : driver_(open_driver()),
      board_(static_cast<Board*>(
          ::mmap(nullptr, sizeof(Board), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0))) {}

Job::~Job() {
  kill_all();
  ::munmap(board_, sizeof(Board));
}

Job::Outcome Job::run(std::uint32_t slot, const std::string& point, std::uint64_t count) {
  Job job;
  for (std::uint32_t i = 0; i < job.processes_.size(); ++i) job.start(i, 1, i == slot ? point : "", count);
  while (!job.collect() && job.outcome_.error.empty()) job.driver_.poll(std::chrono::milliseconds(1));
  for (std::uint32_t i = 0; i < job.processes_.size(); ++i)
    job.outcome_.passes[i] = parse_passes(job.board_->points[i]);
  return job.outcome_;
}

void Job::start(std::uint32_t slot, std::uint32_t incarnation, const std::string& point,
                std::uint64_t count) {
  Assignment assignment{driver_.socket_name(), slot, ++token_, point, count};
  driver_.expect(slot, assignment.token, incarnation);
  auto child = ::fork();
  REQUIRE(child >= 0);
  if (child == 0) {
    ::prctl(PR_SET_PDEATHSIG, SIGKILL);
    run_application(assignment, *board_);
  }
  processes_[slot] = child;
}

bool Job::collect() {
  bool any_left = false;
  for (std::uint32_t slot = 0; slot < processes_.size(); ++slot) {
    if (processes_[slot] == 0) continue;
    int status = 0;
    if (::waitpid(processes_[slot], &status, WNOHANG) == processes_[slot]) {
      processes_[slot] = 0;
      judge(slot, status);
    }
    any_left |= processes_[slot] != 0;
  }
  return !any_left;
}

void Job::judge(std::uint32_t slot, int status) {
  if (WIFEXITED(status) && WEXITSTATUS(status) == 0) return driver_.mark_done(slot);
  if (WIFSIGNALED(status) && WTERMSIG(status) == SIGKILL && ++outcome_.deaths < deaths_max)
    return start(slot, driver_.next_incarnation(slot), "", 1);
  outcome_.error = board_->error[0] != 0 ? std::string(board_->error)
                                         : fmt::format("slot {} ended with wait status {:#x}", slot, status);
}

void Job::kill_all() {
  for (auto& process : processes_) {
    if (process == 0) continue;
    ::kill(process, SIGKILL);
    ::waitpid(process, nullptr, 0);
    process = 0;
  }
}

}  // namespace llamada::crash
