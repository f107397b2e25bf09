#include <sstream>

#include "domain_fixture.hpp"

using namespace llamada::test;

namespace {

/// The endpoints on the topic, of all that `llamada ls` lists.
std::vector<json> endpoints_on(const std::string& topic) {
  std::vector<json> found;
  const json listed = json_of({"ls", "--json"});
  for (const json& driver : listed["drivers"])
    for (const json& application : driver["applications"])
      for (const json& endpoint : application["endpoints"])
        if (endpoint["topic"] == topic) found.push_back(endpoint);
  return found;
}

}  // namespace

TEST_CASE("llamada ls: participants, endpoints, their QoS and who matches whom", "[tools]") {
  const Fixture fixture;
  const Child writer = fixture.peer("sensor", "writer", {"transient_local", "user_data=hi"});
  const Child reader = fixture.peer("viewer", "reader", {"partition=*"});
  wait_until([&] { return all_have_met(fixture.topic, 1); });
  const auto endpoints = endpoints_on(fixture.topic);
  REQUIRE(endpoints.size() == 2);
  const json& first = endpoints[0]["kind"] == "writer" ? endpoints[0] : endpoints[1];
  const json& second = endpoints[0]["kind"] == "writer" ? endpoints[1] : endpoints[0];
  CHECK(first["type"] == "Text");
  CHECK(first["policies"]["DURABILITY"] == "TRANSIENT_LOCAL");
  CHECK(first["policies"]["USER_DATA"] == "2 bytes: 68 69");
  CHECK(first["matched"] == json{second["id"]});
  CHECK(second["matched"] == json{first["id"]});
  CHECK(second["policies"]["PARTITION"] == "name '*'");
  const Ended text = llamada_({"ls"});
  CHECK(has(text.out, "'sensor' in domain 0"));
  CHECK(has(text.out,
            fmt::format("{} matches {}", first["id"].get<std::string>(), second["id"].get<std::string>())));
}

TEST_CASE("llamada why: says why two ends do not match", "[tools]") {
  const Fixture fixture;
  const Child writer = fixture.peer("sensor", "writer");
  const Child reader = fixture.peer("viewer", "reader");
  wait_until([&] { return all_have_met(fixture.topic, 1); });
  CHECK(llamada_({"why", fixture.topic}).exit_code == 0);

  const Child late = fixture.peer("late", "reader", {"transient_local"});
  const Child east = fixture.peer("east", "reader", {"partition=east"});
  const Child other = fixture.peer("other", "reader", {"type=Number"});
  wait_until([&] { return json_of({"why", fixture.topic, "--json"})["pairs"].size() == 4; });
  const Ended text = llamada_({"why", fixture.topic});
  CHECK(text.exit_code == 1);
  CHECK(has(text.out, "1 writer, 4 readers"));
  CHECK(
      has(text.out,
          fmt::format("DURABILITY: reader 'late (pid {})' requests TRANSIENT_LOCAL, writer 'sensor (pid {})' "
                      "offers VOLATILE",
                      late.pid(), writer.pid())));
  CHECK(has(text.out,
            "PARTITION: the reader is in name 'east', the writer in name ''; they have none in common"));
  CHECK(has(text.out, "the reader has the type 'Number', the writer 'Text'"));
  int fitting = 0;
  const json explained = json_of({"why", fixture.topic, "--json"});
  for (const json& pair : explained["pairs"])
    fitting += pair["match"] == true && pair["matched"] == true && pair["reasons"].empty();
  CHECK(fitting == 1);
}

TEST_CASE("llamada why: a topic that nobody has, or only one end", "[tools]") {
  const Fixture fixture;
  const Child writer = fixture.peer("sensor", "writer");
  const Ended nobody = llamada_({"why", fixture.topic + "/not"});
  CHECK(nobody.exit_code == 1);
  CHECK(
      has(nobody.err, fmt::format("there is no writer and no reader of the topic '{}/not'", fixture.topic)));
  CHECK(has(nobody.err, fixture.topic));
  const Ended alone = llamada_({"why", fixture.topic});
  CHECK(alone.exit_code == 1);
  CHECK(has(alone.out, "There is no reader that a writer could match."));
}

