#include "rank_output.hpp"

#include "test.hpp"

using namespace llamada::launcher;
using Finding = RankOutput::Finding;

TEST_CASE("output: a replacement's repeated bytes are not delivered, new ones once its replay is over",
          "[launcher]") {
  RankOutput output;
  CHECK(output.take(0, "one two ").bytes == "one two ");
  output.begin_incarnation(false);
  CHECK(output.repetition() == Repetition::before);
  CHECK(output.take(0, "one ").bytes.empty());
  CHECK(output.reached(ReplayPlace::last_call_begins, true) == Finding::as_before);
  CHECK(output.take(0, "two three").bytes.empty());
  CHECK(output.reached(ReplayPlace::over, true) == Finding::as_before);
  CHECK(output.release().bytes == "three");
  CHECK(output.take(0, "!").bytes == "!");
}

TEST_CASE("output: of a replay that writes something else it says where", "[launcher]") {
  RankOutput output;
  CHECK(output.take(0, "abc").bytes == "abc");
  output.begin_incarnation(true);
  const auto delivery = output.take(0, "abX");
  REQUIRE(delivery.difference);
  CHECK(delivery.difference->first_byte == 2);
  CHECK(delivery.bytes.empty());
}

TEST_CASE("output: a replay that writes more or less than before is found, if it writes alone",
          "[launcher]") {
  const bool may_judge = GENERATE(true, false);
  RankOutput more;
  more.begin_incarnation(false);
  CHECK(more.take(0, "early").bytes.empty());
  CHECK(more.reached(ReplayPlace::last_call_begins, may_judge) ==
        (may_judge ? Finding::wrote_more : Finding::as_before));
  RankOutput less;
  CHECK(less.take(0, "abc").bytes == "abc");
  less.begin_incarnation(false);
  CHECK(less.take(0, "a").bytes.empty());
  CHECK(less.is_short());
  CHECK(less.end().first_byte == 1);
  CHECK(less.reached(ReplayPlace::over, may_judge) == (may_judge ? Finding::wrote_less : Finding::as_before));
}

TEST_CASE("output: standard error may differ, and is shown from there on", "[launcher]") {
  RankOutput output;
  CHECK(output.take(1, "abc").bytes == "abc");
  output.begin_incarnation(true);
  const auto delivery = output.take(1, "aXc and more");
  CHECK(delivery.bytes == "aXc and more");
  CHECK_FALSE(delivery.difference);
}
