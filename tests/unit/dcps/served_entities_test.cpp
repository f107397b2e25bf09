#include "served_entities.hpp"

#include <atomic>

#include "core.hpp"
#include "entity_fixture.hpp"

namespace llamada::dcps::test {
namespace {

/// Stands still until the test lets time pass. Other threads may read it meanwhile.
class StillClock final : public Clock {
 public:
  std::chrono::nanoseconds monotonic() const override { return now_.load(); }
  std::chrono::nanoseconds realtime() const override { return now_.load(); }
  void pass(std::chrono::nanoseconds time) { now_ = now_.load() + time; }

 private:
  std::atomic<std::chrono::nanoseconds> now_{1s};
};

/// What only entities see of each other.
struct Inside : Entity {
  static detail::Core& core_of(const Entity& entity) { return (entity.*&Inside::core)(); }
  static StatusMask changes_of(const Entity& entity) { return (entity.*&Inside::changed_statuses)(); }
};

/// A writer that offers a DEADLINE of 2 s and a reader that requests one of 5 s, in one participant. One
/// sample has been written and has arrived.
struct Pair {
  Pair() : factory([this](DomainId) { return loopback.attach(); }, clock) {
    participant = *factory.create_participant(0, {.name = "both"});
    auto topic = *participant->create_topic("readings", type_of<Reading>(), {});
    qos::DataWriterQos offered = reliable_writer();
    offered.deadline.period = 2s;
    qos::DataReaderQos requested = reliable_reader();
    requested.deadline.period = 5s;
    writer = *(*participant->create_publisher({}))->create_datawriter(topic, offered);
    reader = *(*participant->create_subscriber({}))->create_datareader(topic, requested);
    await_match(*writer);
    await_match(*reader);
    REQUIRE(writer->write(reading(1, 10)));
    REQUIRE(eventually([&] { return (reader->status_changes() & status::data_available) != 0; }));
  }
  ~Pair() {
    CHECK(participant->delete_contained_entities());
    CHECK(factory.delete_participant(participant));
  }
  detail::Core& core() { return Inside::core_of(*participant); }

  StillClock clock;
  topics::Loopback loopback;
  DomainParticipantFactory factory;
  std::shared_ptr<DomainParticipant> participant;
  std::shared_ptr<DataWriter> writer;
  std::shared_ptr<DataReader> reader;
};

TEST_CASE("served entities: of all that is due the first moment counts; without any it is never", "[dcps]") {
  Pair pair;
  const detail::Lock held = pair.core().lock();
  const auto now = pair.clock.monotonic();
  detail::ServedEntities served;
  CHECK(served.next_wakeup() == never);
  served.add(*pair.reader);
  CHECK(served.next_wakeup() == now + 5s);
  served.add(*pair.writer);
  CHECK(served.next_wakeup() == now + 2s);
  served.remove(*pair.writer);
  CHECK(served.next_wakeup() == now + 5s);
  served.remove(*pair.reader);
  CHECK(served.next_wakeup() == never);
}

TEST_CASE("served entities: time that passes becomes statuses of those that are due, and of no others",
          "[dcps]") {
  Pair pair;
  detail::Core& core = pair.core();
  const detail::Lock held = core.lock();  // so nobody else serves them
  const auto has_writer_missed = [&] {
    return (Inside::changes_of(*pair.writer) & status::offered_deadline_missed) != 0;
  };
  const auto has_reader_missed = [&] {
    return (Inside::changes_of(*pair.reader) & status::requested_deadline_missed) != 0;
  };
  core.entities().advance(core.now());
  CHECK_FALSE(has_writer_missed());
  pair.clock.pass(3s);
  core.entities().advance(core.now());
  CHECK(has_writer_missed());
  CHECK_FALSE(has_reader_missed());
  pair.clock.pass(3s);
  core.entities().advance(core.now());
  CHECK(has_reader_missed());
}

TEST_CASE("served entities: when the domain is gone all matches end, and that is a status", "[dcps]") {
  Pair pair;
  (void)pair.writer->publication_matched_status();
  (void)pair.reader->subscription_matched_status();
  {
    const detail::Lock held = pair.core().lock();
    pair.core().entities().end_all_matches();
    CHECK((Inside::changes_of(*pair.writer) & status::publication_matched) != 0);
    CHECK((Inside::changes_of(*pair.reader) & status::subscription_matched) != 0);
  }
  CHECK(pair.writer->matched_subscriptions().empty());
  CHECK(pair.reader->matched_publications().empty());
  CHECK(pair.writer->publication_matched_status().current_count == 0);
  CHECK(pair.reader->subscription_matched_status().current_count_change == -1);
  CHECK(pair.reader->liveliness_changed_status().alive_count == 0);
}

}  // namespace
}  // namespace llamada::dcps::test
