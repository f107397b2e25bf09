#include "entity_fixture.hpp"

// Limits of a participant.
namespace llamada::dcps::test {
namespace {

/// Two applications in a domain; each has room for its own entry and seven endpoints.
struct Small {
  Small() {
    REQUIRE(here);
    REQUIRE(there);
  }
  ~Small() {
    for (const auto& participant : {*here, *there}) {
      CHECK(participant->delete_contained_entities());
      CHECK(factory.delete_participant(participant));
    }
  }

  static log::ArenaOptions options() {
    log::ArenaOptions options;
    options.endpoint_count_max = 8;
    return options;
  }

  SystemClock clock;
  topics::Loopback loopback;
  DomainParticipantFactory factory{[this](DomainId) { return loopback.attach(options()); }, clock};
  Result<std::shared_ptr<DomainParticipant>> here = factory.create_participant(0, {});
  Result<std::shared_ptr<DomainParticipant>> there = factory.create_participant(0, {});
};

TEST_CASE("limits: deleted endpoints make room, in whatever haste new ones are made", "[dcps]") {
  Small domain;
  auto topic = *(*domain.here)->create_topic("readings", type_of<Reading>(), {});
  auto topic_there = *(*domain.there)->create_topic("readings", type_of<Reading>(), {});
  auto publisher = *(*domain.here)->create_publisher({});
  auto subscriber = *(*domain.here)->create_subscriber({});
  auto subscriber_there = *(*domain.there)->create_subscriber({});
  auto distant = *subscriber_there->create_datareader(topic_there, reliable_reader());
  int failures = 0;
  for (int round = 0; round < 500; ++round) {
    auto writer = publisher->create_datawriter(topic, reliable_writer());
    auto reader = subscriber->create_datareader(topic, reliable_reader());
    if (writer && round % 10 == 0) await_match(**writer, reader ? 2 : 1);
    if (!writer || !reader) ++failures;
    if (writer) CHECK(publisher->delete_datawriter(*writer));
    if (reader) CHECK(subscriber->delete_datareader(*reader));
    (void)distant->take();
  }
  CHECK(failures == 0);
}

TEST_CASE("limits: a participant with all the endpoints that it can have says so", "[dcps]") {
  Small domain;
  auto topic = *(*domain.here)->create_topic("readings", type_of<Reading>(), {});
  auto publisher = *(*domain.here)->create_publisher({});
  for (int count = 0; count < 7; ++count) REQUIRE(publisher->create_datawriter(topic, reliable_writer()));
  const auto refused = publisher->create_datawriter(topic, reliable_writer());
  REQUIRE(!refused);
  CHECK(refused.error().code() == Errc::out_of_resources);
  CHECK(refused.error().text() ==
        "a participant can have 8 endpoints, one of them its own, and all are in use; close some of its "
        "entities, or make another participant");
}

}  // namespace
}  // namespace llamada::dcps::test
