#include "reader_past.hpp"

#include "test.hpp"

using llamada::topics::Guid;
using llamada::topics::Origin;
using llamada::topics::detail::ReaderPast;

namespace {
constexpr std::int64_t second_ns = 1'000'000'000;
constexpr Guid writer{1, 2};
}  // namespace

TEST_CASE("reader's past: without a service nothing is held", "[topics]") {
  ReaderPast past("topic");
  past.look({}, false, 0);
  CHECK_FALSE(past.holds());
  CHECK_FALSE(past.awaits());
  past.look({7}, false, second_ns);  // one that comes later gives what it has, and nobody is held for it
  CHECK_FALSE(past.holds());
  CHECK(past.awaits());
  past.ended(7, 2 * second_ns);
  CHECK_FALSE(past.awaits());
}

TEST_CASE("reader's past: writers are held until all services have given what they have", "[topics]") {
  ReaderPast past("topic");
  past.look({7, 8}, false, 0);
  CHECK(past.holds());
  past.ended(7, second_ns);
  CHECK(past.holds());
  past.ended(8, 2 * second_ns);
  CHECK_FALSE(past.holds());
  CHECK(past.lingers_until_ns() > 2 * second_ns);
}

TEST_CASE("reader's past: a service that dies is waited for, and the next one takes its place", "[topics]") {
  ReaderPast past("topic");
  past.look({7}, false, 0);
  past.look({}, false, second_ns);
  CHECK(past.holds());
  past.look({8}, false, 2 * second_ns);
  past.ended(8, 3 * second_ns);
  CHECK_FALSE(past.holds());
  CHECK_FALSE(past.awaits());

  ReaderPast at_once("topic");  // both are seen in one look
  at_once.look({7}, false, 0);
  at_once.look({8}, false, second_ns);
  at_once.ended(8, 2 * second_ns);
  CHECK_FALSE(at_once.awaits());

  ReaderPast before("topic");  // the next one comes before the death is seen
  before.look({7}, false, 0);
  before.look({7, 8}, false, second_ns);
  before.look({8}, false, 2 * second_ns);
  before.ended(8, 3 * second_ns);
  CHECK_FALSE(before.awaits());
}

TEST_CASE("reader's past: a service that gives nothing is given up", "[topics]") {
  ReaderPast past("topic");
  past.look({7}, false, 0);
  const auto keep_time = [&past](std::int64_t from_s, std::int64_t to_s) {
    for (std::int64_t now_s = from_s; now_s < to_s; ++now_s)
      CHECK(past.keep_time(now_s * second_ns) == (now_s + 1) * second_ns);
  };
  keep_time(1, 9);
  past.progressed(7, 9 * second_ns);
  keep_time(9, 19);
  CHECK(past.holds());
  CHECK(past.keep_time(18 * second_ns + second_ns / 2) == 19 * second_ns);
  (void)past.keep_time(19 * second_ns);
  CHECK_FALSE(past.holds());
  CHECK_FALSE(past.awaits());
}

TEST_CASE("reader's past: a service that promises more is waited for, if it is there", "[topics]") {
  ReaderPast past("topic");
  past.look({7}, false, 0);
  for (std::int64_t now_s = 0; now_s < 60; ++now_s) {
    past.promised(7, (now_s - now_s % 5) * second_ns);
    (void)past.keep_time(now_s * second_ns);
  }
  CHECK(past.awaits());
  for (std::int64_t now_s = 60; now_s <= 65; ++now_s) (void)past.keep_time(now_s * second_ns);
  CHECK_FALSE(past.awaits());
  past.promised(8, 66 * second_ns);  // nobody knows it
  CHECK_FALSE(past.awaits());
}

TEST_CASE("reader's past: an application that does not look for long gives up nobody", "[topics]") {
  ReaderPast past("topic");
  past.look({7}, false, 0);
  for (std::int64_t looks = 1; looks <= 4; ++looks) (void)past.keep_time(looks * 60 * second_ns);
  CHECK(past.awaits());
  (void)past.keep_time(5 * 60 * second_ns);  // each look counts for two seconds
  CHECK_FALSE(past.awaits());
}

TEST_CASE("reader's past: a sample is known by its origin", "[topics]") {
  ReaderPast past("topic");
  CHECK_FALSE(past.has({writer, 1}));
  past.add({writer, 5});
  CHECK(past.has({writer, 4}));
  CHECK(past.has({writer, 5}));
  CHECK_FALSE(past.has({writer, 6}));
  CHECK_FALSE(past.has({Guid{1, 3}, 1}));
}

TEST_CASE("reader's past: what a writer that is read has written comes from itself", "[topics]") {
  ReaderPast past("topic");
  CHECK_FALSE(past.follows(writer));
  past.follow(writer);
  CHECK(past.follows(writer));
  CHECK_FALSE(past.follows(Guid{1, 3}));
  past.unfollow(writer);
  CHECK_FALSE(past.follows(writer));
}

TEST_CASE("reader's past: one that stands by is about to serve, and is waited for", "[topics]") {
  ReaderPast past("topic");
  past.look({}, true, 0);
  CHECK(past.holds());
  CHECK(past.awaits());
  past.look({8}, false, second_ns);
  CHECK(past.holds());
  past.ended(8, 2 * second_ns);
  CHECK_FALSE(past.holds());
  past.look({8}, true, 3 * second_ns);  // a second one has nothing to give
  CHECK_FALSE(past.awaits());
}
