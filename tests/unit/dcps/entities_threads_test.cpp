#include <atomic>

#include "entity_fixture.hpp"

// What threads do to each other: also run under ThreadSanitizer.
namespace llamada::dcps::test {
namespace {

/// Checks that it is never called once it was taken off.
struct CountingListener : DataReaderListener {
  void on_data_available(DataReader& reader) override {
    if (is_off) late_call_count()++;  // the test's own assertions are for one thread
    (void)reader.take();
    ++calls;
  }
  static std::atomic<int>& late_call_count() {
    static std::atomic<int> count{0};
    return count;
  }
  std::atomic<bool> is_off{false};
  std::atomic<int> calls{0};
};

TEST_CASE("threads: no listener is called once it was taken off", "[dcps]") {
  Domain domain;
  auto reader = domain.reader();
  auto writer = domain.writer();
  await_match(*writer);
  std::atomic<bool> ending{false};
  std::thread writing([&] {
    for (std::int32_t value = 0; !ending; ++value) (void)writer->write(reading(1, value));
  });
  for (int round = 0; round < 20; ++round) {
    auto listener = std::make_unique<CountingListener>();
    reader->set_listener(listener.get());
    CHECK(eventually([&] { return listener->calls > 0; }));
    reader->set_listener(nullptr);
    listener->is_off = true;
  }
  ending = true;
  (void)eventually([&] { return reader->take()->empty(); });
  writing.join();
  CHECK(CountingListener::late_call_count() == 0);
}

TEST_CASE("threads: readers are deleted while their listeners run", "[dcps]") {
  Domain domain;
  auto writer = domain.writer();
  auto subscriber = domain.subscriber();
  std::atomic<bool> ending{false};
  std::thread writing([&] {
    for (std::int32_t value = 0; !ending; ++value) {
      (void)writer->write(reading(1, value));
      std::this_thread::yield();
    }
  });
  for (int round = 0; round < 10; ++round) {
    auto listener = std::make_unique<CountingListener>();
    auto reader =
        *subscriber->create_datareader(domain.topic(domain.there), reliable_reader(), listener.get());
    CHECK(eventually([&] { return listener->calls > 0; }));
    CHECK(eventually([&] { return subscriber->delete_datareader(reader).has_value(); }));
    listener->is_off = true;
    CHECK(reader->take().error().code() == Errc::closed);
  }
  ending = true;
  writing.join();
  CHECK(CountingListener::late_call_count() == 0);
}

TEST_CASE("threads: several write and read at once, and nothing is lost or doubled", "[dcps]") {
  constexpr std::int32_t thread_count = 3;
  constexpr std::int32_t write_count = 200;
  Domain domain;
  auto writer = domain.writer();
  auto reader = domain.reader();
  await_match(*writer);
  await_match(*reader);
  std::vector<std::thread> threads;
  std::atomic<int> failures{0};
  for (std::int32_t sensor = 1; sensor <= thread_count; ++sensor) {
    threads.emplace_back([&, sensor] {
      for (std::int32_t value = 0; value < write_count; ++value) {
        if (!writer->write(reading(sensor, value))) ++failures;
      }
    });
  }
  std::mutex mutex;
  std::map<std::int32_t, std::int32_t> counts;
  std::atomic<std::int32_t> taken{0};
  for (int k = 0; k < 2; ++k) {
    threads.emplace_back([&] {
      (void)eventually([&] {
        const auto samples = reader->take({.max_samples = 5});
        for (const auto& each : *samples) {
          if (!each.info.valid_data) continue;
          const auto value = types::deserialize<Reading>(each.data);
          std::lock_guard held(mutex);
          ++counts[value->sensor * 1000 + value->value];
          ++taken;
        }
        return taken == thread_count * write_count;
      });
    });
  }
  for (std::thread& thread : threads) thread.join();
  CHECK(failures == 0);
  CHECK(counts.size() == thread_count * write_count);
  CHECK(taken == thread_count * write_count);
}

TEST_CASE("threads: a wait set is woken by what other threads do", "[dcps]") {
  Domain domain;
  auto reader = domain.reader();
  auto condition = *reader->create_readcondition({.sample = sample_state::not_read});
  auto guard = std::make_shared<GuardCondition>();
  WaitSet wait_set;
  wait_set.attach(condition);
  wait_set.attach(guard);
  auto writer = domain.writer();
  await_match(*writer);
  std::thread writing([&] {
    for (std::int32_t value = 0; value < 100; ++value) (void)writer->write(reading(1, value));
    (void)writer->wait_for_acknowledgments(watchdog);
    guard->set_trigger_value(true);
  });
  std::size_t count = 0;
  bool guarded = false;
  while (!guarded || count < 100) {
    auto active = wait_set.wait(watchdog);
    REQUIRE(active);
    for (const auto& each : *active) guarded = guarded || each == guard;
    count += reader->take()->size();
    if (guarded) guard->set_trigger_value(false);
  }
  CHECK(count == 100);
  writing.join();
}

TEST_CASE("threads: a writer is deleted while another thread waits for room", "[dcps]") {
  Domain domain;
  auto qos = reliable_writer();
  qos.resource_limits.max_samples = 1;
  qos.writer_data_lifecycle.autodispose_unregistered_instances = false;  // for which there is no room
  auto writer = domain.writer(qos);
  auto reader_qos = reliable_reader();
  reader_qos.resource_limits.max_samples = 1;
  auto reader = domain.reader(reader_qos);
  await_match(*writer);
  std::atomic<bool> failed{false};
  std::thread writing([&] {
    while (true) {
      const Status status = writer->write(reading(1, 1));
      if (status) continue;
      failed = status.error().code() == Errc::closed;
      return;
    }
  });
  REQUIRE(eventually([&] { return reader->sample_rejected_status().total_count > 0; }));
  REQUIRE(domain.here->delete_contained_entities());
  writing.join();
  CHECK(failed);
}

}  // namespace
}  // namespace llamada::dcps::test
