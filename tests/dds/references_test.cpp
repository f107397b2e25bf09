// References share what they refer to, between threads, too.
#include <atomic>

#include "support.hpp"

using namespace dds_test;
using namespace dds::core;
using dds::core::cond::GuardCondition;
using dds::core::cond::StatusCondition;
using dds::core::cond::WaitSet;
using dds::sub::status::DataState;

TEST_CASE("dds: threads attach and detach conditions while another waits", "[dds]") {
  WaitSet waits;
  GuardCondition keep;
  waits += keep;
  std::atomic<bool> stop{false};
  std::atomic<int> empty_count{0}, woken_count{0};
  std::thread waiter([&] {
    while (!stop) {
      try {
        waits.wait(Duration::from_millisecs(20)).empty() ? ++empty_count : ++woken_count;
      } catch (const TimeoutError&) {
      }
    }
  });
  const auto change = [&] {
    for (int round = 0; round < 300; ++round) {
      std::vector<GuardCondition> more(8);
      for (auto& each : more) {
        each.trigger_value(true);
        waits += each;
      }
      if (round % 16 == 0) std::this_thread::yield();
      for (auto& each : more) waits -= each;
    }
  };
  std::thread one(change), other(change);
  one.join();
  other.join();
  CHECK(waits.conditions() == dds::core::cond::ConditionSeq{keep});
  const int before = woken_count;
  keep.trigger_value(true);
  CHECK(eventually([&] { return woken_count > before; }));
  stop = true;
  waiter.join();
  CHECK(empty_count == 0);
}

TEST_CASE("dds: copies of a WaitSet are the same WaitSet", "[dds]") {
  WaitSet waits;
  WaitSet copy = waits;
  CHECK(copy == waits);
  CHECK_FALSE(WaitSet() == waits);
  GuardCondition guard;
  copy += guard;
  CHECK(waits.conditions().size() == 1);
  std::thread setter([&] { guard.trigger_value(true); });
  CHECK(waits.wait(Duration(100)).front() == guard);
  setter.join();
  CHECK(waits.detach_condition(guard));
  CHECK_FALSE(copy.detach_condition(guard));
  CHECK(copy.conditions().empty());
  WaitSet nothing(dds::core::null);
  CHECK_THROWS_AS(nothing.wait(), NullReferenceError);
}

TEST_CASE("dds: an entity has one StatusCondition, whichever reference asks for it", "[dds]") {
  Pair<Reading> pair;
  StatusCondition condition(pair.reader);
  CHECK(condition == StatusCondition(pair.reader));
  CHECK(condition == StatusCondition(dds::sub::AnyDataReader(pair.reader)));
  CHECK_FALSE(condition == StatusCondition(pair.writer));
  int called = 0;
  StatusCondition(pair.reader, [&] {
    ++called;
    condition.reset_handler();  // a handler may replace itself
  });
  condition.dispatch();
  condition.dispatch();
  CHECK(called == 1);
}

TEST_CASE("dds: copies of a reader share its default_filter_state", "[dds]") {
  Pair<Reading> pair;
  auto copy = pair.reader;
  CHECK(copy.default_filter_state() == DataState::any());
  pair.reader.default_filter_state(DataState::new_instance());
  CHECK(copy.default_filter_state() == DataState::new_instance());
  pair.writer << Reading{1, 1} << Reading{1, 2};
  REQUIRE(eventually([&] { return pair.reader.select().state(DataState::any()).read().length() == 2; }));
  CHECK(copy.read().empty());  // the instance is no longer new
}

TEST_CASE("dds: copies of a Query are the same Query", "[dds]") {
  Pair<Reading> pair;
  dds::sub::Query query(pair.reader, "value > %0", {"1"}), copy = query;
  CHECK(copy == query);
  CHECK_FALSE(copy == dds::sub::Query(pair.reader, "value > %0", {"1"}));
  copy.expression("value < %0 AND sensor = %1");
  copy.parameters({"3"});
  query.add_parameter("2");
  CHECK(query.expression() == "value < %0 AND sensor = %1");
  CHECK(copy.parameters() == StringSeq{"3", "2"});
  CHECK(copy.parameters_length() == 2);
  dds::sub::Query nothing(dds::core::null);
  CHECK_THROWS_AS(nothing.expression(), NullReferenceError);
  CHECK_THROWS_AS(pair.reader.select().content(nothing).read(), NullReferenceError);
}

TEST_CASE("dds: a wait in vain names the time that it was given", "[dds]") {
  WaitSet waits;
  try {
    waits.wait(Duration::from_millisecs(20));
    FAIL();
  } catch (const TimeoutError& error) {
    CHECK(std::string(error.what()) == "no condition became true within 20 ms");
  }
}

TEST_CASE("dds: a thread that waits for a ReadCondition hears that its reader was closed", "[dds]") {
  Pair<Reading> pair;
  dds::sub::cond::ReadCondition data(pair.reader, DataState::any());
  WaitSet waits;
  waits += data;
  std::atomic<bool> told{false};
  std::thread waiter([&] {
    try {
      waits.wait();
    } catch (const AlreadyClosedError&) {
      told = true;
    }
  });
  std::this_thread::sleep_for(std::chrono::milliseconds(20));  // in whatever order, the outcome is the same
  pair.reader.close();
  waiter.join();
  CHECK(told);
}

TEST_CASE("dds: a thread that waits for a condition of an entity hears that the entity was closed", "[dds]") {
  Pair<Reading> pair;
  StatusCondition status(pair.reader);
  status.enabled_statuses(dds::core::status::StatusMask::sample_rejected());
  GuardCondition guard;
  WaitSet waits;
  waits += status;
  waits += guard;
  std::atomic<bool> told{false};
  std::thread waiter([&] {
    try {
      waits.wait();
    } catch (const AlreadyClosedError&) {
      told = true;
    }
  });
  pair.reader.close();
  waiter.join();
  CHECK(told);
  guard.trigger_value(true);
  CHECK(waits.wait(Duration(100)).front() == guard);
}
