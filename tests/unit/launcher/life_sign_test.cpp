#include "life_sign.hpp"

#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <fstream>

#include "temporary_folder.hpp"
#include "test.hpp"

// What the kernel says of processes: of a child of this test, and of one in a /proc of the test's own.

using namespace llamada;
using namespace llamada::launcher;

namespace {

using State = LifeSign::State;

/// A child that sleeps, or computes, until the end of the test.
class Child {
 public:
  explicit Child(bool computes) : pid_(fork()) {
    if (pid_ != 0) return;
    for (volatile std::uint64_t count = 0;; count = count + 1)
      if (!computes) pause();
  }
  ~Child() {
    kill(pid_, SIGKILL);
    waitpid(pid_, nullptr, 0);
  }
  Child(const Child&) = delete;
  Child& operator=(const Child&) = delete;

  LifeSign sign() const {
    const auto sign = life_sign_of(pid_);
    REQUIRE(sign);
    return *sign;
  }
  void stop() const {
    kill(pid_, SIGSTOP);
    int status = 0;
    REQUIRE(waitpid(pid_, &status, WUNTRACED) == pid_);
    REQUIRE(WIFSTOPPED(status));
  }
  void wait_until_asleep() const {
    while (sign().state != State::asleep) usleep(1000);
  }
  pid_t pid() const { return pid_; }

 private:
  pid_t pid_;
};

/// The files of one process, as a kernel would show them.
struct Kernel {
  Kernel() {
    write("self/cgroup", "0::/driver\n");
    write("7/stat", "7 (a) b) S 1 1 1 0 -1 4194560 95 0 0 0 3 4 0 0 20 0 1 0 100\n");
    write("7/status",
          "Name:\ta\nTracerPid:\t0\nvoluntary_ctxt_switches:\t5\nnonvoluntary_ctxt_switches:\t6\n");
    write("7/cgroup", "0::/driver\n");
  }
  void write(const std::string& name, const std::string& text) const {
    const std::filesystem::path path = std::filesystem::path(files.processes) / name;
    std::filesystem::create_directories(path.parent_path());
    std::ofstream(path) << text;
  }
  LifeSign sign() const {
    const auto sign = life_sign_of(7, files);
    REQUIRE(sign);
    return *sign;
  }

  test::TemporaryFolder folder;
  KernelFiles files{folder / "proc", folder / "cgroup"};
};

}  // namespace

TEST_CASE("life sign: a stopped process is stopped, does not move, and moves when it goes on", "[launcher]") {
  const Child child(false);
  child.wait_until_asleep();
  child.stop();
  CHECK(is_stopped(child.pid()));
  const LifeSign first = child.sign(), second = child.sign();
  CHECK(first.state == State::stopped);
  CHECK(first.progress == second.progress);
  kill(child.pid(), SIGCONT);
  child.wait_until_asleep();
  CHECK_FALSE(is_stopped(child.pid()));
  child.stop();
  CHECK(child.sign().state == State::stopped);
  CHECK(child.sign().progress != second.progress);
}

TEST_CASE("life sign: a process that computes is runnable, and moves", "[launcher]") {
  const Child child(true);
  while (child.sign().state != State::runnable) usleep(1000);
  const LifeSign first = child.sign();
  while (child.sign().progress == first.progress) usleep(1000);
  CHECK(child.sign().tracer == 0);
}

TEST_CASE("life sign: there is none of a process that is dead", "[launcher]") {
  const pid_t child = fork();
  if (child == 0) _exit(0);
  siginfo_t end{};
  REQUIRE(waitid(P_PID, static_cast<id_t>(child), &end, WEXITED | WNOWAIT) == 0);
  CHECK_FALSE(life_sign_of(child));  // a zombie
  waitpid(child, nullptr, 0);
  CHECK_FALSE(life_sign_of(child));
  CHECK_FALSE(is_stopped(child));
}

TEST_CASE("life sign: ticks, switches and the threads' time are progress; one runnable thread counts",
          "[launcher]") {
  const Kernel kernel;
  CHECK(kernel.sign().state == State::asleep);
  CHECK(kernel.sign().progress == 3 + 4 + 5 + 6);
  kernel.write("7/task/8/stat", "8 (a) R 1 1 1 0 -1 4194560 95 0 0 0 3 4 0 0 20 0 1 0 100\n");
  kernel.write("7/task/8/schedstat", "1000 7 9\n");
  CHECK(kernel.sign().state == State::runnable);
  CHECK(kernel.sign().progress == 1018);
}

TEST_CASE("life sign: a debugger is seen", "[launcher]") {
  const Kernel kernel;
  kernel.write("7/status", "Name:\ta\nTracerPid:\t4711\n");
  CHECK(kernel.sign().tracer == 4711);
}

TEST_CASE("life sign: a frozen control group is seen, in both versions", "[launcher]") {
  const Kernel kernel;
  kernel.write("../cgroup/job/cgroup.events", "populated 1\nfrozen 0\n");
  kernel.write("../cgroup/freezer/job/freezer.state", "THAWED\n");
  kernel.write("7/cgroup", "6:freezer:/job\n0::/job\n");
  CHECK(kernel.sign().state == State::asleep);
  kernel.write("../cgroup/job/cgroup.events", "populated 1\nfrozen 1\n");
  CHECK(kernel.sign().state == State::frozen);
  kernel.write("../cgroup/job/cgroup.events", "populated 1\nfrozen 0\n");
  kernel.write("../cgroup/freezer/job/freezer.state", "FROZEN\n");
  CHECK(kernel.sign().state == State::frozen);
  kernel.write("self/cgroup", "6:freezer:/job\n0::/job\n");  // the observer is frozen, too, or was
  CHECK(kernel.sign().state == State::asleep);
}
