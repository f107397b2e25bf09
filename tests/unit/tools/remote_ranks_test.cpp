// What the command shows of the ranks that a job has on other nodes.
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <nlohmann/json.hpp>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "command.hpp"
#include "llamada/llamanet/driver.hpp"
#include "test.hpp"

using namespace llamada;
using namespace llamada::test;
using nlohmann::json;

namespace {

/// The driver of node 0 of a job whose rank 1 is on node 7. Rank 0 has not started.
class Job {
 public:
  Job() {
    llamanet::DriverOptions options;
    options.name = name;
    options.slot_count_max = 2;
    options.arena_size_bytes = 16 << 20;
    options.nodes = llamanet::JobNodes{0, {0, 7}, "127.0.0.1", 1, {}};
    auto driver = llamanet::Driver::open(options);
    REQUIRE(driver);
    REQUIRE(driver->create_slots(2));
    driver->set_remote(1, llamanet::SlotState::attached, 2);
    thread_ = std::thread([this, driver = std::move(*driver)]() mutable {
      while (!is_over_) (void)driver.poll(std::chrono::milliseconds(1));
    });
  }
  ~Job() {
    is_over_ = true;
    thread_.join();
  }
  const std::string name = fmt::format("job-{:016x}-0", ::getpid());

 private:
  std::atomic<bool> is_over_{false};
  std::thread thread_;
};

std::string shown(std::vector<std::string> arguments) {
  arguments.insert(arguments.begin(), LLAMADA_COMMAND);
  const Ended ended = run(std::move(arguments));
  REQUIRE(ended.exit_code == 0);
  return ended.out;
}

}  // namespace

TEST_CASE("llamada: ranks of other nodes are shown as such, and nothing is said that only their node knows",
          "[tools]") {
  const Job job;
  CHECK(shown({"ls"}).find("  rank 1  on node 7  incarnation 2  running\n") != std::string::npos);
  const json drivers = json::parse(shown({"ls", "--json"}))["drivers"];
  const auto is_job = [&](const json& each) { return each["name"] == job.name; };
  const auto here = std::ranges::find_if(drivers, is_job);
  REQUIRE(here != drivers.end());
  CHECK((*here)["applications"] ==
        json::parse(R"([{"slot": 1, "state": "running", "incarnation": 2, "deaths": 0, "node": 7}])"));
  CHECK(shown({"why", job.name}).find("rank 1 is on node 7; run `llamada why` there") != std::string::npos);
  const json jobs = json::parse(shown({"top", "--once", "--json", "--interval", "0.05"}))["jobs"];
  const auto looked_at =
      std::ranges::find_if(jobs, [&](const json& each) { return each["job"] == job.name; });
  REQUIRE(looked_at != jobs.end());
  CHECK((*looked_at)["ranks"].empty());
}
