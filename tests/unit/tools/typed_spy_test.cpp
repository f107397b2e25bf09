// Tools that read a topic's type at run time.

#include <algorithm>
#include <sstream>

#include "domain_fixture.hpp"

using namespace llamada::test;

namespace {

std::vector<std::string> lines_of(const std::string& text) {
  std::istringstream in(text);
  std::vector<std::string> lines;
  for (std::string line; std::getline(in, line);) lines.push_back(line);
  return lines;
}

}  // namespace

TEST_CASE("llamada spy: fields by their names, as text, JSON and CSV", "[tools]") {
  const Fixture fixture;
  const Child writer = fixture.peer("sensor", "writer", {"typed", "transient_local"});
  const Ended text = llamada_({"spy", fixture.topic, "--count", "1", "--history"});
  INFO(text.err);
  CHECK(text.exit_code == 0);
  CHECK(has(
      text.out,
      "  sensor: 1\n  value: 0.5\n  colour: green\n  text: \"say \\\"1\\\", please\"\n  list: [1, 2, 3]\n"));
  const json sample = json_of({"spy", fixture.topic, "--count", "1", "--history", "--json"});
  CHECK(sample["fields"] == json{{"sensor", 1},
                                 {"value", 0.5},
                                 {"colour", "green"},
                                 {"text", "say \"1\", please"},
                                 {"list", {1, 2, 3}}});
  const auto table = lines_of(llamada_({"spy", fixture.topic, "--count", "2", "--history", "--csv"}).out);
  REQUIRE(table.size() == 3);
  CHECK(table[0] == "time,writer,sequence_number,kind,sensor,value,colour,text,list");
  CHECK(has(table[2], ",2,alive,2,1.0,green,\"say \"\"2\"\", please\",\"[1,2,3]\""));
  CHECK(has(llamada_({"spy", fixture.topic, "--count", "1", "--bytes", "8"}).out, "00000000  00 07"));
}

TEST_CASE("llamada spy --where: shows what passes the filter only", "[tools]") {
  const Fixture fixture;
  const Child writer = fixture.peer("sensor", "writer", {"typed", "transient_local"});
  const Ended shown = llamada_(
      {"spy", fixture.topic, "--count", "3", "--history", "--json", "--where", "sensor = 2 AND value > 2.0"});
  INFO(shown.err);
  REQUIRE(shown.exit_code == 0);
  std::vector<int> numbers;
  for (const std::string& line : lines_of(shown.out)) numbers.push_back(json::parse(line)["sequence_number"]);
  CHECK(numbers == std::vector<int>{5, 8, 11});
  const Ended wrong = llamada_({"spy", fixture.topic, "--where", "wind > 3"});
  CHECK(wrong.exit_code == 2);
  CHECK(
      has(wrong.err, "llamada: --where: column 1: peer::Reading has no field 'wind'; it has sensor, value"));
}

TEST_CASE("llamada spy: --where and --csv need a writer that describes its type", "[tools]") {
  const Fixture fixture;
  const Child writer = fixture.peer("sensor", "writer");
  const Ended wrong = llamada_({"spy", fixture.topic, "--csv"});
  CHECK(wrong.exit_code == 2);
  CHECK(has(wrong.err, "does not describe its type 'Text'"));
}

TEST_CASE("llamada why: names the member in which two types differ", "[tools]") {
  const Fixture fixture;
  const Child writer = fixture.peer("sensor", "writer", {"typed"});
  const Child reader = fixture.peer("viewer", "reader", {"typed_other"});
  wait_until([&] { return json_of({"why", fixture.topic, "--json"})["pairs"].size() == 1; });
  const Ended text = llamada_({"why", fixture.topic});
  CHECK(text.exit_code == 1);
  CHECK(has(text.out,
            "both call their type 'peer::Reading', and describe it differently: member 'value' of "
            "peer::Reading: the "
            "writer has 'double', the reader 'float'"));
}
