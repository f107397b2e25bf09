#include "carrier_processes.hpp"

using namespace llamada;
using namespace llamada::replication;

TEST_CASE("carrier: a history is served by another process, and its end told", "[replication]") {
  Two two;
  LogWriter dead = two.one.log(5, log::Retention::keep_all);
  for (std::uint64_t number = 1; number <= 300; ++number) publish(dead, number, number % 100);
  // Rank 77's log, as a driver finds it in that rank's arena.
  two.one.found.arenas[77] = two.one.arena->own();
  LogWriter& copy = two.follow({77, {1, 5}});
  two.pass(20ms);
  CHECK(copy.published() == 300);
  CHECK(two.other.heard.ends == std::vector<std::uint64_t>{300});
}

TEST_CASE("carrier: the driver serves what a silent writer has, from the first record on", "[replication]") {
  Three job;
  const LogName name{1, {1, 5}};
  LogWriter log = job.one.log(5, log::Retention::recycle);
  const auto own = job.one.carrier->publish_to(log, {1, 5}, 2);
  const std::size_t sizes[] = {0, 1, 48, 49, 1300, 1401, 1500, 20001, 100000};
  std::uint64_t number = 0;
  for (const std::size_t size : sizes) publish(log, ++number, size);
  LogWriter& copy = job.follow(name);
  LogReader reader = job.other.reader(copy);
  job.pass_silently(5ms);
  CHECK(copy.published() == 0);
  REQUIRE(job.catch_up(name));
  REQUIRE(job.catch_up(name));
  job.pass_silently(20ms);
  CHECK(job.driver.found.questions == 1);
  CHECK(copy.published() == number);
  number = 0;
  for (const std::size_t size : sizes) {
    const auto record = reader.peek();
    REQUIRE(record);
    CHECK(log::holds(record->payload, ++number, size));
    reader.advance();
  }
  // Once more, when there is more: one question for all logs there.
  publish(log, ++number, 77);
  REQUIRE(job.catch_up(name));
  job.pass_silently(5ms);
  CHECK(copy.published() == number);
  CHECK(job.driver.found.questions == 1);
  // The writer says all of it again, and what follows.
  publish(log, ++number, 7);
  job.one.carrier->grown(*own, job.now);
  job.pass_all(20ms);
  CHECK(copy.published() == number);
  CHECK((job.one.carrier->is_idle() && job.other.carrier->is_idle()));
  for (const Process* process : {&job.one, &job.other, &job.driver})
    CHECK(process->carrier->faults(FrameFault::malformed) == 0);
}

TEST_CASE("carrier: a copy begins behind records that its keeper has read before", "[replication]") {
  Three job;
  const LogName name{1, {1, 5}};
  LogWriter log = job.one.log(5, log::Retention::keep_all);
  REQUIRE(job.one.carrier->publish_to(log, {1, 5}, 2));
  for (std::uint64_t number = 1; number <= 300; ++number) publish(log, number, number * 37 % 3000);
  for (const bool asks_driver : {true, false}) {
    CAPTURE(asks_driver);
    const auto history = asks_driver ? std::optional(driver_endpoint(0)) : std::nullopt;
    auto copy = job.other.carrier->follow(1, name, {.history = history, .begins_behind = 250});
    REQUIRE(copy);
    CHECK((*copy)->published() == 250);
    LogReader reader = job.other.reader(**copy);
    job.pass_all(20ms);
    CHECK((*copy)->published() == 300);
    for (std::uint64_t number = 251; number <= 300; ++number) {
      const auto record = reader.peek();
      REQUIRE(record);
      CHECK(log::holds(record->payload, number, number * 37 % 3000));
      reader.advance();
    }
    CHECK_FALSE(reader.peek());
    // The next keeper is another life of the same, which begins with nothing.
    job.other.begin(2);
    auto left = LogWriter::open(*job.other.arena, copy_key(name), {});
    REQUIRE(left);
    left->discard();
    job.driver.found.strangers[2] = job.other.state;
    job.introduce();
    REQUIRE(job.other.carrier->meet(driver_endpoint(0), job.driver.state));
    REQUIRE(job.driver.carrier->meet(2, job.other.state));
  }
}

TEST_CASE("carrier: a driver passes over much that a keeper has, a little at a time", "[replication]") {
  Three job;
  // The last chunk of most of them has more records than are passed over at a time.
  for (std::uint64_t low = 5; low < 9; ++low) {
    CAPTURE(low);
    const LogName name{1, {1, low}};
    LogWriter log = job.one.log(low, log::Retention::keep_all);
    const std::uint64_t count = 40000 + low * 1000;
    for (std::uint64_t number = 1; number <= count; ++number) publish(log, number, 8);
    auto copy = job.other.carrier->follow(1, name, {.begins_behind = count - 3});
    REQUIRE(copy);
    REQUIRE(job.catch_up(name));
    job.pass_silently(20ms);
    CHECK((*copy)->published() == count);
  }
  CHECK(job.other.heard.ends == std::vector<std::uint64_t>{45000, 46000, 47000, 48000});
  CHECK(job.driver.found.questions == 4);
}

