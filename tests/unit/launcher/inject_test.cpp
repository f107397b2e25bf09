#include "llamada/launcher/inject.hpp"

#include <signal.h>

#include "llamada/base/random.hpp"
#include "test.hpp"

using namespace llamada;
using namespace llamada::launcher;
using namespace std::chrono_literals;

namespace {

InjectRule good(const std::string& text) {
  auto rule = parse_inject_rule(text);
  INFO(text);
  if (!rule) FAIL(rule.error().text());
  CHECK(rule->text == text);
  return *rule;
}

std::string error_of(const std::string& text) {
  auto rule = parse_inject_rule(text);
  INFO(text);
  REQUIRE_FALSE(rule);
  CHECK(rule.error().code() == Errc::parse_error);
  return rule.error().text();
}

bool contains(const std::string& text, const std::string& part) { return text.find(part) != text.npos; }

}  // namespace

TEST_CASE("inject: times are written with and without units", "[launcher]") {
  CHECK(good("kill rank 2 after 1s").delay == 1s);
  CHECK(good("kill rank 2 after 1").delay == 1s);
  CHECK(good("kill rank 2 after 0.25 s").delay == 250ms);
  CHECK(good("kill rank 2 after 20ms").delay == 20ms);
  CHECK(good("KILL RANK 2 AFTER 20 MS").delay == 20ms);
  CHECK(good("kill rank 2 after 7us").delay == 7us);
  CHECK(good("kill rank 2 after 0").delay == 0s);
  for (const char* bad : {"x", "-1s", "1h", "1e99", "inf", "nan", "s", "9999999999"})
    CHECK(contains(error_of(std::string("kill rank 2 after ") + bad), "a time"));
}

TEST_CASE("inject: calls, functions and steps", "[launcher]") {
  const InjectRule call = good("kill rank 1 at call 500");
  CHECK((call.trigger == InjectTrigger::at_call && call.count == 500 && call.rank == 1 &&
         call.signal == SIGKILL));
  const InjectRule in = good("kill rank 0 in MPI_Allreduce");
  CHECK((in.trigger == InjectTrigger::in_call && in.name == "MPI_Allreduce" && in.count == 1));
  CHECK(good("kill rank 0 in MPI_Allreduce 7").count == 7);
  const InjectRule middle = good("kill rank 0 in the middle of MPI_Bcast 2");
  CHECK((middle.trigger == InjectTrigger::in_middle && middle.name == "MPI_Bcast" && middle.count == 2));
  const InjectRule step = good("kill rank 3 at step publish:committed:4");
  CHECK((step.trigger == InjectTrigger::at_step && step.name == "publish:committed" && step.count == 4));
  CHECK(good("kill rank 3 at step publish:committed").count == 1);
}

TEST_CASE("inject: incarnation and signal", "[launcher]") {
  CHECK_FALSE(good("kill rank 1 at call 5").incarnation);
  const InjectRule rule = good("kill rank 1 in MPI_Send 3 of incarnation 2 signal SIGSEGV");
  CHECK((rule.incarnation == 2u && rule.signal == SIGSEGV && rule.count == 3));
  CHECK(good("kill rank 1 after 1s signal term").signal == SIGTERM);
  CHECK(good("kill rank 1 after 1s signal 11").signal == SIGSEGV);
  CHECK(contains(error_of("kill rank 1 after 1s signal SIGWHAT"), "SIGWHAT"));
  CHECK(contains(error_of("kill rank 1 after 1s of incarnation 0"), "incarnation"));
  CHECK(contains(error_of("kill rank 1 after 1s signal 11 of incarnation 2"), "'of'"));
}

TEST_CASE("inject: any rank, again and again, from a seed", "[launcher]") {
  const InjectRule rule = good("kill any every ~5 s seed 7");
  CHECK((rule.target == InjectTarget::any_rank && rule.trigger == InjectTrigger::every && rule.spread));
  CHECK(rule.delay == 5s);
  CHECK(rule.seed == 7u);
  CHECK_FALSE(rule.times);
  CHECK(rule.draws());
  CHECK(good("kill any rank every ~ 500ms 3 times").times == 3u);
  CHECK_FALSE(good("kill rank 1 every 5 s").draws());
  CHECK(good("kill any in MPI_Allreduce 7 seed 0").seed == 0u);
  CHECK(good("kill any after 1 s of incarnation 2").incarnation == 2u);
  CHECK(contains(error_of("kill any every 0 s"), "a time"));
  CHECK(contains(error_of("kill any every ~5 s 3"), "'times'"));
  CHECK(contains(error_of("kill any every ~5 s of incarnation 2"), "'of'"));
  CHECK(contains(error_of("kill any every ~5 s seed x"), "a seed"));
}

