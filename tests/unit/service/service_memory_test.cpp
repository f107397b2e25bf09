// A RELIABLE KEEP_ALL writer gives back the memory of samples that a service has, and nobody misses them.
#include <thread>

#include "small_domain.hpp"

namespace llamada::service {

TEST_CASE("service memory: a writer beside a service goes on in little memory, and late readers get all",
          "[service]") {
  const auto kind = GENERATE(qos::DurabilityKind::transient, qos::DurabilityKind::persistent);
  SmallDomain domain;
  domain.start(domain.one);
  Application& writer = domain.add_kept(kept(writer_spec(), kind));
  Late early(domain, kept(reader_spec(), kind));
  domain.write(writer, more_than_fits);
  CHECK(early.takes(more_than_fits));
  Late late(domain, kept(reader_spec(), kind));
  CHECK(late.takes(more_than_fits));
  Late later(domain, best_effort(kept(reader_spec(), kind)));
  CHECK(later.takes(more_than_fits));
  // All go on with each other.
  domain.write(writer, 3);
  for (Late* each : {&early, &late, &later}) {
    CHECK(each->takes(more_than_fits + 3));
    CHECK(each->reader.lost == 0);
  }
}

TEST_CASE("service memory: without a service a writer keeps all, and goes on when one comes", "[service]") {
  SmallDomain domain;
  Application& writer = domain.add_kept();
  Status tried;
  while (tried) tried = SmallDomain::try_publishing(writer, 1);
  CHECK(tried.error().code() == Errc::out_of_resources);
  const std::uint64_t kept_here = writer.writer.endpoint->published();
  CHECK(kept_here > 50);
  domain.start(domain.one);
  REQUIRE(domain.until([&] { return writer.writer.endpoint->has_keeper(); }));
  domain.write(writer, more_than_fits);
  Late late(domain, kept(reader_spec()));
  CHECK(late.takes(kept_here + more_than_fits));
  CHECK(domain.one.said.empty());
}

TEST_CASE("service memory: a reader that was given its past before the writer sees it misses nothing",
          "[service]") {
  SmallDomain domain;
  domain.start(domain.one);
  Application& writer = domain.add_kept();
  domain.write(writer, 20);
  REQUIRE(domain.await_acknowledged(writer));
  Late late(domain, kept(reader_spec()));
  // The writer's application does not look at anybody meanwhile.
  const auto without_it = [&] {
    REQUIRE(domain.one.service->work());
    late.poll();
  };
  REQUIRE(SmallDomain::until_of(without_it, [&] { return !late.reader.endpoint->awaits_past(); }));
  const std::uint64_t fits = 80;
  for (std::uint64_t k = 0; k < fits; ++k) {
    REQUIRE(SmallDomain::try_publishing(writer, 1));
    for (int round = 0; round < 3; ++round) without_it();
  }
  CHECK(late.takes(20 + fits));
  CHECK(late.reader.lost == 0);
}

TEST_CASE("service memory: a late reader waits for a service that has what the writer gave to it",
          "[service]") {
  SmallDomain domain;
  domain.start(domain.one);
  Application& writer = domain.add_kept();
  domain.write(writer, more_than_fits);
  REQUIRE(domain.await_acknowledged(writer));
  domain.one.end();
  domain.go_on();
  Late late(domain, kept(reader_spec()));
  for (int round = 0; round < 50; ++round) {
    domain.work();
    late.poll();
  }
  CHECK(late.reader.samples.empty());
  CHECK(late.reader.endpoint->awaits_past());
  domain.write(writer, 10);
  domain.start(domain.one);
  CHECK(late.takes(more_than_fits + 10));
  CHECK(late.reader.lost == 0);
  domain.write(writer, 10);
  CHECK(late.takes(more_than_fits + 20));
}

TEST_CASE("service memory: late readers for whom a service has no room at once wait, and get all",
          "[service]") {
  constexpr std::size_t reader_count = 12, holding = 3;
  SmallDomain domain;
  domain.start(domain.one);
  Application& writer = domain.add_kept();
  domain.write(writer, more_than_fits);
  REQUIRE(domain.await_acknowledged(writer));
  std::vector<std::unique_ptr<Late>> late;
  while (late.size() < reader_count) late.push_back(std::make_unique<Late>(domain, kept(reader_spec())));
  // The first ones stop, with all the memory, for longer than the others would wait for a service.
  for (std::size_t k = 0; k < holding; ++k)
    REQUIRE(SmallDomain::until_of(
        [&] {
          late[k]->poll();
          REQUIRE(domain.one.service->work());
        },
        [&] { return !late[k]->reader.samples.empty(); }));
  const auto end = std::chrono::steady_clock::now() + 12s;
  while (std::chrono::steady_clock::now() < end) {
    REQUIRE(domain.one.service->work());
    for (std::size_t k = holding; k < reader_count; ++k) late[k]->poll();
    std::this_thread::sleep_for(1ms);
  }
  CHECK(late.back()->reader.endpoint->awaits_past());
  for (const auto& each : late) CHECK(each->takes(more_than_fits));
  for (const auto& each : late) CHECK(each->reader.lost == 0);
  CHECK(domain.one.has_said("has to wait until others have what they were given"));
  CHECK_FALSE(domain.one.has_said("not served"));
}

TEST_CASE("service memory: a late reader for whom there will never be room is given up, and named",
          "[service]") {
  SmallDomain domain;
  domain.start(domain.one);
  Application& writer = domain.add_kept();
  const std::vector<std::byte> larger_than_a_chunk_may_be(9 << 20);
  REQUIRE(writer.writer.endpoint->publish(larger_than_a_chunk_may_be, header_of(1)));
  REQUIRE(domain.await_acknowledged(writer));
  domain.end_writers();
  Late late(domain, kept(reader_spec()));
  CHECK(SmallDomain::until_of([&] { domain.work_all(); },
                              [&] { return domain.one.has_said("is not served: the arena's memory"); }));
  domain.go_on();
  CHECK(domain.one.service->figures().served_readers == 1);
}

TEST_CASE("service memory: what no service gives is reported as lost", "[service]") {
  SmallDomain domain;
  domain.start(domain.one);
  Application& writer = domain.add_kept();
  domain.write(writer, more_than_fits);
  const auto gets_the_rest = [&](Late& late) {
    REQUIRE(SmallDomain::until_of(
        [&] {
          domain.work();
          late.poll();
        },
        [&] { return late.reader.samples.size() > 0; }));
    for (int round = 0; round < 50; ++round) late.poll();
    CHECK(late.reader.lost > more_than_fits / 2);
    CHECK(late.reader.lost + late.reader.samples.size() == more_than_fits);
  };
  // It asks for what the writer has.
  Late local(domain, kept(reader_spec(), qos::DurabilityKind::transient_local));
  gets_the_rest(local);
  domain.one.end();
  Late late(domain, kept(reader_spec()));
  gets_the_rest(late);  // after 10 seconds
}

TEST_CASE("service memory: a service with another store says what it will never get", "[service]") {
  SmallDomain domain;
  domain.start(domain.one);
  Application& writer = domain.add_kept();
  domain.write(writer, more_than_fits);
  domain.one.end();
  domain.start(domain.other);
  REQUIRE(domain.await_acknowledged(writer));
  INFO(fmt::format("{}", fmt::join(domain.other.said, "\n")));
  CHECK(domain.other.has_said("the samples 1 to "));
  // The first one comes back with them.
  domain.align(domain.one);
  domain.write(writer, 10);
  for (KeptHere* each : {&domain.other, &domain.one}) {
    Late late(domain, kept(reader_spec()));
    CHECK(late.takes(more_than_fits + 10));
    each->end();
  }
}

TEST_CASE("service memory: it is known which instances a writer writes that no longer shows it",
          "[service]") {
  const bool restarts = GENERATE(false, true);
  SmallDomain domain;
  domain.start(domain.one);
  Application& writer = domain.add_kept();
  for (std::uint64_t instance = 1; instance <= 5; ++instance) domain.write(writer, 1, instance);
  REQUIRE(
      writer.writer.endpoint->publish(std::span<const std::byte>(), header_of(2, ChangeKind::unregistered)));
  domain.write(writer, more_than_fits, 9);
  REQUIRE(domain.await_acknowledged(writer));
  if (restarts) {
    domain.one.end();
    domain.start(domain.one);
    REQUIRE(domain.await_acknowledged(writer));
  }
  Late late(domain, kept(reader_spec()));
  REQUIRE(SmallDomain::until_of(
      [&] {
        domain.work();
        late.poll();
      },
      [&] { return late.reader.known.contains(9); }));
  CHECK(late.reader.known == std::set<std::uint64_t>{1, 3, 4, 5, 9});
  // What it writes ends with it, also if the service was not there.
  domain.one.end();
  domain.applications.clear();
  domain.start(domain.one);
}

TEST_CASE("service memory: RESOURCE_LIMITS count what a service does not have yet", "[service]") {
  SmallDomain domain;
  EndpointSpec spec = kept(writer_spec());
  spec.qos.datawriter.resource_limits.max_samples = 10;
  Application& writer = domain.add_kept(spec);
  for (int k = 0; k < 10; ++k) REQUIRE(SmallDomain::try_publishing(writer, 1));
  CHECK(SmallDomain::try_publishing(writer, 1).error().code() == Errc::out_of_resources);
  domain.start(domain.one);
  REQUIRE(domain.await_acknowledged(writer));
  for (int k = 0; k < 10; ++k) REQUIRE(SmallDomain::try_publishing(writer, 1));
  CHECK(SmallDomain::try_publishing(writer, 1).error().code() == Errc::would_block);
  domain.write(writer, 50);
  REQUIRE(domain.await_acknowledged(writer));
  domain.one.end();
  domain.go_on();
  for (int k = 0; k < 10; ++k) REQUIRE(SmallDomain::try_publishing(writer, 1));
  CHECK(SmallDomain::try_publishing(writer, 1).error().code() == Errc::out_of_resources);
}

TEST_CASE("service memory: of two services the one that is left has what the writer gave back", "[service]") {
  SmallDomain domain;
  domain.start(domain.one);
  Application& writer = domain.add_kept();
  domain.write(writer, more_than_fits / 2);
  domain.align(domain.other);
  domain.write(writer, more_than_fits / 2);
  REQUIRE(domain.await_acknowledged(writer));
  domain.one.end();
  Late late(domain, kept(reader_spec()));
  CHECK(late.takes(more_than_fits));
  domain.write(writer, more_than_fits);
  CHECK(late.takes(2 * more_than_fits));
  CHECK(late.reader.lost == 0);
}

}  // namespace llamada::service
