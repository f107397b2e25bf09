// Samples of another store come into a stream, and a crash at any step leaves each one that was there.
#include "merger.hpp"

#include <fmt/ranges.h>

#include "llamada/store/memory_store.hpp"
#include "test.hpp"

namespace llamada::service {
namespace {

using topics::Guid;

constexpr Guid writer{7, 1};

qos::EndpointQos offer() {
  qos::EndpointQos qos;
  qos.writer = true;
  return qos;
}

/// A store whose calls fail from one on, as if the process had been killed there.
class Dying final : public store::Store {
 public:
  explicit Dying(store::Store& store, int calls) : store_(store), calls_(calls) {}
  Result<store::StreamId> stream(std::string_view name, std::span<const std::byte> text) override {
    return store_.stream(name, text);
  }
  Status append(const store::Item& item) override { return dies() ? dead() : store_.append(item); }
  Status drop_below(store::StreamId id, std::uint64_t number) override {
    return store_.drop_below(id, number);
  }
  Status drop(store::StreamId id, std::uint64_t number) override {
    if (dies()) return dead();
    // Each one in a batch of its own, so that a crash can come between any two.
    if (auto dropped = store_.drop(id, number); !dropped) return dropped;
    auto written = store_.write();
    return written ? Status() : propagate(written);
  }
  Status end(store::StreamId id) override { return store_.end(id); }
  Result<store::BatchNumber> write() override {
    if (dies()) return failure(Errc::closed, "killed");
    return store_.write();
  }
  Status sync(store::BatchNumber batch) override { return store_.sync(batch); }
  Status read(store::StreamId id, std::uint64_t from, const OnItem& on_item,
              const OnDamaged& on_damaged) const override {
    return store_.read(id, from, on_item, on_damaged);
  }
  Status newest(store::StreamId id, std::uint64_t group, std::size_t count, const OnItem& on_item,
                const OnDamaged& on_damaged) const override {
    return store_.newest(id, group, count, on_item, on_damaged);
  }
  std::vector<store::StreamInfo> streams() const override { return store_.streams(); }
  store::StoreFigures figures() const override { return store_.figures(); }

 private:
  bool dies() { return calls_-- <= 0; }
  static Status dead() { return failure(Errc::closed, "killed"); }

  store::Store& store_;
  int calls_;
};

/// A store with samples of one writer.
struct Kept {
  std::unique_ptr<store::Store> store = store::make_memory_store();

  explicit Kept(const std::vector<std::uint64_t>& numbers) {
    KeptTopic topic;
    topic.key = {0, "readings", "Reading", 5, true};
    REQUIRE(store->stream(stream_name(topic.key), encode(topic)));
    REQUIRE(store->write());
    Merger merger(*store, state());
    Seen seen;
    if (!numbers.empty()) seen.through(numbers.back());
    REQUIRE(merger.set_writer(writer, seen, offer()));
    for (const std::uint64_t number : numbers) REQUIRE(add(merger, number));
    REQUIRE(merger.finish({}));
  }
  KeptState state() const {
    auto read = read_state(*store, store->streams()[0]);
    REQUIRE(read);
    return *read;
  }
  static Status add(Merger& merger, std::uint64_t number) {
    KeptSample sample;
    sample.origin = {writer, number};
    sample.instance = 1;
    const std::vector<std::byte> body(10, std::byte(number));
    return merger.add(sample, body);
  }
  std::vector<std::uint64_t> numbers() const {
    std::vector<std::uint64_t> numbers;
    for (const KeptItem& item : state().items) numbers.push_back(item.sample.origin.number);
    return numbers;
  }
};

using Numbers = std::vector<std::uint64_t>;

}  // namespace

TEST_CASE("merger: what comes in between comes in its writer's order", "[service]") {
  Kept kept({2, 3, 6, 9});
  Merger merger(*kept.store, kept.state());
  for (const std::uint64_t number : {1, 4, 6, 7, 10}) REQUIRE(Kept::add(merger, number));
  REQUIRE(merger.finish({}));
  CHECK(kept.numbers() == Numbers{1, 2, 3, 4, 6, 7, 9, 10});
  CHECK(kept.state().left_over.empty());
  CHECK(merger.added_count() == 4);
}

TEST_CASE("merger: a crash at any step loses nothing, and nothing looks as if it had been dropped",
          "[service]") {
  for (int calls = 0; calls < 40; ++calls) {
    Kept kept({2, 3, 6, 9});
    INFO("killed at call " << calls);
    {
      Dying dying(*kept.store, calls);
      Merger merger(dying, kept.state());
      Seen seen;
      seen.through(20);
      Status done = merger.set_writer(writer, seen, offer());
      for (const std::uint64_t number : {4, 7, 12, 20})
        if (done) done = Kept::add(merger, number);
      if (done) done = merger.finish({});
      if (done) CHECK(kept.numbers() == Numbers{2, 3, 4, 6, 7, 9, 12, 20});
      if (calls == 39) REQUIRE(done);
    }
    const KeptState state = kept.state();
    const Numbers left = kept.numbers();
    INFO(fmt::format("{}", fmt::join(left, " ")));
    CHECK(std::is_sorted(left.begin(), left.end()));
    for (const std::uint64_t number : {2, 3, 6, 9}) CHECK(std::count(left.begin(), left.end(), number) == 1);
    // Whatever has not come is asked for again: all before the end of what has come was told.
    for (const std::uint64_t number : {12, 20})
      if (std::count(left.begin(), left.end(), number) == 0) CHECK_FALSE(state.has_seen({writer, number}));
  }
}

TEST_CASE("merger: one that is stopped does not know what has not come", "[service]") {
  Kept kept({1, 2});
  Merger merger(*kept.store, kept.state());
  Seen seen;
  seen.through(20);
  REQUIRE(merger.set_writer(writer, seen, offer()));
  REQUIRE(Kept::add(merger, 3));
  REQUIRE(merger.stop());
  CHECK(kept.numbers() == Numbers{1, 2, 3});
  CHECK_FALSE(kept.state().has_seen({writer, 4}));
}

TEST_CASE("merger: what is not confirmed is dropped, nor what was forgotten", "[service]") {
  Kept kept({1, 2, 3});
  Merger merger(*kept.store, kept.state());
  merger.confirm({writer, 2});
  REQUIRE(Kept::add(merger, 4));
  REQUIRE(merger.finish({.drops_unconfirmed = true}));
  CHECK(kept.numbers() == Numbers{2, 4});
  Merger again(*kept.store, kept.state());
  REQUIRE(again.finish({.forgotten = {{writer, 2}, {writer, 4}}}));
  CHECK(kept.numbers().empty());
}

TEST_CASE("seen: gaps are what neither of two has seen", "[service]") {
  Seen one, other;
  one.through(10);
  one.begin_at(21);
  one.through(30);
  CHECK(one.has(10));
  CHECK_FALSE(one.has(11));
  CHECK_FALSE(one.has(20));
  CHECK(one.has(21));
  CHECK_FALSE(one.has(31));
  other.begin_at(15);
  other.through(17);
  Seen both = one;
  both.add(other);
  CHECK(both.gaps() == std::vector<Seen::Gap>{{11, 14}, {18, 20}});
  CHECK(both.last() == 30);
  both.add(Seen());
  CHECK(both.gaps().size() == 2);
  Seen all;
  all.through(25);
  both.add(all);
  CHECK(both.gaps().empty());
  for (std::uint64_t number = 100; number < 3000; number += 2)
    both.begin_at(number + 2), both.through(number + 2);
  CHECK(both.gaps().size() == Seen::gap_count_max);
}

}  // namespace llamada::service
