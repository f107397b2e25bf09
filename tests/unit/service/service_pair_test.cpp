// Two services of one domain: one serves, the other one follows it and takes its place.
#include "service_pair.hpp"

namespace llamada::service {

TEST_CASE(
    "two services: the second one gets the past of writers that are gone, and serves when the first ends",
    "[service]") {
  Domain domain;
  domain.start(domain.one);
  Application& writer = domain.add(kept_all());
  writer.publish(20);
  REQUIRE(domain.await_acknowledged(writer));
  domain.end_writers();
  domain.align(domain.other);
  CHECK(domain.one.role() == ServiceRole::serves);
  CHECK(domain.one.service->figures().followers == 1);
  CHECK(domain.other.has_said("20 samples of 1 topics, of which 20 came from it"));
  CHECK(domain.one.has_said("it has got 20 of 20 samples"));
  CHECK(domain.past() == counted(20));
  domain.one.end();
  CHECK(domain.past() == counted(20));
  CHECK(domain.other.role() == ServiceRole::serves);
  CHECK(domain.other.service->figures().samples == 20);
}

TEST_CASE("two services: a sample is acknowledged once both disks have it", "[service]") {
  Domain domain;
  domain.start(domain.one);
  Application& writer = domain.add(kept_all());
  writer.publish(3);
  REQUIRE(domain.await_acknowledged(writer));
  domain.align(domain.other);
  writer.publish(3);
  REQUIRE(domain.await_acknowledged(writer));
  domain.other.is_stopped = true;
  writer.publish(3);
  domain.go_on(200);
  CHECK_FALSE(writer.writer.endpoint->all_acknowledged());
  domain.other.is_stopped = false;
  REQUIRE(domain.await_acknowledged(writer));
  domain.one.failures.syncs = INT_MAX;
  writer.publish(3);
  domain.go_on(100);
  CHECK_FALSE(writer.writer.endpoint->all_acknowledged());
  domain.one.failures.syncs = 0;
  REQUIRE(domain.await_acknowledged(writer));
  domain.end_writers();
  domain.one.end();
  CHECK(domain.past() == counted(12));
}

TEST_CASE("two services: one that was away gets what it has missed, and gives what only it has",
          "[service]") {
  Domain domain;
  domain.start(domain.one);
  Application& first = domain.add(kept_all());
  first.publish(5, 1);
  REQUIRE(domain.await_acknowledged(first));
  domain.end_writers();
  domain.one.end();
  domain.start(domain.other);
  Application& second = domain.add(kept_all());
  second.publish(4, 2);
  REQUIRE(domain.await_acknowledged(second));
  domain.end_writers();
  domain.align(domain.one);
  CHECK(domain.one.has_said("4 came from it; 5 went to it"));
  CHECK(domain.other.has_said("5 samples came from it"));
  CHECK(domain.past() == counted(4, 1, 2) + " " + counted(5));
  domain.other.end();
  CHECK(domain.past() == counted(5) + " " + counted(4, 1, 2));  // each writer's in its order
}

TEST_CASE("two services: what was forgotten while one was away does not come back", "[service]") {
  Domain domain;
  domain.start(domain.one);
  domain.align(domain.other);
  Application& writer = domain.add(kept_all());
  writer.publish(3, 1);
  writer.publish(3, 2);
  REQUIRE(domain.await_acknowledged(writer));
  KeptHere& away = GENERATE(true, false) ? domain.one : domain.other;
  KeptHere& here = &away == &domain.one ? domain.other : domain.one;
  away.end();
  domain.go_on();
  writer.publish(1, 1, ChangeKind::disposed_unregistered);
  REQUIRE(domain.await_acknowledged(writer));
  domain.end_writers();
  REQUIRE(domain.past() == counted(6, 4, 2));
  // Whichever of the two serves.
  if (GENERATE(true, false)) {
    domain.align(away);
  } else {
    here.end();
    domain.start(away);
    REQUIRE(domain.past() == counted(3, 1, 1) + " " + counted(6, 4, 2));
    domain.align(here);
  }
  CHECK(domain.past() == counted(6, 4, 2));
  CHECK(domain.one.service->figures().samples == 3);
  CHECK(domain.other.service->figures().samples == 3);
}

TEST_CASE("two services: a KEEP_LAST writer's samples come back in their order from the one that took them",
          "[service]") {
  Domain domain;
  domain.start(domain.one);
  Application& writer = domain.add(keep_last(kept_all(), 1));
  for (int k = 0; k < 5; ++k) {
    writer.publish(1);
    REQUIRE(domain.await_acknowledged(writer));
  }
  domain.one.end();
  domain.go_on();
  writer.publish(2);
  domain.start(domain.other);
  REQUIRE(domain.await_acknowledged(writer));
  CHECK(domain.past() == "1.7");
  domain.align(domain.one);
  CHECK(domain.past() == "1.1 1.2 1.3 1.4 1.5 1.7");
  writer.publish(1);
  REQUIRE(domain.await_acknowledged(writer));
  domain.other.end();
  CHECK(domain.past() == "1.1 1.2 1.3 1.4 1.5 1.7 1.8");
}

TEST_CASE("two services: stores that took the writers of an instance in another order keep one sample",
          "[service]") {
  Domain domain;
  EndpointSpec spec = kept_all();
  spec.qos.datawriter.durability_service = {.history_depth = 1};
  Application& first = domain.add(spec);
  Application& second = domain.add(spec);
  domain.start(domain.one);
  first.publish(1);
  REQUIRE(domain.await_acknowledged(first));
  second.publish(2);
  REQUIRE(domain.await_acknowledged(second));
  domain.one.end();
  domain.start(domain.other);  // it reads both from the beginning
  REQUIRE(domain.await_acknowledged(first));
  REQUIRE(domain.await_acknowledged(second));
  domain.end_writers();
  domain.align(domain.one);
  CHECK(domain.other.service->figures().samples == 1);
  CHECK(domain.one.service->figures().samples == 1);
  const std::string past = domain.past();
  domain.other.end();
  CHECK(domain.past() == past);
}

TEST_CASE("two services: a damaged sample comes from the other store, whichever is damaged", "[service]") {
  Domain domain;
  domain.start(domain.one);
  domain.align(domain.other);
  Application& writer = domain.add(kept_all());
  writer.publish(9);
  REQUIRE(domain.await_acknowledged(writer));
  domain.end_writers();
  KeptHere& damaged = domain.one;
  domain.other.end();
  damaged.end();
  damaged.damage(std::byte{4});
  if (GENERATE(true, false)) {
    domain.start(damaged);
    CHECK(domain.past() == counted(3) + " " + counted(9, 5));
    domain.align(domain.other);
  } else {
    domain.start(domain.other);
    domain.align(damaged);
  }
  CHECK(damaged.has_said("1 samples or records are damaged"));
  CHECK(domain.past() == counted(9));
  (domain.one.role() == ServiceRole::serves ? domain.one : domain.other).end();
  CHECK(domain.past() == counted(9));
  damaged.said.clear();
  domain.one.end();
  domain.other.end();
  domain.start(damaged);
  CHECK(damaged.said.empty());
}

TEST_CASE("two services: a follower that does not answer holds nobody for good, and joins again",
          "[service]") {
  Domain domain;
  domain.start(domain.one);
  domain.align(domain.other);
  Application& writer = domain.add(kept_all());
  writer.publish(1);
  REQUIRE(domain.await_acknowledged(writer));
  domain.other.failures.writes = INT_MAX;
  writer.publish(1);
  REQUIRE(domain.await_acknowledged(writer));
  CHECK(domain.one.service->figures().followers == 0);
  domain.other.failures.writes = 0;
  REQUIRE(domain.until([&] { return domain.one.service->figures().followers == 1; }));
  CHECK(domain.other.service->figures().samples == 2);
}

}  // namespace llamada::service
