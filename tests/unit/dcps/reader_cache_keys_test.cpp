// How long a reader's cache knows an instance, and its key.
#include "cache_fixture.hpp"
#include "recent_keys.hpp"
#include "test.hpp"

namespace llamada::dcps::test {
namespace {

using topics::ChangeKind;

std::string key_text(const ReaderCache& cache, std::uint64_t instance) {
  const auto key = cache.key_value(instance);
  return key ? text_of(*key) : "unknown";
}

TEST_CASE("reader cache: key_value knows an instance whose last sample was taken", "[dcps]") {
  CacheFixture reader;
  reader.change(ChangeKind::disposed_unregistered, 5);
  auto loans = reader.cache.select({}, true, reader.now);
  REQUIRE(loans.size() == 1);
  CHECK(!loans[0].info.valid_data);
  CHECK(reader.cache.knows_instance(5));
  CHECK(key_text(reader.cache, 5) == "key");
  reader.cache.give_back(loans[0].sample);
  CHECK(!reader.cache.knows_instance(5));
  CHECK(key_text(reader.cache, 5) == "key");
  CHECK(key_text(reader.cache, 6) == "unknown");
}

TEST_CASE("reader cache: an instance on loan that is written again lives again", "[dcps]") {
  CacheFixture reader;
  reader.change(ChangeKind::disposed_unregistered, 5);
  auto loans = reader.cache.select({}, true, reader.now);
  reader.write("new", 5);
  for (auto& each : loans) reader.cache.give_back(each.sample);
  CHECK(reader.take() == "new");
  CHECK(reader.infos[0].instance_state == instance_state::alive);
  CHECK(reader.infos[0].view_state == view_state::new_view);
  CHECK(reader.infos[0].disposed_generation_count == 1);
  CHECK(reader.cache.knows_instance(5));
}

TEST_CASE("recent keys: the oldest go when there are too many, or they are too long", "[dcps]") {
  RecentKeys keys;
  for (std::uint64_t hash = 1; hash <= RecentKeys::count_max + 1; ++hash) keys.remember(hash, bytes_of("k"));
  CHECK(keys.find(1) == nullptr);
  REQUIRE(keys.find(2) != nullptr);
  CHECK(text_of(*keys.find(2)) == "k");
  keys.remember(2, bytes_of("other"));
  CHECK(text_of(*keys.find(2)) == "other");
  keys.remember(7777, RecentKeys::Key(RecentKeys::bytes_max + 1));
  CHECK(keys.find(2) == nullptr);
  CHECK(keys.find(RecentKeys::count_max + 1) == nullptr);
  REQUIRE(keys.find(7777) != nullptr);
  keys.remember(8, bytes_of("k"));
  CHECK(keys.find(7777) == nullptr);
  CHECK(keys.find(8) != nullptr);
}

}  // namespace
}  // namespace llamada::dcps::test
