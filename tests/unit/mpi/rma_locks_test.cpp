#include <functional>
#include <memory>
#include <thread>
#include <vector>

#include "rma/control.hpp"
#include "test.hpp"

using namespace llamada::mpi::rma;

namespace {

constexpr int threads_count = 4;
constexpr int rounds = 2000;

void in_threads(const std::function<void(int)>& body) {
  std::vector<std::thread> threads;
  for (int i = 0; i < threads_count; ++i) threads.emplace_back([&, i] { body(i); });
  for (auto& thread : threads) thread.join();
}

void lock(AccumulateLock& lock) {
  while (!lock.lock_within(std::chrono::milliseconds(100))) {
  }
}

/// A window's control words in private memory.
struct Words {
  explicit Words(std::size_t members)
      : memory(static_cast<std::byte*>(std::aligned_alloc(4096, Control::size_bytes(members, true)))),
        control(memory.get(), members) {
    std::fill_n(memory.get(), Control::size_bytes(members, true), std::byte{0});
  }
  struct Free {
    void operator()(std::byte* bytes) const { std::free(bytes); }
  };
  std::unique_ptr<std::byte, Free> memory;
  Control control;
};

}  // namespace

TEST_CASE("accumulate lock: one holder at a time, and all that it wrote is seen by the next", "[mpi]") {
  AccumulateLock word;
  long sum = 0;  // not atomic: the lock is what protects it
  in_threads([&](int) {
    for (int round = 0; round < rounds; ++round) {
      lock(word);
      ++sum;
      word.unlock();
    }
  });
  CHECK(sum == long{threads_count} * rounds);
}

TEST_CASE("accumulate lock: who waits gives up in time when the holder never returns", "[mpi]") {
  AccumulateLock word;
  REQUIRE(word.try_lock());
  CHECK_FALSE(word.try_lock());
  CHECK_FALSE(word.lock_within(std::chrono::milliseconds(2)));
  word.unlock();
  CHECK(word.lock_within(std::chrono::milliseconds(2)));
}

TEST_CASE("accumulate lock: those who sleep in the kernel are woken one after the other", "[mpi]") {
  AccumulateLock word;
  REQUIRE(word.try_lock());
  std::atomic<int> got{0};
  std::vector<std::thread> sleepers;
  for (int i = 0; i < threads_count; ++i)
    sleepers.emplace_back([&] {
      lock(word);
      ++got;
      word.unlock();
    });
  word.unlock();
  for (auto& sleeper : sleepers) sleeper.join();
  CHECK(got == threads_count);
}

TEST_CASE("target lock: shared holders together, an exclusive one alone", "[mpi]") {
  TargetLock word;
  REQUIRE(word.try_shared());
  REQUIRE(word.try_shared());
  CHECK_FALSE(word.try_exclusive());
  word.unlock_shared();
  CHECK_FALSE(word.try_exclusive());
  word.unlock_shared();
  REQUIRE(word.try_exclusive());
  CHECK_FALSE(word.try_shared());
  CHECK_FALSE(word.try_exclusive());
  word.unlock_exclusive();
  CHECK(word.try_shared());
}

TEST_CASE("target lock: writers exclude readers and each other between threads", "[mpi]") {
  TargetLock word;
  long first = 0, second = 0;
  std::atomic<int> torn{0};
  in_threads([&](int thread) {
    for (int round = 0; round < rounds; ++round) {
      if (thread % 2 == 0) {
        while (!word.try_exclusive()) std::this_thread::yield();
        ++first;
        ++second;
        word.unlock_exclusive();
      } else {
        while (!word.try_shared()) std::this_thread::yield();
        if (first != second) ++torn;
        word.unlock_shared();
      }
    }
  });
  CHECK(torn == 0);
  CHECK(first == long{threads_count / 2} * rounds);
}

