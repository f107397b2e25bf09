#include "writer_cache.hpp"

#include "cache_fixture.hpp"
#include "test.hpp"

namespace llamada::dcps::test {
namespace {

constexpr Now start{1h, 100h};

Now later(std::chrono::nanoseconds span) { return {start.monotonic + span, start.realtime + span}; }

qos::DataWriterQos with_deadline(std::chrono::nanoseconds period) {
  qos::DataWriterQos qos;
  qos.deadline.period = period;
  return qos;
}

TEST_CASE("writer cache: instances are registered once, with their keys", "[dcps]") {
  WriterCache cache({});
  REQUIRE(cache.register_instance(5, bytes_of("five")));
  REQUIRE(cache.register_instance(5, bytes_of("five")));
  REQUIRE(cache.register_instance(6, bytes_of("six")));
  CHECK(cache.instances() == std::vector<std::uint64_t>{5, 6});
  CHECK(cache.key(5).value() == bytes_of("five"));
  CHECK(cache.key(7).error().code() == Errc::not_found);
  REQUIRE(cache.unregister_instance(5));
  CHECK_FALSE(cache.is_registered(5));
  CHECK(cache.unregister_instance(5).error().code() == Errc::precondition_not_met);
}

TEST_CASE("writer cache: a second key with the hash of another is refused until that is unregistered",
          "[dcps]") {
  WriterCache cache({});
  REQUIRE(cache.register_instance(5, bytes_of("five")));
  CHECK(cache.register_instance(5, bytes_of("cinq")).error().code() == Errc::unsupported);
  CHECK(cache.has_key(5, bytes_of("five")));
  CHECK_FALSE(cache.has_key(5, bytes_of("cinq")));
  REQUIRE(cache.unregister_instance(5));
  REQUIRE(cache.register_instance(5, bytes_of("cinq")));
}

TEST_CASE("writer cache: max_instances bounds what is registered at a time", "[dcps]") {
  qos::DataWriterQos qos;
  qos.resource_limits.max_instances = 2;
  WriterCache cache(qos);
  REQUIRE(cache.register_instance(1, bytes_of("a")));
  REQUIRE(cache.register_instance(2, bytes_of("b")));
  CHECK(cache.register_instance(3, bytes_of("c")).error().code() == Errc::out_of_resources);
  REQUIRE(cache.register_instance(2, bytes_of("b")));
  REQUIRE(cache.unregister_instance(1));
  REQUIRE(cache.register_instance(3, bytes_of("c")));
}

TEST_CASE("writer cache: each period without a write of an instance is a missed deadline", "[dcps]") {
  WriterCache cache(with_deadline(10ms));
  REQUIRE(cache.register_instance(1, bytes_of("a")));
  REQUIRE(cache.register_instance(2, bytes_of("b")));
  CHECK(cache.next_wakeup() == never);
  cache.wrote(1, start);
  cache.wrote(2, later(5ms));
  CHECK(cache.next_wakeup() == later(10ms).monotonic);
  CHECK(cache.advance(later(9ms)).empty());
  cache.wrote(1, later(9ms));
  const auto missed = cache.advance(later(16ms));
  REQUIRE(missed.size() == 1);
  CHECK(missed[0].instance == 2);
  CHECK(missed[0].count == 1);
  cache.disposed(2);
  const auto many = cache.advance(later(49ms));
  REQUIRE(many.size() == 1);
  CHECK(many[0].instance == 1);
  CHECK(many[0].count == 4);  // of 19, 29, 39 and 49
  REQUIRE(cache.unregister_instance(1));
  CHECK(cache.advance(later(100ms)).empty());
}

TEST_CASE("writer cache: a new DEADLINE begins when it is set", "[dcps]") {
  WriterCache cache(with_deadline(10ms));
  REQUIRE(cache.register_instance(1, bytes_of("a")));
  cache.wrote(1, start);
  cache.set_qos(with_deadline(30ms), later(5ms));
  CHECK(cache.advance(later(34ms)).empty());
  CHECK(cache.advance(later(35ms)).size() == 1);
  cache.set_qos(with_deadline(qos::duration_infinite), later(36ms));
  CHECK(cache.advance(later(200ms)).empty());
}

}  // namespace
}  // namespace llamada::dcps::test
