// RESOURCE_LIMITS max_instances of a RELIABLE reader.
#include "cache_fixture.hpp"
#include "test.hpp"

namespace llamada::dcps::test {
namespace {

using topics::ChangeKind;

ReaderCacheOptions limited(std::int32_t max_instances) {
  ReaderCacheOptions options = CacheFixture::reliable_keep_all();
  options.qos.resource_limits.max_instances = max_instances;
  return options;
}

TEST_CASE("reader cache: an unregister behind samples of one instance too many makes room", "[dcps]") {
  CacheFixture reader(limited(2));
  reader.write("a", 1);
  reader.write("b", 2);
  CHECK(reader.take() == "a b");
  CHECK(reader.write("c", 3));
  CHECK(reader.write("c2", 3));
  CHECK(reader.write("a2", 1));
  CHECK(reader.cache.has_samples_aside());
  const ReaderCacheNews news = reader.cache.take_news();
  REQUIRE(!news.rejected.empty());
  CHECK(news.rejected[0].reason == SampleRejectedKind::rejected_by_instances_limit);
  CHECK(news.rejected[0].instance == instance_handle(3));
  CHECK(news.lost_count == 0);
  reader.change(ChangeKind::unregistered, 1);
  CHECK(reader.take() == "a2 -");
  CHECK(reader.take() == "c c2");
  CHECK(!reader.cache.has_samples_aside());
  CHECK(reader.cache.take_news().rejected.empty());
}

TEST_CASE("reader cache: what is set aside keeps the order of its instance", "[dcps]") {
  CacheFixture reader(limited(1));
  reader.write("a", 1);
  reader.write("b", 2);
  reader.change(ChangeKind::unregistered, 2);
  reader.write("c", 3);
  reader.change(ChangeKind::disposed_unregistered, 1);
  CHECK(reader.take() == "a -");
  CHECK(reader.take() == "b -");
  CHECK(reader.infos[1].instance_state == instance_state::not_alive_no_writers);
  CHECK(reader.take() == "c");
  CHECK(reader.infos[0].instance_state == instance_state::alive);
}

TEST_CASE("reader cache: samples set aside of a writer that has gone are not lost", "[dcps]") {
  CacheFixture reader(limited(1));
  reader.write("a", 1);
  CHECK(reader.take() == "a");
  reader.write("b", 2, 2);
  reader.cache.remove_writer(writer_id(2), reader.now);
  CHECK(reader.take().empty());
  reader.cache.remove_writer(writer_id(1), reader.now);
  CHECK(reader.take() == "-");
  CHECK(reader.take() == "b -");
  CHECK(reader.infos[1].instance_state == instance_state::not_alive_no_writers);
}

TEST_CASE("reader cache: a reader looks so far ahead and no farther", "[dcps]") {
  CacheFixture reader(limited(1));
  reader.write("a", 1);
  std::uint64_t accepted = 0;
  while (reader.write("x", 2 + accepted)) ++accepted;
  CHECK(accepted == 4096);
  reader.change(ChangeKind::unregistered, 1);  // of an instance that is known: no sample to set aside
  CHECK(reader.take() == "a -");
  CHECK(reader.write("x", 2 + accepted));
}

}  // namespace
}  // namespace llamada::dcps::test