TEST_CASE("inject: during a replay", "[launcher]") {
  const InjectRule rule = good("kill rank 2 after 10 ms of replay");
  CHECK((rule.in_replay && rule.delay == 10ms && !rule.incarnation));
  CHECK(contains(error_of("kill rank 2 at call 7 of replay"), "'replay' goes with 'after'"));
}

TEST_CASE("inject: stopped and slow ranks", "[launcher]") {
  const InjectRule stop = good("stop rank 2 after 1 s for 3 s");
  CHECK((stop.deed == InjectDeed::stop && stop.rank == 2 && stop.delay == 1s && stop.length == 3s));
  CHECK(good("stop any every ~5 s for 20 ms seed 3").deed == InjectDeed::stop);
  const InjectRule slow = good("slow rank 1 by 50 %");
  CHECK((slow.deed == InjectDeed::slow && slow.rank == 1 && slow.percent == 50 && !slow.length));
  CHECK(good("slow rank 1 by 12.5% after 1 s for 2 s").length == 2s);
  CHECK(contains(error_of("stop rank 2 after 1 s"), "'for'"));
  CHECK(contains(error_of("stop rank 2 at call 5 for 1 s"), "'after' or 'every'"));
  CHECK(contains(error_of("slow rank 1 by 50"), "from 1 % to 99 %"));
  CHECK(contains(error_of("slow rank 1 by 100 %"), "from 1 % to 99 %"));
}

TEST_CASE("inject: the launcher's processes and the memory of the log", "[launcher]") {
  CHECK(good("kill node b after 2 s").target == InjectTarget::node);
  CHECK(good("kill node b after 2 s").name == "b");
  CHECK(good("kill node b after 2 s").delay == 2s);
  CHECK(contains(error_of("kill node"), "the name of a host"));
  CHECK(good("pause node b after 2 s for 3 s").deed == InjectDeed::pause);
  CHECK(good("pause node b after 2 s for 3 s").name == "b");
  CHECK(good("pause node b after 2 s for 3 s").delay == 2s);
  CHECK(good("pause node b for 3 s").length == 3s);
  CHECK(contains(error_of("pause rank 2 for 1 s"), "expected 'node'"));
  CHECK(contains(error_of("pause node b after 2 s"), "'for' is missing"));
  CHECK(contains(error_of("kill node b every 1 s"), "'after' or nothing"));
  CHECK(good("kill driver").target == InjectTarget::driver);
  CHECK(good("kill driver").delay == 0s);
  CHECK(good("kill mpirun after 2 s").delay == 2s);
  CHECK(good("memory full after 100 MiB of log").size_bytes == 100 << 20);
  CHECK(good("memory full after 2GiB of log").size_bytes == std::uint64_t{2} << 30);
  CHECK(contains(error_of("kill driver at call 3"), "'after' or nothing"));
  CHECK(contains(error_of("kill mpirun after 2 s signal 11"), "'signal'"));
  CHECK(contains(error_of("memory full after 100 of log"), "a size"));
  CHECK(contains(error_of("memory full"), "'after'"));
}

TEST_CASE("inject: what is wrong is named", "[launcher]") {
  CHECK(contains(error_of(""), "'kill'"));
  CHECK(contains(error_of("kill"), "'rank'"));
  CHECK(contains(error_of("kill rank"), "a rank"));
  CHECK(contains(error_of("kill rank x after 1s"), "'x'"));
  CHECK(contains(error_of("kill rank 1 at"), "'call' or 'step'"));
  CHECK(contains(error_of("kill rank 1 at call 0"), "from 1"));
  CHECK(contains(error_of("kill rank 1 in Allreduce"), "MPI function"));
  CHECK(contains(error_of("kill rank 1 in MPI_A=b"), "MPI function"));
  CHECK(contains(error_of("kill rank 1 at step :3"), "crash point"));
  CHECK(contains(error_of("kill rank 1 at call 3 twice"), "'twice'"));
  CHECK(contains(error_of("kill rank 1 at call 3\nof incarnation 2"), "control"));
}

