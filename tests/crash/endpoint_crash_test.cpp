// A process with a Participant is killed at every step of announcing, matching, publishing into slots and
// holding; the others carry on, what had been published is whole, and a newcomer in its place gets all again.

#include <signal.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <set>

#include "endpoint_workload.hpp"
#include "llamada/base/crash_point.hpp"
#include "llamada/llamanet/driver.hpp"
#include "points.hpp"
#include "test.hpp"

namespace llamada::crash {
namespace {

constexpr std::uint32_t process_count = 3;

/// A writer and two readers with a driver in this process, until all have ended as they should. The one that
/// dies is followed by another in its role, which is not to die.
class EndpointJob {
 public:
  EndpointJob() {
    static int last = 0;
    llamanet::DriverOptions options;
    options.name = fmt::format("crash-endpoints-{}-{}", ::getpid(), ++last);
    options.slot_count_max = 8;
    options.arena_size_bytes = 64 << 20;
    options.on_demand = true;
    auto driver = llamanet::Driver::open(options);
    REQUIRE(driver);
    driver_ = std::make_unique<llamanet::Driver>(std::move(*driver));
    void* mapped =
        ::mmap(nullptr, sizeof(EndpointBoard), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    REQUIRE(mapped != MAP_FAILED);
    board_ = static_cast<EndpointBoard*>(mapped);
  }
  ~EndpointJob() {
    for (const pid_t process : processes_) {
      if (process == 0) continue;
      ::kill(process, SIGKILL);
      ::waitpid(process, nullptr, 0);
    }
    ::munmap(board_, sizeof(EndpointBoard));
  }

  /// Empty: all was as it must be.
  std::string run(std::uint32_t role = 0, const std::string& point = {}, std::uint64_t count = 1) {
    for (std::uint32_t i = 0; i < process_count; ++i) start(i, i == role ? point : "", count);
    while (error_.empty() && !collect()) driver_->poll(std::chrono::milliseconds(1));
    return error_;
  }
  int deaths() const { return deaths_; }
  Passes passes(std::uint32_t role) const { return parse_passes(board_->points[role]); }

 private:
  void start(std::uint32_t role, const std::string& point, std::uint64_t count) {
    const pid_t child = ::fork();
    REQUIRE(child >= 0);
    if (child == 0) {
      ::prctl(PR_SET_PDEATHSIG, SIGKILL);
      if (!point.empty()) arm_crash_point(point, count);
      run_endpoints(role, driver_->socket_name(), *board_);
    }
    processes_[role] = child;
  }

  bool collect() {
    bool any_left = false;
    for (std::uint32_t role = 0; role < process_count; ++role) {
      int status = 0;
      if (processes_[role] != 0 && ::waitpid(processes_[role], &status, WNOHANG) == processes_[role]) {
        processes_[role] = 0;
        judge(role, status);
      }
      any_left |= processes_[role] != 0;
    }
    return !any_left;
  }

  void judge(std::uint32_t role, int status) {
    if (WIFEXITED(status) && WEXITSTATUS(status) == 0) return;
    if (WIFSIGNALED(status) && WTERMSIG(status) == SIGKILL && ++deaths_ == 1) return start(role, "", 1);
    error_ = board_->error[0] != 0 ? std::string(board_->error)
                                   : fmt::format("role {} ended with wait status {:#x}", role, status);
  }

  std::unique_ptr<llamanet::Driver> driver_;
  EndpointBoard* board_ = nullptr;
  pid_t processes_[process_count] = {};
  int deaths_ = 0;
  std::string error_;
};

TEST_CASE("crash: whichever endpoint dies at whatever step, the others carry on", "[crash]") {
  EndpointJob dry;
  REQUIRE(dry.run() == "");
  REQUIRE(dry.deaths() == 0);
  std::set<std::string> passed;
  for (std::uint32_t role : {0u, 1u})
    for (const auto& [point, passes] : dry.passes(role))
      if (is_of_endpoints(point)) passed.insert(point);
  std::set<std::string> sources;
  for (const auto& point : points_in_sources())
    if (is_of_endpoints(point)) sources.insert(point);
  CHECK(only_in(sources, passed) == "");
  for (std::uint32_t role : {0u, 1u})
    for (const auto& [point, passes] : dry.passes(role)) {
      if (!is_of_endpoints(point) && point != "publish:committed" && point != "consume:advanced") continue;
      for (const std::uint64_t count : std::set<std::uint64_t>{1, passes / 2 + 1, passes}) {
        INFO("role " << role << " dies at pass " << count << " of " << point << " (" << passes
                     << " in a dry run)");
        EndpointJob job;
        REQUIRE(job.run(role, point, count) == "");
        if (count == 1) REQUIRE(job.deaths() == 1);
      }
    }
}

}  // namespace
}  // namespace llamada::crash