TEST_CASE("target lock: who unlocks sees that somebody waits", "[mpi]") {
  TargetLock word;
  REQUIRE(word.try_exclusive());
  CHECK_FALSE(word.anybody_waits());
  std::thread waiter([&] {
    word.begin_waiting();
    while (!word.try_exclusive()) std::this_thread::yield();
    word.end_waiting();
    word.unlock_exclusive();
  });
  while (!word.anybody_waits()) std::this_thread::yield();
  word.unlock_exclusive();
  waiter.join();
  CHECK_FALSE(word.anybody_waits());
}

TEST_CASE("meeting: nobody is a round ahead, and what was written before is seen behind", "[mpi]") {
  Meeting meeting;
  std::vector<int> reached(threads_count, 0);  // not atomic: the meeting orders them
  std::atomic<int> wrong{0};
  in_threads([&](int self) {
    for (int round = 1; round <= rounds; ++round) {
      reached[self] = round;
      for (int half = 0; half < 2; ++half) {
        const auto ticket = meeting.arrive(threads_count);
        while (!meeting.is_open(ticket)) std::this_thread::yield();
        if (half == 0)
          for (int other : reached) wrong += other != round;
      }
    }
  });
  CHECK(wrong == 0);
}

TEST_CASE("control: the words of different members and pairs do not overlap", "[mpi]") {
  Words words(3);
  const auto& control = words.control;
  for (std::size_t target = 0; target < 3; ++target)
    for (std::size_t origin = 0; origin < 3; ++origin)
      control.pair(target, origin).posted.store(static_cast<std::uint32_t>(1 + target * 3 + origin));
  for (std::size_t rank = 0; rank < 3; ++rank) REQUIRE(control.member(rank).lock.try_exclusive());
  for (std::size_t rank = 0; rank < 3; ++rank) REQUIRE(attach(control.regions(rank), 1000 * rank, 10));
  for (std::size_t target = 0; target < 3; ++target)
    for (std::size_t origin = 0; origin < 3; ++origin)
      CHECK(control.pair(target, origin).posted.load() == 1 + target * 3 + origin);
  CHECK_FALSE(control.head().fence.is_open({}));
  CHECK(Control::size_bytes(3, true) % 4096 == 0);
}

TEST_CASE("attached memory: inside, outside, across two neighbours, detached", "[mpi]") {
  Words words(1);
  auto& regions = words.control.regions(0);
  REQUIRE(attach(regions, 100, 50));
  REQUIRE(attach(regions, 150, 50));
  CHECK(is_attached(regions, 100, 50));
  CHECK(is_attached(regions, 140, 20));
  CHECK_FALSE(is_attached(regions, 99, 2));
  CHECK_FALSE(is_attached(regions, 190, 11));
  CHECK_FALSE(attach(regions, 120, 1));
  CHECK_FALSE(attach(regions, 60, 1000));
  CHECK_FALSE(detach(regions, 101));
  REQUIRE(detach(regions, 100));
  CHECK_FALSE(is_attached(regions, 100, 1));
  CHECK(is_attached(regions, 150, 50));
}

TEST_CASE("attached memory: more than there is room for is not checked, and not refused", "[mpi]") {
  Words words(1);
  auto& regions = words.control.regions(0);
  for (std::uint64_t i = 0; i <= Control::Regions::count_max; ++i) REQUIRE(attach(regions, 1000 * i, 10));
  CHECK(is_attached(regions, 1000 * Control::Regions::count_max, 10));
  CHECK(detach(regions, 1000 * Control::Regions::count_max));
}

TEST_CASE("attached memory: an origin that looks while it changes sees a state that was", "[mpi]") {
  Words words(1);
  auto& regions = words.control.regions(0);
  REQUIRE(attach(regions, 100, 50));
  std::atomic<bool> done{false};
  std::thread owner([&] {
    for (int round = 0; round < rounds; ++round) {
      (void)attach(regions, 1000, 50);
      (void)detach(regions, 1000);
    }
    done = true;
  });
  int missed = 0;
  while (!done) missed += !is_attached(regions, 100, 50);
  owner.join();
  CHECK(missed == 0);
}
