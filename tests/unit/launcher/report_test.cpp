#include "llamada/launcher/report.hpp"

#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <nlohmann/json.hpp>

#include "llamada/log/drop_counters.hpp"
#include "temporary_folder.hpp"
#include "test.hpp"

using namespace llamada;
using namespace llamada::launcher;

namespace {

Report some_report() {
  Report report;
  report.job_number = 0xabc;
  report.rank_count = 2;
  report.profile = "fault-tolerant";
  DeathRecord death;
  death.rank = 1;
  death.pid = 42;
  death.signal = 9;
  death.mpi_call = "MPI_Send";
  death.call_index = 7;
  death.state = RankState::in_program;
  death.respawn_s = 0.5;
  death.sent_before = true;
  report.deaths = {death};
  report.replacements = 1;
  report.injections = {{"kill rank 1 at call 7", true, 1}};
  report.ranks.resize(2);
  for (RankView& rank : report.ranks)
    rank.counters[static_cast<std::size_t>(log::Counter::sends_compared)] = 5;
  return report;
}

}  // namespace

TEST_CASE("report: has the deaths, the rules and the counters", "[launcher]") {
  const auto json = nlohmann::json::parse(report_to_json(some_report()));
  CHECK(json["job"] == "0000000000000abc");
  CHECK(json["ranks"] == 2);
  CHECK(json["deaths"][0]["phase"] == "running");
  CHECK(json["deaths"][0]["signal"] == 9);
  CHECK(json["deaths"][0]["exit_code"].is_null());
  CHECK(json["deaths"][0]["respawn_s"] == 0.5);
  CHECK(json["deaths"][0]["replay_s"].is_null());
  CHECK(json["injections"][0]["fired"] == true);
  CHECK(json["totals"]["sends_compared"] == 10);
  CHECK(json["per_rank"][1]["sends_compared"] == 5);
}

TEST_CASE("report: of a job on several nodes, says which frames were dropped, by whom and why",
          "[launcher]") {
  Report report = some_report();
  CHECK_FALSE(nlohmann::json::parse(report_to_json(report)).contains("frames_dropped"));
  report.ranks[1].counters[log::drop_counter_first + 3] = 3;
  report.ranks[1].counters[static_cast<std::size_t>(log::unread_counter)] = 9;
  report.driver_drops = {{0, {1, 2, 3, 4, 5, 6, 7, 8, 9}}, {1, {}}};
  const auto dropped = nlohmann::json::parse(report_to_json(report))["frames_dropped"];
  CHECK((dropped["ranks"][0]["forged"] == 0 && dropped["ranks"][0]["unread"] == 0));
  CHECK((dropped["ranks"][1]["forged"] == 3 && dropped["ranks"][1]["unread"] == 9));
  CHECK((dropped["drivers"][0]["foreign"] == 1 && dropped["drivers"][0]["other_incarnation"] == 6));
  CHECK((dropped["drivers"][0]["repeated"] == 8 && dropped["drivers"][0]["unread"] == 9));
  CHECK(dropped["drivers"][1]["unread"] == 0);
}

TEST_CASE("report: is written with what mpirun knows, also when llamanetd told nothing", "[launcher]") {
  const test::TemporaryFolder folder;
  const std::string path = folder / "report";
  REQUIRE(write_report(path, report_to_json(some_report()), 3, 1.5));
  auto json = nlohmann::json::parse(std::ifstream(path));
  CHECK((json["exit_code"] == 3 && json["wall_seconds"] == 1.5 && json["replacements"] == 1));
  REQUIRE(write_report(path, "", 125, 0.5));
  json = nlohmann::json::parse(std::ifstream(path));
  CHECK((json["exit_code"] == 125 && !json.contains("deaths")));
  CHECK_FALSE(write_report("/nowhere/report.json", "", 0, 0));
}
