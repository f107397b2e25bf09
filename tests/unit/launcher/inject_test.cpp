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

TEST_CASE("inject: mutated rules are read or refused with a sentence, and never more", "[launcher]") {
  const std::string seeds[] = {"kill rank 2 after 1.5 ms of incarnation 3 signal SIGSEGV",
                               "kill rank 0 at call 500", "kill rank 1 in the middle of MPI_Allreduce 7",
                               "kill rank 1 at step publish:committed:3"};
  const std::string bytes = "0123456789.:-+eEsmu \t\nkilrankMPI_=\xff\x01";
  Random random(7);
  for (int round = 0; round < 100'000; ++round) {
    std::string text = seeds[random.below(4)];
    for (std::uint64_t changes = 1 + random.below(4); changes > 0 && !text.empty(); --changes) {
      const std::size_t at = random.below(text.size());
      const auto kind = random.below(3);
      if (kind == 0) text[at] = bytes[random.below(bytes.size())];
      if (kind == 1) text.insert(at, 1, bytes[random.below(bytes.size())]);
      if (kind == 2) text.erase(at, 1 + random.below(3));
    }
    auto rule = parse_inject_rule(text);
    if (!rule) {
      REQUIRE_FALSE(rule.error().text().empty());
      continue;
    }
    REQUIRE(rule->count >= 1);
    REQUIRE(rule->delay >= 0ns);
    REQUIRE((rule->signal >= 1 && rule->signal <= SIGRTMAX));
    REQUIRE(parse_inject_rule(rule->text) == *rule);
  }
}
