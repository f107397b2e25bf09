#include "entity_fixture.hpp"

namespace llamada::dcps::test {
namespace {

using Conditions = std::vector<std::shared_ptr<Condition>>;

TEST_CASE("wait set: waits for guard conditions, no longer than it is told", "[dcps]") {
  WaitSet wait_set;
  auto guard = std::make_shared<GuardCondition>();
  wait_set.attach(guard);
  wait_set.attach(guard);
  CHECK(wait_set.conditions().size() == 1);
  CHECK(wait_set.wait(1ms).error().code() == Errc::timeout);
  std::thread setter([&] { guard->set_trigger_value(true); });
  auto active = wait_set.wait(watchdog);
  setter.join();
  REQUIRE(active);
  CHECK(*active == Conditions{guard});
  guard->set_trigger_value(false);
  CHECK(wait_set.wait(0s).error().code() == Errc::timeout);
  CHECK(wait_set.detach(guard));
  CHECK(wait_set.detach(guard).error().code() == Errc::precondition_not_met);
}

TEST_CASE("wait set: status conditions are true while a status has changed that is enabled", "[dcps]") {
  Domain domain;
  auto reader = domain.reader();
  auto condition = reader->status_condition();
  CHECK(condition->entity() == reader);
  condition->set_enabled_statuses(status::subscription_matched);
  WaitSet wait_set;
  wait_set.attach(condition);
  CHECK(wait_set.wait(1ms).error().code() == Errc::timeout);
  auto writer = domain.writer();
  REQUIRE(wait_set.wait(watchdog));
  CHECK((reader->status_changes() & status::subscription_matched) != 0);
  CHECK(reader->subscription_matched_status().current_count == 1);
  CHECK(!condition->trigger_value());
  REQUIRE(writer->write(reading(1, 1)));
  REQUIRE(eventually([&] { return (reader->status_changes() & status::data_available) != 0; }));
  CHECK(!condition->trigger_value());
  condition->set_enabled_statuses(status::data_available);
  CHECK(condition->trigger_value());
  CHECK(take_text(*reader) == "1:1");
  CHECK(!condition->trigger_value());
}

TEST_CASE("wait set: read conditions are true while samples are in their states", "[dcps]") {
  Domain domain;
  auto reader = domain.reader();
  auto unread = *reader->create_readcondition({.sample = sample_state::not_read});
  auto gone = *reader->create_readcondition({.instance = instance_state::not_alive});
  WaitSet wait_set;
  wait_set.attach(unread);
  wait_set.attach(gone);
  auto writer = domain.writer();
  await_match(*writer);
  REQUIRE(writer->write(reading(1, 10)));
  auto active = wait_set.wait(watchdog);
  REQUIRE(active);
  CHECK(*active == Conditions{unread});
  CHECK(text_of(*reader->read({.condition = unread})) == "1:10");
  CHECK(!unread->trigger_value());
  REQUIRE(writer->dispose(reading(1, 0)));
  // The dispose may arrive between a look at the one and at the other: both are true before the wait.
  REQUIRE(eventually([&] { return unread->trigger_value() && gone->trigger_value(); }));
  active = wait_set.wait(watchdog);
  REQUIRE(active);
  CHECK(*active == Conditions{unread, gone});
  CHECK(take_text(*reader, {.condition = gone}) == "1:10 -D");
  CHECK(reader->delete_readcondition(unread));
  CHECK(reader->read({.condition = unread}).error().code() == Errc::precondition_not_met);
}

TEST_CASE("wait set: a wait without limit ends when the reader of a condition is deleted", "[dcps]") {
  Domain domain;
  auto subscriber = domain.subscriber();
  auto reader = domain.reader(reliable_reader(), subscriber);
  WaitSet wait_set;
  wait_set.attach(*reader->create_readcondition({}));
  Errc outcome = Errc::system;
  std::thread waiter([&] { outcome = wait_set.wait(qos::duration_infinite).error().code(); });
  CHECK(subscriber->delete_datareader(reader).error().code() == Errc::precondition_not_met);
  REQUIRE(subscriber->delete_contained_entities());
  waiter.join();
  CHECK(outcome == Errc::closed);
}

TEST_CASE("wait set: query conditions look at what the samples hold, and order it", "[dcps]") {
  Domain domain;
  auto reader = domain.reader();
  CHECK(!reader->create_querycondition({}, "nothing = 1", {}));
  auto large = *reader->create_querycondition({}, "value > %0 ORDER BY value", {"10"});
  WaitSet wait_set;
  wait_set.attach(large);
  auto writer = domain.writer();
  await_match(*writer);
  REQUIRE(writer->write(reading(1, 5)));
  REQUIRE(eventually([&] { return !reader->read()->empty(); }));
  CHECK(!large->trigger_value());
  for (std::int32_t value : {30, 20, 40}) REQUIRE(writer->write(reading(2, value)));
  REQUIRE(wait_set.wait(watchdog));
  REQUIRE(eventually([&] { return reader->read()->size() == 4; }));
  CHECK(text_of(*reader->read({.condition = large})) == "2:20 2:30 2:40");
  REQUIRE(large->set_query_parameters({"25"}));
  CHECK(!large->set_query_parameters({"text"}));
  CHECK(large->query_parameters() == std::vector<std::string>{"25"});
  CHECK(take_text(*reader, {.max_samples = 1, .condition = large}) == "2:30");
  CHECK(take_text(*reader) == "1:5 2:20 2:40");
}

TEST_CASE("reading: by instance and the next instance", "[dcps]") {
  Domain domain;
  auto reader = domain.reader();
  auto writer = domain.writer();
  await_match(*writer);
  for (std::int32_t sensor : {1, 2, 3}) REQUIRE(writer->write(reading(sensor, sensor * 10)));
  REQUIRE(eventually([&] { return reader->read()->size() == 3; }));
  const InstanceHandle second = *reader->lookup_instance(reading(2, 0));
  CHECK(text_of(*reader->read({.instance = second})) == "2:20");
  CHECK(reader->read({.instance = InstanceHandle{5, 5}}).error().code() == Errc::not_found);
  CHECK(reader->read({.instance = handle_nil}).error().code() == Errc::invalid_argument);
  std::size_t count = 0;
  ReadOptions next{.next_instance = true};
  while (true) {
    auto samples = reader->take(next);
    if (samples->empty()) break;
    CHECK(samples->size() == 1);
    next.instance = (*samples)[0].info.instance_handle;
    ++count;
  }
  CHECK(count == 3);
}

TEST_CASE("group access: readers of a group are read between begin and end alone", "[dcps]") {
  qos::PublisherQos publisher_qos;
  publisher_qos.presentation = {qos::PresentationAccessScope::group, true, true};
  qos::SubscriberQos subscriber_qos;
  subscriber_qos.presentation = publisher_qos.presentation;
  Domain domain;
  auto publisher = domain.publisher(publisher_qos);
  auto subscriber = domain.subscriber(subscriber_qos);
  auto first = domain.writer(reliable_writer(), publisher, "first");
  auto second = domain.writer(reliable_writer(), publisher, "second");
  auto first_reader = domain.reader(reliable_reader(), subscriber, "first");
  auto second_reader = domain.reader(reliable_reader(), subscriber, "second");
  await_match(*first);
  await_match(*second);
  await_match(*first_reader);
  await_match(*second_reader);
  CHECK(first_reader->take().error().code() == Errc::precondition_not_met);

  const auto seen = [&] {
    REQUIRE(subscriber->begin_access());
    std::string text;
    auto readers = subscriber->datareaders({.sample = sample_state::not_read});
    REQUIRE(readers);
    for (const auto& reader : *readers) text += take_text(*reader, {.max_samples = 1}) + ' ';
    REQUIRE(subscriber->end_access());
    return text;
  };
  REQUIRE(publisher->begin_coherent_changes());
  REQUIRE(second->write(reading(2, 1)));
  REQUIRE(first->write(reading(1, 2)));
  REQUIRE(second->write(reading(2, 3)));
  CHECK(seen() == "");
  REQUIRE(publisher->end_coherent_changes());
  std::string all;
  REQUIRE(eventually([&] { return !(all = seen()).empty(); }));
  CHECK(all == "2:1 1:2 2:3 ");
  CHECK(publisher->end_coherent_changes().error().code() == Errc::precondition_not_met);
  CHECK(subscriber->end_access().error().code() == Errc::precondition_not_met);
}

}  // namespace
}  // namespace llamada::dcps::test
