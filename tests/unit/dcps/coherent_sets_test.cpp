#include "cache_fixture.hpp"
#include "test.hpp"

namespace llamada::dcps::test {
namespace {

using topics::ChangeKind;

ReaderCacheOptions coherent(qos::PresentationAccessScope scope = qos::PresentationAccessScope::topic) {
  ReaderCacheOptions options = CacheFixture::reliable_keep_all();
  options.presentation = {scope, true, false};
  return options;
}

void end_set(CacheFixture& reader, std::uint32_t set, std::uint32_t count, std::uint32_t writer = 1) {
  reader.send({.writer = writer,
               .instance = 0,
               .text = std::to_string(count),
               .kind = ChangeKind::coherent_end,
               .set = set});
}

TEST_CASE("coherent sets: are seen when they are whole, and as one", "[dcps]") {
  CacheFixture reader(coherent());
  reader.send({.instance = 1, .text = "a", .set = 1});
  reader.send({.instance = 2, .text = "b", .set = 1});
  reader.write("alone", 3, 2);  // another writer does not wait
  CHECK(reader.take() == "alone");
  end_set(reader, 1, 2);
  CHECK(reader.take() == "a b");
}

TEST_CASE("coherent sets: one that is not whole is not seen, and its samples count as lost", "[dcps]") {
  CacheFixture reader(coherent());
  reader.send({.text = "a", .set = 1});
  SECTION("a sample is missing") { end_set(reader, 1, 2); }
  SECTION("a sample was lost") {
    reader.cache.on_samples_lost(writer_id(1), 1);
    CHECK(reader.cache.take_news().lost_count == 1);
    end_set(reader, 1, 1);
  }
  SECTION("its end is missing") { reader.send({.text = "b", .set = 2}); }
  SECTION("the writer is gone") { reader.cache.remove_writer(writer_id(1), reader.now); }
  CHECK(reader.take() == "");
  CHECK(reader.cache.take_news().lost_count == 1);
}

TEST_CASE("coherent sets: a reader that did not ask for them sees samples as they come", "[dcps]") {
  CacheFixture reader;
  reader.send({.text = "a", .set = 1});
  CHECK(reader.take() == "a");
  end_set(reader, 1, 1);
  CHECK(reader.take() == "");
}

TEST_CASE("coherent sets: one that does not fit the limits waits until there is room", "[dcps]") {
  ReaderCacheOptions options = coherent();
  options.qos.resource_limits.max_samples = 2;
  CacheFixture reader(options);
  reader.write("x");
  reader.send({.text = "a", .set = 1});
  CHECK(!reader.send({.text = "b", .set = 1}));
  CHECK(reader.take() == "x");
  CHECK(reader.send({.text = "b", .set = 1}));
  end_set(reader, 1, 2);
  CHECK(reader.take() == "a b");
}

TEST_CASE("coherent sets: one that never fits is refused, not waited for", "[dcps]") {
  ReaderCacheOptions options = coherent();
  options.qos.resource_limits.max_samples = 2;
  CacheFixture reader(options);
  for (const char* text : {"a", "b", "c", "d"}) CHECK(reader.send({.text = text, .set = 1}));
  end_set(reader, 1, 4);
  CHECK(reader.take() == "");
  const ReaderCacheNews news = reader.cache.take_news();
  CHECK(news.lost_count == 4);
  CHECK(!news.rejected.empty());
  reader.send({.text = "next", .set = 2});
  end_set(reader, 2, 1);
  CHECK(reader.take() == "next");
}

TEST_CASE("coherent sets: of a group wait for the subscriber", "[dcps]") {
  CacheFixture reader(coherent(qos::PresentationAccessScope::group));
  reader.send({.text = "a", .set = 1});
  end_set(reader, 1, 1);
  reader.write("behind");
  CHECK(reader.take() == "");
  auto waiting = reader.cache.waiting_sets();
  REQUIRE(waiting.size() == 1);
  CHECK(waiting[0].number == 1);
  CHECK(waiting[0].whole);
  CHECK(!reader.cache.has_passed(7, 0, 1));  // writers 2 and 3 have not ended it
  end_set(reader, 1, 0, 2);
  end_set(reader, 1, 0, 3);
  CHECK(reader.cache.has_passed(7, 0, 1));
  reader.cache.release_set(writer_id(1), true, reader.now);
  CHECK(reader.take() == "a behind");
}

}  // namespace
}  // namespace llamada::dcps::test