TEST_CASE("inject: a rule that is none is answered with the nearest that is one", "[launcher]") {
  const std::pair<const char*, const char*> table[] = {
      {"", "kill driver"},
      {"kill", "kill driver"},
      {"kil rank 2 after 1 s", "kill rank 2 after 1 s"},
      {"kill rank 2 afer 3s", "kill rank 2 after 3 s"},
      {"kill rank 2 after 3 sec", "kill rank 2 after 3 s"},
      {"kill 2 after 20ms", "kill rank 2 after 20 ms"},
      {"kill rank two after 1 s", "kill rank 1 after 1 s"},
      {"kill rank 3 at the call 7", "kill rank 3 at call 7"},
      {"kill rank 3 call 7", "kill rank 3 at call 7"},
      {"kill rank 3 at MPI_Send 7", "kill rank 3 in MPI_Send 7"},
      {"kill rank 3 in MPI_Send 0", "kill rank 1 in MPI_Allreduce 1"},
      {"kill rank 1 after 1 s incarnation 2", "kill rank 1 after 1 s of incarnation 2"},
      {"kill rank 1 after 1 s during replay", "kill rank 1 after 1 s of replay"},
      {"kill any every ~5 s seeds 7", "kill any every ~5 s seed 7"},
      {"kill the driver", "kill driver"},
      {"kill llamanetd", "kill driver"},
      {"pause rank 2 after 1 s for 3 s", "stop rank 2 after 1 s for 3 s"},
      {"slow rank 1 50%", "slow rank 1 by 50 %"},
      {"slow down rank 1 by 50", "slow rank 1 by 50 %"},
      {"memory full after 100 MB of log", "memory full after 100 MiB of log"},
      {"memory full", "memory full after 100 MiB of log"},
  };
  for (const auto& [wrong, nearest] : table)
    CHECK_THAT(error_of(wrong),
               Catch::EndsWith("; the nearest legal rule is '" + std::string(nearest) + "'"));
}

TEST_CASE("inject: mutated rules are read or refused with a sentence, and never more", "[launcher]") {
  const std::string seeds[] = {"kill rank 2 after 1.5 ms of incarnation 3 signal SIGSEGV",
                               "kill rank 0 at call 500",
                               "kill rank 1 in the middle of MPI_Allreduce 7",
                               "kill rank 1 at step publish:committed:3",
                               "kill any every ~5 s 3 times seed 7",
                               "kill rank 1 after 10 ms of replay",
                               "stop rank 2 after 1 s for 3 s",
                               "slow any by 50 % after 1 s for 2 s seed 1",
                               "memory full after 100 MiB of log",
                               "kill mpirun after 1 s"};
  const std::string bytes = "0123456789.:-+eEsmu \t\nkilrankMPI_=~%\xff\x01";
  Random random(7);
  for (int round = 0; round < 5'000; ++round) {
    std::string text = seeds[random.below(std::size(seeds))];
    for (std::uint64_t changes = 1 + random.below(4); changes > 0 && !text.empty(); --changes) {
      const std::size_t at = random.below(text.size());
      const auto kind = random.below(3);
      if (kind == 0) text[at] = bytes[random.below(bytes.size())];
      if (kind == 1) text.insert(at, 1, bytes[random.below(bytes.size())]);
      if (kind == 2) text.erase(at, 1 + random.below(3));
    }
    auto rule = parse_inject_rule(text);
    if (!rule) {
      const std::string sentence = rule.error().text();
      const std::size_t at = sentence.rfind("rule is '");
      REQUIRE(at != sentence.npos);
      REQUIRE(parse_inject_rule(sentence.substr(at + 9, sentence.size() - at - 10)));
      continue;
    }
    REQUIRE(rule->count >= 1);
    REQUIRE(rule->delay >= 0ns);
    REQUIRE((rule->signal >= 1 && rule->signal <= SIGRTMAX));
    REQUIRE(parse_inject_rule(rule->text) == *rule);
  }
}

TEST_CASE("inject: a function that MPI has not is refused with the nearest legal rule", "[launcher]") {
  const auto has = [](std::string_view name) { return name == "MPI_Allreduce"; };
  const auto rule = parse_inject_rule("kill rank 2 in MPI_Alreduce 3");
  REQUIRE(rule);
  const auto refused = check_function(*rule, has);
  REQUIRE_FALSE(refused);
  CHECK(refused.error().text() ==
        "--inject 'kill rank 2 in MPI_Alreduce 3': MPI has no function 'MPI_Alreduce'; the nearest legal "
        "rule is "
        "'kill rank 2 in MPI_Allreduce 3'");
  const auto far = check_function(*parse_inject_rule("kill rank 2 in MPI_Nonsense"), has);
  REQUIRE_FALSE(far);
  CHECK(far.error().text() == "--inject 'kill rank 2 in MPI_Nonsense': MPI has no function 'MPI_Nonsense'");
  CHECK(check_function(*parse_inject_rule("kill rank 2 in MPI_Allreduce 3"), has));
}
