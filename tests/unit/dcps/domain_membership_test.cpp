#include "domain_membership.hpp"

#include <atomic>
#include <thread>

#include "llamada/topics/loopback.hpp"
#include "test.hpp"

using namespace llamada;
using namespace llamada::dcps::detail;
using namespace std::chrono_literals;

namespace {

/// A member of a domain of its own. The loopback gives the first free slot, so it shows who holds one.
struct Member {
  Member() : membership(std::move(*loopback.attach())) {}
  bool holds_its_slot() { return (*loopback.attach())->slot() != 0; }

  SystemClock clock;
  topics::Loopback loopback;
  DomainMembership membership;
};

}  // namespace

TEST_CASE("domain membership: it lasts from entering to leaving, and the transport as long", "[dcps]") {
  Member member;
  CHECK_FALSE(member.membership.is_in());
  member.membership.wake();  // nobody waits, and nothing happens
  CHECK(member.holds_its_slot());
  member.membership.enter(member.clock, {.name = "member"}, nullptr);
  REQUIRE(member.membership.is_in());
  CHECK(member.membership.participant().poll());
  CHECK(member.holds_its_slot());
  member.membership.leave();
  CHECK_FALSE(member.membership.is_in());
  CHECK_FALSE(member.holds_its_slot());
}

TEST_CASE("domain membership: the domain is left when the last loan has ended", "[dcps]") {
  Member member;
  member.membership.enter(member.clock, {}, nullptr);
  member.membership.loan_began();
  member.membership.loan_ended();
  CHECK(member.membership.is_in());
  member.membership.loan_began();
  member.membership.loan_began();
  member.membership.leave();
  CHECK(member.membership.is_in());
  member.membership.loan_ended();
  CHECK(member.membership.is_in());
  CHECK(member.holds_its_slot());
  member.membership.loan_ended();
  CHECK_FALSE(member.membership.is_in());
  CHECK_FALSE(member.holds_its_slot());
}

TEST_CASE("domain membership: it is lost once, for the first reason, as closed", "[dcps]") {
  Member member;
  const bool& is_lost = member.membership.is_lost();
  CHECK(member.membership.state());
  CHECK_FALSE(is_lost);
  CHECK(member.membership.lose(failure(Errc::parse_error, "the page is damaged")));
  CHECK_FALSE(member.membership.lose(failure(Errc::closed, "the driver is gone")));
  CHECK(is_lost);
  REQUIRE_FALSE(member.membership.state());
  CHECK(member.membership.state().error().code() == Errc::closed);
  CHECK(member.membership.state().error().text() == "the page is damaged");
}

TEST_CASE("domain membership: a wake ends the sleep of the thread that waits for the domain", "[dcps]") {
  Member member;
  member.membership.enter(member.clock, {}, nullptr);
  std::atomic<bool> falls_asleep{false};
  std::thread sleeper([&] {
    const auto look_again = [&] {
      falls_asleep.store(true, std::memory_order_release);
      return false;
    };
    CHECK(member.membership.participant().wait(look_again, 24h));
  });
  while (!falls_asleep.load(std::memory_order_acquire)) std::this_thread::yield();
  member.membership.wake();
  sleeper.join();
}
