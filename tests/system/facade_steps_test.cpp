#include <signal.h>

#include <filesystem>
#include <fstream>
#include <nlohmann/json.hpp>
#include <set>

#include "crash_points.hpp"
#include "job_process.hpp"
#include "temporary_folder.hpp"
#include "test.hpp"

// A rank killed at every step of the facade: between what it decides and its record, between a record and its
// effects, between a contribution and its announcement; in its first life, in a replay, and twice.

namespace {

using namespace llamada::system_test;
using Json = nlohmann::json;

/// A crash point of mpi-facade/src and when a rank of the program comes to it.
struct Step {
  const char* name;
  enum When {
    live,        ///< only before a replay, or after it
    both,        ///< in a replay too
    either,      ///< in a replay if the others are slow
    bulk,        ///< only when no histories are kept
    replay,      ///< only in a replay, or at its end
    input,       ///< only where there is standard input: tests/mpi/input_pieces.sh
    checkpoint,  ///< only where checkpoints are taken: tests/mpi/checkpoints.sh
    standby,     ///< only where standbys are made: tests/mpi/standby.py
  } when;
  int most = 3;  ///< the last pass that is tried
};

const std::vector<Step> steps = {
    {"append:announced", Step::live},
    {"append:opened", Step::live},
    {"append:opening", Step::live},
    {"append:written", Step::live},
    {"bulk:announced", Step::bulk},
    {"bulk:granted", Step::bulk},
    {"bulk:piece-logged", Step::bulk},
    {"bulk:piece-taken", Step::bulk},
    {"bulk:sent", Step::bulk},
    {"cancel:decided", Step::live},
    {"cancel:recorded", Step::live},
    {"checkpoint:agreed", Step::checkpoint},
    {"checkpoint:all-passed", Step::checkpoint},
    {"checkpoint:begun", Step::checkpoint},
    {"checkpoint:kept", Step::checkpoint},
    {"checkpoint:left", Step::checkpoint},
    {"checkpoint:log-given-back", Step::checkpoint},
    {"checkpoint:opened", Step::checkpoint},
    {"checkpoint:passed", Step::checkpoint},
    {"checkpoint:records-given-back", Step::checkpoint},
    {"checkpoint:region-written", Step::checkpoint},
    {"checkpoint:restored", Step::checkpoint},
    {"checkpoint:written", Step::checkpoint},
    {"collective:compared", Step::replay},
    {"collective:contributed", Step::live},
    {"collective:passed", Step::both},
    {"collective:taken", Step::both},
    {"communicator:agreed", Step::both},
    {"completion:decided", Step::live},
    {"completion:part-recorded", Step::live},
    {"completion:recorded", Step::live},
    {"file:announced", Step::live},
    {"file:begun", Step::live},
    {"file:done", Step::live},
    {"file:part-recorded", Step::live},
    {"file:part-written", Step::live},
    {"file:recorded", Step::live},
    {"file:repeated", Step::replay},
    {"finalize:agreed", Step::live, 1},
    {"finalize:done", Step::live, 1},
    {"direct:claimed", Step::bulk},
    {"direct:granted", Step::bulk},
    {"direct:over", Step::bulk},
    {"direct:part-copied", Step::bulk},
    {"fruitless:recorded", Step::live},
    {"init:engine-made", Step::both, 1},
    {"input:read", Step::input},
    {"match:acknowledged", Step::both},
    {"match:decided", Step::live},
    {"match:delivered", Step::both},
    {"match:recorded", Step::live},
    {"match:repeated", Step::replay},
    {"name:announced", Step::live},
    {"name:changed", Step::live},
    {"probe:decided", Step::live},
    {"probe:recorded", Step::live},
    {"random:part-recorded", Step::live},
    {"replay:ended", Step::replay, 1},
    {"replay:live", Step::replay, 1},
    {"replay:outcome-taken", Step::replay},
    {"send:acknowledged", Step::either},
    {"send:compared", Step::replay},
    {"send:logged", Step::live},
    {"send:patch-logged", Step::live},
    {"shared-pointer:decided", Step::live},
    {"shared-pointer:locked", Step::live},
    {"shared-pointer:moved", Step::live},
    {"shared-pointer:unlocked", Step::live},
    {"standby:begun", Step::standby},
    {"standby:chosen", Step::standby},
    {"standby:logs-opened", Step::standby},
    {"standby:made", Step::standby},
    {"standby:replaying", Step::standby},
    {"standby:woken", Step::standby},
    {"value:recorded", Step::live},
};

/// How a job with rules for deaths ended.
struct Ran {
  int code = -1;
  std::string output, errors;
  Json report;
  std::size_t deaths() const { return report.value("deaths", Json::array()).size(); }
  /// Whether the rule with this place in the order fired.
  bool fired(std::size_t rule) const { return report["injections"].at(rule)["fired"]; }
};

Ran run(const std::string& profile, const std::vector<std::string>& rules) {
  const llamada::test::TemporaryFolder folder;
  std::vector<std::string> arguments = {"-n", "3", "--qos", profile, "--report", folder / "report"};
  for (const std::string& rule : rules) arguments.insert(arguments.end(), {"--inject", rule});
  arguments.insert(arguments.end(), {LLAMADA_EVERY_STEP, "-s", "12", "-p", "0"});
  Job job(arguments);
  Ran ran;
  ran.code = job.wait();
  for (const Found& process : job.wait_until_none_is_left(std::chrono::seconds(60)))
    FAIL_CHECK("left: " << process.pid << " " << process.name);
  ran.output = job.output();
  ran.errors = job.errors();
  ran.report = Json::parse(std::ifstream(folder / "report"), nullptr, false);
  if (!ran.report.is_object()) ran.report = Json::object();
  return ran;
}

const std::string& answer() {
  static const std::string text = run("fault-tolerant", {}).output;
  return text;
}

/// The job survived all of its deaths.
void check_right(const Ran& ran) {
  CAPTURE(ran.errors);
  CHECK(ran.code == 0);
  CHECK(ran.output == answer());
  CHECK(ran.report.value("replacements", std::size_t{0}) == ran.deaths());
}

std::string kill_at(const Step& step, int rank, int count, int incarnation = 1) {
  std::string rule =
      "kill rank " + std::to_string(rank) + " at step " + step.name + ":" + std::to_string(count);
  if (incarnation > 1) rule += " of incarnation " + std::to_string(incarnation);
  return rule;
}

}  // namespace

