#include "cache_fixture.hpp"
#include "test.hpp"

namespace llamada::dcps::test {
namespace {

using topics::ChangeKind;

TEST_CASE("reader cache: HISTORY keeps the newest of each instance, or all", "[dcps]") {
  const auto [options, expected] = GENERATE(table<ReaderCacheOptions, std::string>({
      {CacheFixture::keep_last(1), "c z"},
      {CacheFixture::keep_last(2), "b c y z"},
      {CacheFixture::reliable_keep_all(), "a b c x y z"},
  }));
  CacheFixture reader(options);
  for (const char* text : {"a", "b", "c"}) reader.write(text, 1);
  for (const char* text : {"x", "y", "z"}) reader.write(text, 2);
  CHECK(reader.read() == expected);
  CHECK(reader.take() == expected);
  CHECK(reader.take() == "");
}

TEST_CASE("reader cache: sample, view and instance states follow the standard's state machine", "[dcps]") {
  CacheFixture reader;
  reader.write("a");
  CHECK(reader.read() == "a");
  CHECK(reader.infos[0].sample_state == sample_state::not_read);
  CHECK(reader.infos[0].view_state == view_state::new_view);
  CHECK(reader.infos[0].instance_state == instance_state::alive);
  reader.read();
  CHECK(reader.infos[0].sample_state == sample_state::read);
  CHECK(reader.infos[0].view_state == view_state::not_new);

  reader.change(ChangeKind::disposed);
  CHECK(reader.read() == "a -");
  CHECK(reader.infos[1].instance_state == instance_state::not_alive_disposed);
  CHECK(reader.infos[1].view_state == view_state::not_new);

  reader.write("b");  // the instance is born again
  CHECK(reader.read() == "a - b");
  CHECK(reader.infos[2].disposed_generation_count == 1);
  CHECK(reader.infos[2].view_state == view_state::new_view);
  CHECK(reader.infos[2].instance_state == instance_state::alive);

  reader.change(ChangeKind::unregistered);
  reader.write("c");
  CHECK(reader.take() == "a b - c");
  CHECK(reader.infos[3].no_writers_generation_count == 1);
  CHECK(reader.infos[3].disposed_generation_count == 1);
}

TEST_CASE("reader cache: ranks count what follows in the collection and in the reader", "[dcps]") {
  CacheFixture reader;
  reader.write("a");
  reader.change(ChangeKind::disposed);
  reader.write("b");
  reader.write("c");
  ReadSelector two;
  two.max_samples = 2;
  CHECK(reader.read(two) == "a -");
  CHECK(reader.infos[0].sample_rank == 1);
  CHECK(reader.infos[0].generation_rank == 0);
  CHECK(reader.infos[0].absolute_generation_rank == 1);
  CHECK(reader.read() == "a - b c");
  CHECK(reader.infos[0].sample_rank == 3);
  CHECK(reader.infos[0].generation_rank == 1);
  CHECK(reader.infos[3].generation_rank == 0);
  CHECK(reader.infos[3].absolute_generation_rank == 0);
}

TEST_CASE("reader cache: an instance has no writers when the last one is gone", "[dcps]") {
  CacheFixture reader;
  reader.write("a", 1, 1);
  reader.write("b", 1, 2);
  SECTION("unregistered") {
    reader.change(ChangeKind::unregistered, 1, 1);
    CHECK(reader.take() == "a b");
    reader.change(ChangeKind::unregistered, 1, 2);
    CHECK(reader.take() == "-");
  }
  SECTION("unmatched") {
    reader.cache.remove_writer(writer_id(1), reader.now);
    CHECK(reader.take() == "a b");
    reader.cache.remove_writer(writer_id(2), reader.now);
    CHECK(reader.take() == "-");
  }
  SECTION("no longer alive") {
    reader.cache.writer_not_alive(writer_id(1), reader.now);
    reader.cache.writer_not_alive(writer_id(2), reader.now);
    CHECK(reader.take() == "a b -");
  }
  CHECK(reader.infos.back().instance_state == instance_state::not_alive_no_writers);
  CHECK(!reader.cache.knows_instance(1));
}

TEST_CASE("reader cache: disposing and unregistering together is a dispose", "[dcps]") {
  CacheFixture reader;
  reader.write("a");
  reader.change(ChangeKind::disposed_unregistered);
  CHECK(reader.take() == "a -");
  CHECK(reader.infos[1].instance_state == instance_state::not_alive_disposed);
  CHECK(!reader.cache.knows_instance(1));
}

TEST_CASE("reader cache: a dispose of an instance never seen is told, with its key", "[dcps]") {
  CacheFixture reader;
  reader.change(ChangeKind::disposed, 5);
  CHECK(text_of(*reader.cache.key_value(5)) == "key");
  CHECK(reader.read() == "-");
  reader.change(ChangeKind::unregistered, 6);  // nothing to tell
  CHECK(reader.take() == "-");
  CHECK(reader.cache.key_value(6).error().code() == Errc::not_found);
}

TEST_CASE("reader cache: samples are chosen by their states", "[dcps]") {
  CacheFixture reader;
  reader.write("a", 1);
  reader.read();
  reader.write("b", 1);
  reader.write("c", 2);
  reader.write("d", 3);
  reader.change(ChangeKind::disposed, 3);
  using Row = std::tuple<DataState, std::string>;
  const auto [state, expected] = GENERATE(table<DataState, std::string>({
      Row{{.sample = sample_state::read}, "a"},
      Row{{.sample = sample_state::not_read}, "b c d -"},
      Row{{.view = view_state::new_view}, "c d -"},
      Row{{.view = view_state::not_new}, "a b"},
      Row{{.instance = instance_state::alive}, "a b c"},
      Row{{.instance = instance_state::not_alive}, "d -"},
      Row{{.instance = instance_state::not_alive_no_writers}, ""},
      Row{{sample_state::not_read, view_state::new_view, instance_state::alive}, "c"},
  }));
  ReadSelector selector;
  selector.state = state;
  CHECK(reader.cache.any(selector, reader.now) == !expected.empty());
  CHECK(reader.take(selector) == expected);
  CHECK(!reader.cache.any(selector, reader.now));
}

TEST_CASE("reader cache: one instance, and the next", "[dcps]") {
  CacheFixture reader;
  for (std::uint64_t instance : {5, 2, 9}) reader.write("i" + std::to_string(instance), instance);
  ReadSelector selector;
  selector.scope = ReadSelector::Scope::instance;
  selector.instance = 2;
  CHECK(reader.read(selector) == "i2");
  selector.instance = 3;
  CHECK(reader.read(selector) == "");
  selector.scope = ReadSelector::Scope::next_instance;
  CHECK(reader.read(selector) == "i5");
  selector.instance = 5;
  CHECK(reader.read(selector) == "i9");
  selector.instance = 9;
  CHECK(reader.read(selector) == "");
  selector.from_first_instance = true;
  CHECK(reader.read(selector) == "i2");
}

TEST_CASE("reader cache: a query looks at data and may order it", "[dcps]") {
  CacheFixture reader;
  for (const char* text : {"b2", "a1", "c3"}) reader.write(text);
  reader.change(ChangeKind::disposed);
  ReadSelector selector;
  selector.matches = [](std::span<const std::byte> data) { return text_of(data) != "a1"; };
  CHECK(reader.read(selector) == "b2 c3");
  selector.object_of = [](std::span<const std::byte> data) {
    return std::make_shared<const std::string>(text_of(data));
  };
  selector.before = [](const void* a, const void* b) {
    return *static_cast<const std::string*>(a) > *static_cast<const std::string*>(b);
  };
  selector.max_samples = 1;
  CHECK(reader.read(selector) == "c3");
}

TEST_CASE("reader cache: what a content filter does not want is not there", "[dcps]") {
  ReaderCacheOptions options = CacheFixture::keep_last(1);
  options.filter = [](std::span<const std::byte> data) { return text_of(data) != "no"; };
  CacheFixture reader(options);
  reader.write("yes");
  reader.write("no");
  reader.write("no", 2);
  CHECK(reader.take() == "yes");
  CHECK(!reader.cache.knows_instance(2));
}

TEST_CASE("reader cache: RESOURCE_LIMITS hold a RELIABLE writer back and say why, once a sample", "[dcps]") {
  ReaderCacheOptions options = CacheFixture::reliable_keep_all();
  const auto [limits, reason] = GENERATE(table<qos::ResourceLimits, SampleRejectedKind>({
      {{2, -1, -1}, SampleRejectedKind::rejected_by_samples_limit},
      {{-1, -1, 1}, SampleRejectedKind::rejected_by_samples_per_instance_limit},
  }));
  options.qos.resource_limits = limits;
  CacheFixture reader(options);
  const bool one_instance = reason == SampleRejectedKind::rejected_by_samples_per_instance_limit;
  CHECK(reader.write("a", 1));
  if (reason == SampleRejectedKind::rejected_by_samples_limit) CHECK(reader.write("b", 2));
  CHECK(!reader.write("c", one_instance ? 1 : 3));
  CHECK(!reader.write("c", one_instance ? 1 : 3));
  const ReaderCacheNews news = reader.cache.take_news();
  REQUIRE(news.rejected.size() == 1);
  CHECK(news.rejected[0].reason == reason);
  reader.take();
  CHECK(reader.write("c", one_instance ? 1 : 3));
}

TEST_CASE("reader cache: BEST_EFFORT drops what does not fit", "[dcps]") {
  ReaderCacheOptions options = CacheFixture::reliable_keep_all();
  options.qos.reliability.kind = qos::ReliabilityKind::best_effort;
  options.qos.resource_limits.max_samples = 1;
  CacheFixture reader(options);
  CHECK(reader.write("a"));
  CHECK(reader.write("b"));
  CHECK(reader.cache.take_news().rejected.size() == 1);
  CHECK(reader.take() == "a");
}

TEST_CASE("reader cache: samples on loan count as stored and keep their data", "[dcps]") {
  ReaderCacheOptions options = CacheFixture::keep_last(1);
  options.qos.resource_limits.max_samples = 2;
  CacheFixture reader(options);
  reader.write("a");
  auto first = reader.cache.select({}, true, reader.now);
  CHECK(reader.cache.loan_count() == 1);
  reader.write("b");
  auto second = reader.cache.select({}, false, reader.now);
  CHECK(!reader.write("c"));  // it would replace b, which is on loan, too
  CHECK(text_of(first[0].sample->sample.data()) == "a");
  reader.cache.give_back(first[0].sample);
  CHECK(reader.write("c"));
  CHECK(text_of(second[0].sample->sample.data()) == "b");
  reader.cache.give_back(second[0].sample);
  CHECK(reader.cache.loan_count() == 0);
  CHECK(reader.take() == "c");
}

TEST_CASE("reader cache: LIFESPAN removes what is too old, and does not take it in", "[dcps]") {
  CacheFixture reader;
  reader.cache.add_writer({.id = writer_id(4), .lifespan = 10s});
  reader.write("a", 1, 4);
  reader.write("stays", 1, 1);
  reader.pass(9s);
  CHECK(reader.read() == "a stays");
  CHECK(reader.cache.next_wakeup() == reader.now.monotonic + 1s);
  reader.pass(1s);
  CHECK(reader.read() == "stays");
  reader.send({.writer = 4, .text = "late", .source_timestamp = reader.now.realtime - 10s});
  CHECK(reader.take() == "stays");
}

TEST_CASE("reader cache: TIME_BASED_FILTER gives the newest at the end of the separation", "[dcps]") {
  ReaderCacheOptions options = CacheFixture::reliable_keep_all();
  options.qos.time_based_filter.minimum_separation = 10s;
  CacheFixture reader(options);
  reader.write("a");
  reader.pass(1s);
  reader.write("b");
  reader.write("other", 2);
  reader.pass(1s);
  reader.write("c");
  CHECK(reader.take() == "a other");
  CHECK(reader.cache.next_wakeup() == reader.now.monotonic + 8s);
  reader.pass(7999ms);
  CHECK(reader.take() == "");
  reader.pass(1ms);
  CHECK(reader.take() == "c");
  reader.pass(5s);
  reader.write("d");
  CHECK(reader.take() == "");
  reader.change(ChangeKind::disposed);  // the last value is told before the end
  CHECK(reader.take() == "d -");
}

TEST_CASE("reader cache: DEADLINE counts each period without a sample, instance by instance", "[dcps]") {
  ReaderCacheOptions options = CacheFixture::reliable_keep_all();
  options.qos.deadline.period = 10s;
  CacheFixture reader(options);
  reader.write("a", 1);
  reader.pass(5s);
  reader.write("b", 2);
  reader.pass(5s);
  auto missed = reader.cache.take_news().deadlines_missed;
  REQUIRE(missed.size() == 1);
  CHECK(missed[0].instance == instance_handle(1));
  reader.write("b", 2);
  reader.pass(10s);
  CHECK(reader.cache.take_news().deadlines_missed.size() == 2);
  reader.change(ChangeKind::disposed, 1);
  reader.change(ChangeKind::unregistered, 2);
  reader.pass(100s);
  CHECK(reader.cache.take_news().deadlines_missed.empty());
}

TEST_CASE("reader cache: READER_DATA_LIFECYCLE purges what nobody takes", "[dcps]") {
  ReaderCacheOptions options = CacheFixture::reliable_keep_all();
  options.qos.reader_data_lifecycle = {10s, 20s};
  CacheFixture reader(options);
  reader.write("orphan", 1);
  reader.write("disposed", 2);
  reader.write("alive", 3);
  reader.change(ChangeKind::unregistered, 1);
  reader.change(ChangeKind::disposed, 2);
  reader.pass(9s);
  CHECK(reader.read() == "orphan - disposed - alive");
  reader.pass(1s);
  CHECK(reader.read() == "alive disposed -");
  CHECK(!reader.cache.knows_instance(1));
  reader.pass(10s);
  CHECK(reader.read() == "alive");
}

TEST_CASE("reader cache: the strongest live writer owns an EXCLUSIVE instance", "[dcps]") {
  ReaderCacheOptions options = CacheFixture::reliable_keep_all();
  options.qos.ownership.kind = qos::OwnershipKind::exclusive;
  options.qos.deadline.period = 10s;
  CacheFixture reader(options);
  reader.cache.update_writer({.id = writer_id(1), .strength = 10});
  reader.cache.update_writer({.id = writer_id(2), .strength = 20});
  reader.cache.update_writer({.id = writer_id(3), .strength = 20});
  reader.write("weak", 1, 1);
  reader.write("strong", 1, 2);
  reader.write("weak", 1, 1);
  reader.write("equal", 1, 3);  // the lower id of equals
  reader.write("weak other", 2, 1);
  reader.change(ChangeKind::disposed, 1, 1);
  CHECK(reader.take() == "weak strong weak other");
  SECTION("it dies") { reader.cache.remove_writer(writer_id(2), reader.now); }
  SECTION("it loses its lease") { reader.cache.writer_not_alive(writer_id(2), reader.now); }
  SECTION("it unregisters") { reader.change(ChangeKind::unregistered, 1, 2); }
  SECTION("it becomes weaker") { reader.cache.update_writer({.id = writer_id(2), .strength = 19}); }
  SECTION("it misses its deadline") {
    reader.pass(5s);
    reader.write("dropped", 1, 3);
    reader.pass(5s);
    CHECK(reader.cache.take_news().deadlines_missed.size() == 2);
  }
  reader.write("weak", 1, 1);
  reader.write("heir", 1, 3);
  CHECK(reader.take() == "heir");
}

TEST_CASE("reader cache: the heir of an EXCLUSIVE instance repeats nothing, by the sources' clocks",
          "[dcps]") {
  ReaderCacheOptions options = CacheFixture::reliable_keep_all();
  options.qos.ownership.kind = qos::OwnershipKind::exclusive;
  options.qos.destination_order.kind = qos::DestinationOrderKind::by_source_timestamp;
  CacheFixture reader(options);
  const auto send = [&](std::string text, std::chrono::nanoseconds at, std::uint32_t writer) {
    reader.send({.writer = writer, .text = std::move(text), .source_timestamp = at});
  };
  send("a", 10s, 1);
  send("b", 20s, 1);
  send("a", 10s, 2);
  reader.cache.remove_writer(writer_id(1), reader.now);
  send("b", 20s, 2);
  send("c", 30s, 2);
  send("c too", 30s, 2);
  CHECK(reader.take() == "a b c c too");
}

TEST_CASE("reader cache: DESTINATION_ORDER by source sorts, and drops what comes too late", "[dcps]") {
  ReaderCacheOptions options = CacheFixture::reliable_keep_all();
  options.qos.destination_order.kind = qos::DestinationOrderKind::by_source_timestamp;
  CacheFixture reader(options);
  const auto send = [&](std::string text, std::chrono::nanoseconds at, std::uint32_t writer) {
    reader.send({.writer = writer, .text = std::move(text), .source_timestamp = at});
  };
  send("b", 20s, 1);
  send("a", 10s, 2);
  send("c", 30s, 2);
  CHECK(reader.take() == "a b c");
  send("too late", 25s, 1);
  send("d", 40s, 1);
  CHECK(reader.take() == "d");

  CacheFixture last([&] {
    options.qos.history = {qos::HistoryKind::keep_last, 1};
    return options;
  }());
  last.send({.text = "new", .source_timestamp = 20s});
  last.send({.writer = 2, .text = "old", .source_timestamp = 10s});
  CHECK(last.take() == "new");
}

TEST_CASE("reader cache: by reception the order of arrival counts", "[dcps]") {
  CacheFixture reader;
  reader.send({.text = "b", .source_timestamp = 20s});
  reader.send({.writer = 2, .text = "a", .source_timestamp = 10s});
  CHECK(reader.take() == "b a");
}

TEST_CASE("reader cache: ordered_access decides whether instances are kept together", "[dcps]") {
  ReaderCacheOptions options = CacheFixture::reliable_keep_all();
  options.presentation.ordered_access = true;
  const auto [scope, expected] = GENERATE(table<qos::PresentationAccessScope, std::string>({
      {qos::PresentationAccessScope::instance, "a c b"},
      {qos::PresentationAccessScope::topic, "a b c"},
  }));
  options.presentation.access_scope = scope;
  CacheFixture reader(options);
  reader.write("a", 1);
  reader.write("b", 2);
  reader.write("c", 1);
  CHECK(reader.take() == expected);
}

TEST_CASE("reader cache: GROUP order is that of the publisher, not of arrival", "[dcps]") {
  ReaderCacheOptions options = CacheFixture::reliable_keep_all();
  options.presentation = {qos::PresentationAccessScope::group, false, true};
  CacheFixture reader(options);
  reader.send({.writer = 1, .instance = 1, .text = "b", .group_sequence = 2});
  reader.send({.writer = 2, .instance = 2, .text = "a", .group_sequence = 1});
  reader.send({.writer = 1, .instance = 1, .text = "c", .group_sequence = 3});
  CHECK(reader.take() == "a b c");
}

TEST_CASE("reader cache: a frozen reader refuses, and takes again when thawed", "[dcps]") {
  CacheFixture reader;
  reader.write("a");
  reader.cache.freeze();
  CHECK(!reader.write("b"));
  CHECK(reader.cache.take_news().rejected.empty());
  reader.cache.thaw();
  CHECK(reader.write("b"));
  CHECK(reader.take() == "a b");
}

TEST_CASE("reader cache: what shares its hash with another instance is rejected, and its set with it",
          "[dcps]") {
  ReaderCacheOptions options = CacheFixture::reliable_keep_all();
  options.presentation = {qos::PresentationAccessScope::topic, true, true};
  options.key_of = [](std::span<const std::byte> data) {
    return std::vector<std::byte>(data.begin(), data.begin() + std::min<std::ptrdiff_t>(1, std::ssize(data)));
  };
  options.is_hash_ambiguous = [](std::uint64_t key_hash) { return key_hash == 1; };
  CacheFixture reader(options);
  reader.write("a1");
  CHECK(reader.write("b1", 1, 2));  // not to be offered again
  reader.send({.writer = 2, .text = "b", .kind = ChangeKind::disposed});
  ReaderCacheNews news = reader.cache.take_news();
  REQUIRE(news.rejected.size() == 2);
  CHECK(news.rejected[0].reason == SampleRejectedKind::rejected_by_key_hash);
  CHECK(news.rejected[0].instance == instance_handle(1));
  CHECK(news.lost_count == 2);
  CHECK(reader.write(""));  // has no key that can be read
  CHECK(reader.cache.has_key(1, bytes_of("a")));
  CHECK_FALSE(reader.cache.has_key(1, bytes_of("b")));
  CHECK(reader.take() == "a1 ");

  reader.send({.instance = 2, .text = "x1", .set = 1});
  reader.send({.instance = 1, .text = "b2", .set = 1});
  reader.send({.text = "2", .kind = ChangeKind::coherent_end, .set = 1});
  CHECK(reader.take() == "");
  news = reader.cache.take_news();
  CHECK(news.rejected.size() == 1);
  CHECK(news.lost_count == 2);
  reader.send({.instance = 2, .text = "x2", .set = 2});
  reader.send({.instance = 1, .text = "a2", .set = 2});
  reader.send({.text = "2", .kind = ChangeKind::coherent_end, .set = 2});
  CHECK(reader.take() == "x2 a2");
  CHECK(reader.cache.take_news().lost_count == 0);
}

}  // namespace
}  // namespace llamada::dcps::test
