#include "domain_fixture.hpp"

using namespace llamada::test;

// Policies that show between two processes without looking into them: what one says, and how far one gets,
// another sees.

namespace {

json policies_of(const std::string& topic, const std::string& end) {
  const json out = json_of({"why", topic, "--json"});
  return out[end].empty() ? json() : out[end][0]["qos"];
}

/// That a writer whose reader stands still gets so many samples ahead, and no further.
void check_lead(const std::string& topic, std::uint64_t lead) {
  const auto lag = [&] { return writer_of(topic)["readers"][0]["lag"].get<std::uint64_t>(); };
  wait_until([&] { return lag() == lead; });
  for (int look = 0; look < 5; ++look) CHECK(lag() == lead);
}

}  // namespace

TEST_CASE("data of user, topic and group: another process sees them", "[tools]") {
  const Fixture fixture;
  const Child writer = fixture.peer("sensor", "writer", {"user_data=u", "topic_data=t", "group_data=g"});
  const Child reader = fixture.peer("viewer", "reader", {"user_data=v", "group_data=h"});
  wait_until([&] { return all_have_met(fixture.topic, 1); });
  const json offered = policies_of(fixture.topic, "writers");
  CHECK(offered["USER_DATA"] == "1 byte: 75");
  CHECK(offered["TOPIC_DATA"] == "1 byte: 74");
  CHECK(offered["GROUP_DATA"] == "1 byte: 67");
  const json requested = policies_of(fixture.topic, "readers");
  CHECK(requested["USER_DATA"] == "1 byte: 76");
  CHECK(requested["GROUP_DATA"] == "1 byte: 68");
}

TEST_CASE("send window: a writer is no further ahead of a reader that stands still", "[tools]") {
  const Fixture fixture;
  const Child writer = fixture.peer("sensor", "writer", {"send_window=7"});
  const Child reader = fixture.peer("viewer", "reader");
  wait_until([&] { return all_have_met(fixture.topic, 1); });
  reader.send(SIGSTOP);
  check_lead(fixture.topic, 7);
  reader.send(SIGCONT);
  wait_until([&] { return writer_of(fixture.topic)["samples_per_s"].get<double>() > 0; });
}

TEST_CASE("resource limits: a writer of KEEP_ALL holds no more than max_samples for its readers", "[tools]") {
  const Fixture fixture;
  const Child writer = fixture.peer("sensor", "writer", {"max_samples=12"});
  const Child reader = fixture.peer("viewer", "reader");
  wait_until([&] { return all_have_met(fixture.topic, 1); });
  reader.send(SIGSTOP);
  check_lead(fixture.topic, 12);
  reader.send(SIGCONT);
  wait_until([&] { return writer_of(fixture.topic)["samples_per_s"].get<double>() > 0; });
}

TEST_CASE("reliability: a BEST_EFFORT reader that stands still holds nobody", "[tools]") {
  const Fixture fixture;
  const Child writer = fixture.peer("sensor", "writer", {"send_window=7"});
  const Child reader = fixture.peer("viewer", "reader", {"best_effort"});
  wait_until([&] { return all_have_met(fixture.topic, 1); });
  reader.send(SIGSTOP);
  const auto samples = [&] { return writer_of(fixture.topic)["samples"].get<std::uint64_t>(); };
  const std::uint64_t then = samples();
  wait_until([&] { return samples() > then + 100; });
}

TEST_CASE("history: of KEEP_LAST a late joiner gets the newest, and a reader that stands still holds nobody",
          "[tools]") {
  const Fixture fixture;
  const Child writer = fixture.peer("sensor", "writer", {"keep_last", "transient_local"});
  const Child reader = fixture.peer("viewer", "reader", {"keep_last"});
  wait_until([&] { return all_have_met(fixture.topic, 1); });
  reader.send(SIGSTOP);
  const auto samples = [&] { return writer_of(fixture.topic)["samples"].get<std::uint64_t>(); };
  const std::uint64_t then = samples();
  wait_until([&] { return samples() > then + 100; });
  const json late = json_of({"spy", fixture.topic, "--history", "--count", "1", "--json"});
  CHECK(late["sequence_number"].get<std::uint64_t>() > then + 100);
}

TEST_CASE(
    "liveliness: a writer that stands still is not alive after its lease, and alive again when it goes on",
    "[tools]") {
  for (const std::string kind : {"automatic", "manual_by_topic"}) {
    INFO(kind);
    const Fixture fixture;
    // Long enough that a busy machine does not keep a process from running for a whole lease too often.
    const std::vector<std::string> options{kind, "lease_ms=400"};
    const Child writer = fixture.peer("sensor", "writer", options);
    Child reader = fixture.peer("viewer", "reader", options);
    wait_until([&] { return all_have_met(fixture.topic, 1); });
    // The writer has seen the reader, too: a reader knows no lease of a writer that stopped before.
    CHECK(reader.says("met"));
    writer.send(SIGSTOP);
    CHECK(reader.says("not alive"));
    writer.send(SIGCONT);
    CHECK(reader.says("alive"));
  }
}
