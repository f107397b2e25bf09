#include <atomic>
#include <thread>

#include "bell_owner.hpp"

using namespace llamada;
using namespace llamada::llamanet;

namespace {

/// An eventfd that others may ring.
class Alarm final : public Bell::Source {
 public:
  explicit Alarm(Status answer = {}) : answer_(std::move(answer)) {
    auto event = create_eventfd();
    REQUIRE(event);
    event_ = std::move(*event);
  }
  void set_off() { ring(event_.get()); }
  int descriptor() const override { return is_waited_for ? event_.get() : -1; }
  Status on_ready() override {
    ++ready_count;
    clear(event_.get());
    return answer_;
  }

  bool is_waited_for = true;
  int ready_count = 0;

 private:
  FileDescriptor event_;
  Status answer_;
};

/// Two owners that hand a turn to each other and sleep while it is the other's.
void hand_to_and_fro(Bell::WakersBy wakers_by) {
  constexpr int turns = 2000;
  BellOwner here, there;
  Seen here_seen(here), there_seen(there);
  std::atomic<int> turn{0}, failures{0};
  const auto take_turns = [&](BellOwner& own, const Doorbell& other, int first) {
    for (int mine = first; mine < 2 * turns; mine += 2) {
      const auto is_mine = [&] { return turn.load(std::memory_order_acquire) == mine; };
      while (!is_mine()) failures += own.bell->sleep(is_mine, Bell::nap_max, wakers_by) ? 0 : 1;
      turn.store(mine + 1, std::memory_order_release);
      if (wakers_by == Bell::WakersBy::fence) std::atomic_thread_fence(std::memory_order_seq_cst);
      own.bell->wake(other);
    }
  };
  std::thread partner([&] { take_turns(there, here_seen.doorbell, 1); });
  take_turns(here, there_seen.doorbell, 0);
  partner.join();
  CHECK(turn.load() == 2 * turns);
  CHECK(failures.load() == 0);
}

}  // namespace

TEST_CASE("bell: a wake ends the sleep, whenever it comes", "[llamanet]") {
  hand_to_and_fro(Bell::WakersBy::look);
}

TEST_CASE("bell: a wake ends the sleep where the wakers fence", "[llamanet]") {
  hand_to_and_fro(Bell::WakersBy::fence);
}

TEST_CASE("bell: nobody sleeps while there is something, and all can see that somebody is about to",
          "[llamanet]") {
  BellOwner owner;
  bool was_seen = false;
  REQUIRE(owner.bell->sleep([&] { return was_seen = owner.is_asleep(); }));
  CHECK(was_seen);
  CHECK_FALSE(owner.is_asleep());
  CHECK(owner.arena->writer().counted(log::Counter::sleeps) == 0);
}

TEST_CASE("bell: who is awake is not rung for", "[llamanet]") {
  BellOwner waker, other;
  const Seen seen(other);
  waker.bell->wake(seen.doorbell);
  waker.bell->wake(Doorbell{});
  CHECK(waker.arena->writer().counted(log::Counter::wakes) == 0);
  other.arena->writer().header().sleeping.store(1);
  waker.bell->wake(seen.doorbell);
  CHECK(waker.arena->writer().counted(log::Counter::wakes) == 1);
}

TEST_CASE("bell: another thread ends its owner's sleep", "[llamanet]") {
  BellOwner owner;
  std::atomic<bool> done{false};
  std::thread other([&] {
    while (!owner.is_asleep()) std::this_thread::yield();
    done.store(true, std::memory_order_release);
    owner.bell->wake_self();
  });
  while (!done.load(std::memory_order_acquire))
    REQUIRE(owner.bell->sleep([&] { return done.load(std::memory_order_acquire); }));
  other.join();
  CHECK(owner.arena->writer().counted(log::Counter::sleeps) > 0);
}

TEST_CASE("bell: each source that is ready hears of it, and the first error ends the sleep", "[llamanet]") {
  BellOwner owner;
  Alarm quiet, well, broken(failure(Errc::closed, "broken")), also_broken(failure(Errc::timeout, "too"));
  for (Alarm* alarm : {&quiet, &well, &broken, &also_broken}) owner.bell->add(*alarm);
  well.set_off();
  REQUIRE(owner.bell->sleep([] { return false; }));
  CHECK(well.ready_count == 1);
  for (Alarm* alarm : {&well, &broken, &also_broken}) alarm->set_off();
  const auto slept = owner.bell->sleep([] { return false; });
  REQUIRE_FALSE(slept);
  CHECK(slept.error().code() == Errc::closed);
  CHECK(quiet.ready_count == 0);
  CHECK(well.ready_count == 2);
  CHECK(also_broken.ready_count == 1);
}

TEST_CASE("bell: a source may say that nothing is to be waited for", "[llamanet]") {
  BellOwner owner;
  Alarm alarm(failure(Errc::closed, "broken"));
  owner.bell->add(alarm);
  alarm.is_waited_for = false;
  alarm.set_off();
  REQUIRE(owner.bell->sleep([] { return false; }, std::chrono::milliseconds(1)));
  CHECK(alarm.ready_count == 0);
  alarm.is_waited_for = true;
  CHECK_FALSE(owner.bell->sleep([] { return false; }));
}
