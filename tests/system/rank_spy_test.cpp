// `llamada spy ranks` at real jobs.

#include "rank_spy.hpp"

#include <signal.h>

#include <algorithm>
#include <set>
#include <thread>

#include "llamada/base/random.hpp"

namespace {

using namespace llamada;
using namespace llamada::system_test;
using test::Ended;
using test::Running;

bool has(const std::string& text, const std::string& part) { return text.find(part) != std::string::npos; }

std::vector<Known> known_in(const Ended& spied) {
  std::vector<Known> seen;
  for (const auto& line : lines_of(spied.out)) seen.push_back(known_of(line));
  return seen;
}

/// Waits until the spy has met all three ranks.
void await_met(const Running& spy) {
  REQUIRE(wait_for([&] {
    const std::string err = spy.err();
    return has(err, "rank 0 runs") && has(err, "rank 1 runs") && has(err, "rank 2 runs");
  }));
}

}  // namespace

TEST_CASE("spy ranks: shows each message as it is sent, and ends with the job", "[system]") {
  Running spy(spy_command({"--json"}));
  KnownJob job({});
  await_met(spy);
  job.go();
  job.await_sent();
  CHECK(job.end() == 0);
  const Ended spied = spy.end();
  INFO(spied.err);
  CHECK(spied.exit_code == 0);
  std::vector<Known> expected = known_messages();
  // Nothing is kept: they go from memory to memory.
  for (Known& each : expected)
    if (each.length == 300000) each.first_bytes.clear();
  check_same(known_in(spied), expected);
  CHECK(has(spied.err, "rank 2 has ended"));
}

TEST_CASE("spy ranks: filters, text, and the job by mpirun's process id", "[system]") {
  KnownJob job({"--qos", "fault-tolerant"});
  job.go();
  job.await_sent();
  const std::string pid = std::to_string(job.process().pid());
  const Ended text = test::run(spy_command({pid, "--history", "--tag", "7", "--count", "1"}));
  INFO(text.err);
  CHECK(text.out == "0 -> 1  MPI_COMM_WORLD  tag 7  5 bytes  68 65 6c 6c 6f  |hello|\n");
  const Ended to = test::run(spy_command({"--json", "--history", "--to", "2", "--count", "3"}));
  std::vector<Known> expected = known_messages();
  std::erase_if(expected, [](const Known& each) { return each.destination != 2; });
  check_same(known_in(to), expected);
  const Ended from =
      test::run(spy_command({"--json", "--history", "--from", "1", "--count", "1", "--bytes", "2"}));
  REQUIRE(lines_of(from.out).size() == 1);
  CHECK(lines_of(from.out)[0]["tag"] == 21);
  CHECK(lines_of(from.out)[0]["first_bytes"] == "9210");
  const Ended collectives =
      test::run(spy_command({"--json", "--history", "--from", "0", "--collectives", "--count", "40"}));
  CHECK(has(collectives.out, "\"collective\":\"Bcast\""));
  CHECK(job.end() == 0);
}

TEST_CASE("spy ranks --history: all messages of a job that keeps histories, with their numbers", "[system]") {
  KnownJob job({"--qos", "fault-tolerant"});
  job.go();
  job.await_sent();
  const auto expected = known_messages();
  const Ended spied =
      test::run(spy_command({"--json", "--history", "--count", std::to_string(expected.size())}));
  INFO(spied.err);
  check_same(known_in(spied), expected);
  for (const auto& line : lines_of(spied.out))
    if (line["tag"] == 100)
      CHECK(line["ordinal"] ==
            4 + std::stoi(line["first_bytes"].get<std::string>(), nullptr, 16) / 0x1000000);
  CHECK(job.end() == 0);
}

TEST_CASE("spy ranks: what a replacement repeats is shown once", "[system]") {
  // Of rank 0: MPI_Init, Comm_rank, Comm_dup, and then Bcasts until it may send.
  Running spy(spy_command({"--json"}));
  KnownJob job({"--qos", "fault-tolerant", "--inject", "kill rank 0 in MPI_Send 12", "--inject",
                "kill rank 1 in MPI_Recv 9"});
  await_met(spy);
  job.go();
  job.await_sent();
  CHECK(job.end() == 0);
  const Ended spied = spy.end();
  INFO(spied.err << "\n" << job.process().errors());
  check_same(known_in(spied), known_messages());
  std::set<std::string> names;
  for (const auto& line : lines_of(spied.out))
    CHECK(names
              .insert(fmt::format("{} {} {} {}", line["source"].dump(), line["destination"].dump(),
                                  line["context"].dump(), line["ordinal"].dump()))
              .second);
  for (const char* what : {"rank 0 has died", "rank 0 is replaced by incarnation 2", "rank 0 is live again"})
    CHECK(has(spied.err, what));
}

TEST_CASE("spy ranks: shows the messages of spawned worlds, and names their ranks as llamada ls does",
          "[system]") {
  for (const char* profile : {"default", "fault-tolerant"}) {
    INFO(profile);
    const test::TemporaryFolder folder;
    const std::string go = folder / "go", end = folder / "end";
    Running spy(spy_command({"--json"}));
    Job job({"-n", "2", "--qos", profile, LLAMADA_KNOWN_MESSAGES, "worlds", go, end});
    REQUIRE(wait_for([&] { return has(spy.err(), "rank 2 runs") && has(spy.err(), "rank 3 runs"); }));
    std::ofstream(go) << "go";
    std::ofstream(end) << "end";
    CHECK(job.wait() == 0);
    const Ended spied = spy.end();
    INFO(spied.err);
    CHECK(spied.exit_code == 0);
    std::vector<Known> seen;  // those of the library's own have other tags
    for (const Known& each : known_in(spied))
      if (each.tag >= 31 && each.tag <= 33) seen.push_back(each);
    std::ranges::sort(seen);
    CHECK(seen == std::vector<Known>{
                      {1, 3, 0, 33, 4, "646f776e"}, {2, 0, 0, 31, 2, "7570"}, {3, 2, 1, 32, 4, "73696465"}});
  }
}

TEST_CASE("spy ranks: a spy that is killed leaves nothing and holds nobody", "[system]") {
  KnownJob job({});
  job.go();
  job.await_sent();
  Random random(static_cast<std::uint64_t>(job.process().pid()));
  for (int i = 0; i < 20; ++i) {
    Running spy(spy_command({"--history", "--collectives"}));
    std::this_thread::sleep_for(std::chrono::milliseconds(random.below(40)));
    spy.send(SIGKILL);
    CHECK(spy.end().exit_code == 128 + SIGKILL);
  }
  CHECK(job.end() == 0);
  CHECK(job.process().wait_until_none_is_left(std::chrono::seconds(60)).empty());
}

TEST_CASE("spy ranks: what does not go together is refused in one sentence", "[system]") {
  const auto refusal = [](std::vector<std::string> arguments) {
    const Ended ended = test::run(spy_command(std::move(arguments)));
    CHECK(ended.exit_code == 2);
    return ended.err;
  };
  CHECK(has(refusal({"--where", "tag = 3"}), "--where does not go with `spy ranks`"));
  CHECK(has(refusal({"--csv"}), "--csv does not go with"));
  CHECK(has(refusal({"--collectives", "--tag", "3"}), "--collectives does not go with --to and --tag"));
  CHECK(has(refusal({"--publish", "--json"}), "--publish prints no messages"));
  const Ended other = test::run({LLAMADA_COMMAND, "spy", "results", "--from", "1"});
  CHECK(other.exit_code == 2);
  CHECK(has(other.err, "belong to `llamada spy ranks`"));
}
