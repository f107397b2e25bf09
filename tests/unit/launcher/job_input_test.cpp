#include "job_input.hpp"

#include "llamada/launcher/job_control.hpp"
#include "test.hpp"

using namespace llamada::launcher;

namespace {

std::string given(JobInput& input) {
  std::string all;
  for (auto part = input.next(); part && !part->empty(); part = input.next()) all += *part;
  return all;
}

}  // namespace

TEST_CASE("input: rank 0 gets what mpirun sent, then the end, once", "[launcher]") {
  JobInput input;
  input.add("abc");
  CHECK_FALSE(input.next());  // no incarnation yet: nothing is lost, nothing acknowledged
  CHECK(input.acknowledge() == 0);
  input.begin_incarnation();
  CHECK(input.next() == "abc");
  input.add("");
  CHECK(input.next() == "");
  CHECK_FALSE(input.next());
  input.taken(3);
  CHECK(input.acknowledge() == 3);
  CHECK(input.acknowledge() == 0);
}

TEST_CASE("input: no more is under way than the limit", "[launcher]") {
  JobInput input;
  input.begin_incarnation();
  input.add(std::string(2 * JobInput::in_flight_bytes_max, 'x'));
  CHECK(given(input).size() == JobInput::in_flight_bytes_max);
  input.taken(1000);
  CHECK(given(input).size() == 1000);
}

TEST_CASE("input: a replacement gets all of it again", "[launcher]") {
  JobInput input;
  input.keep();
  input.begin_incarnation();
  input.add("abc");
  CHECK(given(input) == "abc");
  input.taken(3);
  CHECK(input.acknowledge() == 3);
  input.end_incarnation();
  input.add("def");  // mpirun need not wait for the replacement
  input.add("");
  CHECK(input.acknowledge() == 3);
  input.begin_incarnation();
  CHECK(input.next() == "abcdef");
  CHECK(input.next() == "");
  input.taken(6);
  CHECK(input.acknowledge() == 0);
}

TEST_CASE("input: more than is kept is given all the same, but rank 0 can no longer be replaced",
          "[launcher]") {
  JobInput input;
  input.keep();
  input.begin_incarnation();
  const std::string part(JobInput::kept_bytes_max / 2, 'x');
  input.add(part);
  input.add(part);
  CHECK_FALSE(input.is_lost());
  input.add("y");
  CHECK(input.is_lost());
  CHECK(given(input).size() == JobInput::in_flight_bytes_max);
}

TEST_CASE("input: a rank that does not read keeps mpirun from nothing", "[launcher]") {
  JobInput input;
  input.begin_incarnation();
  input.end_incarnation();
  input.add("abc");
  CHECK(input.acknowledge() == 3);
  CHECK_FALSE(input.next());
}