TEST_CASE("llamada spy: shows samples as they come", "[tools]") {
  const Fixture fixture;
  const Child writer = fixture.peer("sensor", "writer");
  const Ended lines = llamada_({"spy", fixture.topic, "--count", "3", "--json"});
  INFO(lines.err);
  REQUIRE(lines.exit_code == 0);
  std::istringstream out(lines.out);
  std::uint64_t last = 0;
  int count = 0;
  for (std::string line; std::getline(out, line); ++count) {
    const json sample = json::parse(line);
    CHECK(sample["topic"] == fixture.topic);
    CHECK(sample["participant"] == fmt::format("sensor (pid {})", writer.pid()));
    CHECK(sample["kind"] == "alive");
    CHECK(sample["source_timestamp_ns"].get<std::int64_t>() > 1'600'000'000'000'000'000);
    const auto number = sample["sequence_number"].get<std::uint64_t>();
    CHECK(number > last);
    last = number;
    std::string digits;
    for (unsigned char each : fmt::format("sample {}", number)) digits += fmt::format("{:02x}", each);
    CHECK(sample["data"] == digits);
  }
  CHECK(count == 3);
  const Ended text = llamada_({"spy", fixture.topic, "--count", "1"});
  CHECK(text.exit_code == 0);
  CHECK(has(text.out, "73 61 6d 70 6c 65 20"));
  CHECK(has(text.out, "|sample "));
}

TEST_CASE("llamada spy: of topics with a key, too", "[tools]") {
  const Fixture fixture;
  const Child writer = fixture.peer("sensor", "writer", {"keyed", "transient_local"});
  const Ended shown = llamada_({"spy", fixture.topic, "--count", "2", "--json"});
  INFO(shown.err);
  REQUIRE(shown.exit_code == 0);
  CHECK(has(shown.out, "sequence_number"));

  // A reader whose type has no key does not match, and `why` says so instead of "have not met yet".
  const Child reader = fixture.peer("viewer", "reader");
  wait_until([&] { return json_of({"why", fixture.topic, "--json"})["pairs"].size() == 1; });
  const Ended text = llamada_({"why", fixture.topic});
  CHECK(text.exit_code == 1);
  CHECK(has(text.out, "the writer's type 'Text' has a key, and the reader's has none"));
  CHECK(!has(text.out, "fit"));
}

TEST_CASE("llamada spy: of a TRANSIENT_LOCAL writer also what came before", "[tools]") {
  const Fixture fixture;
  const Child writer = fixture.peer("sensor", "writer", {"transient_local"});
  const auto first = [&](std::vector<std::string> options) {
    std::vector<std::string> arguments{"spy", fixture.topic, "--count", "1", "--json"};
    arguments.insert(arguments.end(), options.begin(), options.end());
    return json_of(std::move(arguments))["sequence_number"].get<std::uint64_t>();
  };
  CHECK(first({"--history"}) == 1);
  wait_until([&] { return first({}) > 1; });
}

TEST_CASE("llamada top: rates of writers, and how far a stopped reader is behind", "[tools]") {
  const Fixture fixture;
  const Child writer = fixture.peer("sensor", "writer");
  const Child reader = fixture.peer("viewer", "reader");
  wait_until([&] { return all_have_met(fixture.topic, 1); });
  wait_until([&] {
    const json seen = writer_of(fixture.topic);
    return !seen.is_null() && seen["samples_per_s"].get<double>() > 0 &&
           seen["bytes_per_s"].get<double>() > 0;
  });
  reader.send(SIGSTOP);
  wait_until([&] {
    const json seen = writer_of(fixture.topic);
    return seen["readers"].size() == 1 && seen["readers"][0]["lag"].get<std::uint64_t>() > 20;
  });
  CHECK(has(llamada_({"top", "--once", "--interval", "0.05"}).out, "lag "));
  reader.send(SIGCONT);
  wait_until([&] { return writer_of(fixture.topic)["readers"][0]["lag"].get<std::uint64_t>() <= 20; });
}