TEST_CASE("facade: the list of crash points is that of the sources", "[system]") {
  std::set<std::string> listed;
  for (const Step& step : steps) listed.insert(step.name);
  CHECK(listed == llamada::test::crash_points_in(std::filesystem::path(LLAMADA_SOURCES) / "mpi-facade/src"));
  CHECK(answer().find("ok every_step") != std::string::npos);
}

TEST_CASE("facade: a rank killed at any step of its first life is replaced, and the answer is right",
          "[system]") {
  for (const Step& step : steps) {
    if (step.when == Step::bulk || step.when == Step::replay || step.when >= Step::input) continue;
    for (int rank : {0, 1})
      for (int count = 1; count <= step.most; count += 2) {
        const std::string rule = kill_at(step, rank, count);
        CAPTURE(rule);
        const Ran ran = run("fault-tolerant", {rule});
        check_right(ran);
        CHECK(ran.fired(0));
        CHECK(ran.deaths() == 1);
      }
  }
}

TEST_CASE("facade: ranks killed while a large message is announced, and is copied or compared, are replaced",
          "[system]") {
  for (int rank : {0, 1})
    for (const auto& [name, count] : {std::pair{"publish:announced", 1},
                                      {"publish:announced", 2},
                                      {"publish:announced", 3},
                                      {"publish:some-equal", 1},
                                      {"publish:some-equal", 70},
                                      {"publish:some-filled", 2},
                                      {"publish:some-filled", 9}}) {
      const Step step{name, Step::live};
      const std::string first = kill_at(step, rank, count), again = kill_at(step, rank, 1, 2),
                        other = kill_at(step, 1 - rank, count);
      CAPTURE(first, again, other);
      const Ran once = run("fault-tolerant", {first});
      check_right(once);
      CHECK(once.fired(0));
      CHECK(once.deaths() == 1);
      const Ran twice = run("fault-tolerant", {first, again, other});
      check_right(twice);
      CHECK(twice.fired(0));
      CHECK(twice.fired(2));
    }
}

TEST_CASE("facade: a rank killed while it withdraws what its predecessor announced is replaced again",
          "[system]") {
  for (const char* point : {"publish:withdrawal-written", "publish:withdrawn"}) {
    CAPTURE(point);
    const Ran ran = run("fault-tolerant", {kill_at({"publish:some-filled", Step::live}, 0, 2),
                                           kill_at({point, Step::replay}, 0, 1, 2)});
    check_right(ran);
    CHECK(ran.fired(0));
    CHECK(ran.fired(1));
    CHECK(ran.deaths() == 2);
  }
}

TEST_CASE("facade: a rank killed at any step of a replay is replaced again, and the answer is right",
          "[system]") {
  for (const Step& step : steps) {
    if (step.when == Step::bulk || step.when == Step::live || step.when >= Step::input) continue;
    for (int count = 1; count <= step.most; ++count) {
      const std::string rule = kill_at(step, 1, count, 2);
      CAPTURE(rule);
      const Ran ran = run("fault-tolerant", {"kill rank 1 in MPI_Finalize", rule});
      check_right(ran);
      CHECK(ran.fired(0));
      if (step.when == Step::either) continue;
      CHECK(ran.fired(1));
      REQUIRE(ran.deaths() == 2);
      CHECK((ran.report["deaths"][1]["replaying"] == true || step.name == std::string("replay:live")));
    }
  }
}

TEST_CASE("facade: a rank killed at the same step in two lives is replaced twice, and the answer is right",
          "[system]") {
  for (const Step& step : steps) {
    if (step.when != Step::live) continue;
    const std::string first = kill_at(step, 1, 1), second = kill_at(step, 1, 1, 2);
    CAPTURE(first, second);
    const Ran ran = run("fault-tolerant", {first, second});
    check_right(ran);
    CHECK(ran.fired(0));
  }
}

TEST_CASE("facade: a rank killed at any step without histories ends the job, and nobody waits for ever",
          "[system]") {
  for (const Step& step : steps) {
    if (step.when != Step::bulk) continue;
    for (int count = 1; count <= step.most; ++count) {
      const std::string rule = kill_at(step, 1, count);
      CAPTURE(rule);
      const Ran ran = run("default", {rule});
      CAPTURE(ran.errors);
      CHECK(ran.fired(0));
      CHECK(ran.code == 128 + SIGKILL);
      CHECK(ran.errors.find("rank 1 of 3 died") != std::string::npos);
    }
  }
}