TEST_CASE("carrier: a log without a writer is served on", "[replication]") {
  Two two;
  std::uint32_t index = 0;
  {
    LogWriter ended = two.one.log(5, log::Retention::keep_all);
    for (std::uint64_t number = 1; number <= 40; ++number) publish(ended, number, number);
    index = ended.index();
  }
  CHECK(two.one.carrier->is_idle());
  REQUIRE(two.one.carrier->publish_ended(index, {1, 5}, 2));
  CHECK_FALSE(two.one.carrier->is_idle());
  LogWriter& copy = two.follow({1, {1, 5}});
  two.pass(20ms);
  CHECK(copy.published() == 40);
  CHECK(two.one.carrier->is_idle());
}

TEST_CASE("carrier: a catch-up with a log that is not there yet ends, and finds it later", "[replication]") {
  Three job;
  const LogName name{1, {1, 5}};
  LogWriter& copy = job.follow(name);
  REQUIRE(job.catch_up(name));
  job.pass_silently(2ms);
  CHECK(job.other.heard.ends == std::vector<std::uint64_t>{0});
  LogWriter log = job.one.log(5, log::Retention::recycle);
  REQUIRE(job.one.carrier->publish_to(log, {1, 5}, 2));
  publish(log, 1, 100);
  REQUIRE(job.catch_up(name));
  job.pass_silently(2ms);
  CHECK(copy.published() == 1);
  CHECK(job.other.carrier->catch_up(1, name).error().code() == Errc::invalid_argument);
  CHECK(job.other.carrier->catch_up(driver_endpoint(9), name).error().code() == Errc::invalid_argument);
  CHECK(job.catch_up({1, {1, 6}}).error().code() == Errc::invalid_argument);
}

TEST_CASE("carrier: an end that was told before a question that is asked anew does not answer it",
          "[replication]") {
  // The writer writes its last record at any moment of the first answer.
  for (int wait = 0; wait < 60; ++wait) {
    CAPTURE(wait);
    Three job;
    const LogName name{1, {1, 5}};
    LogWriter log = job.one.log(5, log::Retention::recycle);
    REQUIRE(job.one.carrier->publish_to(log, {1, 5}, 2));
    publish(log, 1, 100);
    LogWriter& copy = job.follow(name);
    REQUIRE(job.catch_up(name));
    job.pass_silently(wait * 5us);
    publish(log, 2, 100);
    CHECK(job.other.carrier->catch_up_anew(driver_endpoint(0), name));
    CHECK(job.other.carrier->is_catching_up(name));
    const auto has_ended = [&] { return job.other.carrier->has_caught_up(driver_endpoint(0), name); };
    CHECK_FALSE(has_ended());
    for (int looks = 0; looks < 10'000 && !has_ended(); ++looks) job.pass_silently(5us);
    CHECK(has_ended());
    CHECK_FALSE(job.other.carrier->is_catching_up(name));
    CHECK(copy.published() == 2);
    job.pass_silently(5ms);
    CHECK(job.other.carrier->faults(FrameFault::malformed) == 0);
    // The alias of the old question is free again.
    REQUIRE(job.other.carrier->catch_up_anew(driver_endpoint(0), name));
    job.pass_silently(5ms);
    CHECK(has_ended());
  }
}

TEST_CASE("carrier: a record that the writer has begun in pieces is completed by the driver",
          "[replication]") {
  Three job;
  const LogName name{1, {1, 5}};
  LogWriter log = job.one.log(5, log::Retention::recycle);
  const auto own = job.one.carrier->publish_to(log, {1, 5}, 2);
  LogWriter& copy = job.follow(name);
  LogReader reader = job.other.reader(copy);
  job.pass_all(1ms);
  publish(log, 1, 200000);
  job.one.carrier->grown(*own, job.now);  // as much as the window takes
  job.pass_silently(5ms);
  CHECK(copy.published() == 0);
  REQUIRE(job.catch_up(name));
  job.pass_silently(20ms);
  REQUIRE(copy.published() == 1);
  CHECK(log::holds(reader.peek()->payload, 1, 200000));
  publish(log, 2, 100000);
  job.one.carrier->grown(*own, job.now);
  job.pass_all(20ms);
  CHECK(copy.published() == 2);
  for (const Process* process : {&job.one, &job.other, &job.driver})
    CHECK(process->carrier->faults(FrameFault::malformed) == 0);
}

TEST_CASE("carrier: a copy begins anew with a history, and then follows its writer", "[replication]") {
  Three job;
  const LogName name{1, {1, 5}};
  LogWriter log = job.one.log(5, log::Retention::keep_all);
  const auto own = job.one.carrier->publish_to(log, {1, 5}, 2);
  for (std::uint64_t number = 1; number <= 300; ++number) publish(log, number, 100);
  job.follow(name);
  job.pass_all(20ms);
  job.other.begin(2);
  job.introduce();
  job.driver.found.strangers[2] = job.other.state;
  REQUIRE(job.other.carrier->meet(driver_endpoint(0), job.driver.state));
  LogWriter::open(*job.other.arena, copy_key(name), {})->discard();
  auto copy = job.other.carrier->follow(1, name, {.history = driver_endpoint(0)});
  REQUIRE(copy);
  CHECK((*copy)->published() == 0);
  LogReader reader = job.other.reader(**copy);
  job.pass_silently(20ms);
  REQUIRE((*copy)->published() == 300);
  CHECK(log::holds(reader.peek()->payload, 1, 100));
  publish(log, 301, 100);
  job.one.carrier->grown(*own, job.now);
  job.pass_all(20ms);
  CHECK((*copy)->published() == 301);
}
