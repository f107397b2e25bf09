#include "injector.hpp"

#include <signal.h>

#include "test.hpp"

// What the rules of --inject do, with hands that only note what they are told.

using namespace llamada;
using namespace llamada::launcher;
using namespace std::chrono_literals;

namespace {

/// A job of three ranks whose hands note what they do.
struct Tested {
  explicit Tested(const std::vector<std::string>& texts) {
    std::vector<InjectRule> rules;
    for (const std::string& text : texts) {
      auto rule = parse_inject_rule(text);
      if (!rule) FAIL(rule.error().text());
      rules.push_back(std::move(*rule));
    }
    Injector::Hands hands;
    hands.signal = [this](std::uint32_t rank, int signal) {
      if (rank == absent) return false;
      done.push_back(fmt::format("{} {}", signal_name(signal), rank));
      return true;
    };
    hands.is_replaying = [this](std::uint32_t) { return replaying; };
    hands.kill_driver = [this](const std::string&) { done.emplace_back("driver"); };
    hands.hit_node = [this](const InjectRule& rule, const std::string&) {
      done.push_back((rule.deed == InjectDeed::pause ? "pause node " : "node ") + rule.name);
    };
    hands.kill_mpirun = [this](const std::string&) { done.emplace_back("mpirun"); };
    hands.limit_log = [this](std::uint64_t size_bytes) { done.push_back(fmt::format("log {}", size_bytes)); };
    injector = std::make_unique<Injector>(loop, std::move(rules), std::move(hands));
  }
  void start() const { injector->job_started(3); }
  /// Runs until so much has been done.
  void run_until(std::size_t count) {
    while (done.size() < count) REQUIRE(loop.run_once());
  }
  /// Runs so long, whatever is done.
  void run_for(std::chrono::milliseconds length) {
    bool over = false;
    loop.after(length, [&over] { over = true; });
    while (!over) REQUIRE(loop.run_once());
  }

  EventLoop loop;
  std::uint32_t absent = 99;  ///< the rank that has no process
  bool replaying = true;
  std::vector<std::string> done;
  std::unique_ptr<Injector> injector;
};

using Done = std::vector<std::string>;

}  // namespace

TEST_CASE("injector: several rules at once, each at its time", "[launcher]") {
  Tested job(
      {"kill rank 1 after 30 ms", "stop rank 2 after 1 ms for 10 ms", "memory full after 1 MiB of log"});
  job.start();
  job.run_until(4);
  CHECK(job.done == Done{"log 1048576", "SIGSTOP 2", "SIGCONT 2", "SIGKILL 1"});
  for (const InjectionRecord& record : job.injector->records()) {
    CAPTURE(record.rule);
    CHECK(record.fired == (record.rule[0] != 'm'));
  }
  CHECK(job.injector->memory_used_up() == "memory full after 1 MiB of log");
  CHECK(job.injector->records()[2].fired);
}

TEST_CASE("injector: the same seed hits the same ranks, whichever of them live", "[launcher]") {
  const std::vector<std::string> rule{"kill any every ~1 ms 20 times seed 7"};
  Tested first(rule), second(rule), other({"kill any every ~1 ms 20 times seed 8"}), absent(rule);
  absent.absent = 1;
  for (Tested* job : {&first, &second, &other, &absent}) {
    job->start();
    job->run_until(20);
    job->run_for(20ms);
    CHECK(job->done.size() == 20);
    CHECK(job->injector->records()[0].times == 20);
  }
  CHECK(first.done == second.done);
  CHECK(first.done != other.done);
  for (std::size_t i = 0; i < 20; ++i)
    CHECK(absent.done[i] == (first.done[i] == "SIGKILL 1" ? "SIGKILL 2" : first.done[i]));
}

TEST_CASE("injector: a seed that nobody gave is told, and makes the same again", "[launcher]") {
  Tested job({"kill any every ~1 ms 10 times", "kill rank 1 after 1 s"});
  job.start();
  job.run_until(10);
  const std::string text = job.injector->records()[0].rule;
  CHECK(text.find("kill any every ~1 ms 10 times seed ") == 0);
  CHECK(job.injector->drawn_seeds() ==
        "mpirun: a seed was drawn; to repeat these failures: --inject '" + text + "'.\n");
  Tested again({text});
  again.start();
  again.run_until(10);
  CHECK(again.done == job.done);
  CHECK(again.injector->drawn_seeds().empty());
}

TEST_CASE("injector: of a replay the first is hit that is still going on", "[launcher]") {
  Tested job({"kill rank 1 after 1 ms of replay"});
  job.start();
  job.injector->rank_started(1, 1);
  job.run_for(20ms);
  CHECK(job.done.empty());
  job.replaying = false;
  job.injector->rank_started(1, 2);
  job.run_for(20ms);
  CHECK(job.done.empty());
  job.replaying = true;
  job.injector->rank_started(1, 3);
  job.run_until(1);
  job.injector->rank_started(1, 4);
  job.run_for(20ms);
  CHECK(job.done == Done{"SIGKILL 1"});
}

TEST_CASE("injector: a slow rank is stopped and continued in turn, and not while the job is suspended",
          "[launcher]") {
  Tested job({"slow rank 0 by 25 % for 10 s"});
  job.start();
  job.run_until(6);
  for (std::size_t i = 0; i < 6; ++i) CHECK(job.done[i] == (i % 2 == 0 ? "SIGSTOP 0" : "SIGCONT 0"));
  job.injector->hold(true);
  job.done.clear();
  job.run_for(50ms);
  CHECK(job.done.empty());
  job.injector->hold(false);
  job.run_until(2);
  job.injector->job_ends();
  job.done.clear();
  job.run_for(50ms);
  CHECK(job.done.empty());
}

TEST_CASE("injector: the driver, mpirun, and a rule for a job that runs", "[launcher]") {
  Tested job({"kill driver", "kill mpirun after 10 ms"});
  job.start();
  job.run_until(2);
  CHECK(job.done == Done{"driver", "mpirun"});
  CHECK(job.injector->add(*parse_inject_rule("kill rank 2 after 1 ms signal SIGTERM")) ==
        "kill rank 2 after 1 ms signal SIGTERM");
  job.run_until(3);
  CHECK(job.done[2] == "SIGTERM 2");
}

TEST_CASE("injector: a rank learns of its calls when it starts", "[launcher]") {
  Tested job({"kill rank 1 at call 5", "kill rank 1 in MPI_Send 3 signal 11",
              "kill any in the middle of MPI_Bcast", "kill any at call 9 of incarnation 2 seed 5"});
  job.start();
  CHECK(job.injector->identity_lines(1, 1).find("die_at_call=5\n") == 0);
  CHECK(job.injector->identity_lines(1, 2).find("die_in=MPI_Send:3\ndie_signal=11\n") == 0);
  std::string all;
  for (std::uint32_t rank = 0; rank < 3; ++rank)
    for (std::uint32_t incarnation = 1; incarnation < 5; ++incarnation)
      all += job.injector->identity_lines(rank, incarnation);
  CHECK(all.find("die_in_middle=MPI_Bcast:1\n") != std::string::npos);
  CHECK(all.find("die_at_call=9\n") != std::string::npos);
}
