#include "llamada/base/biased_mutex.hpp"

#include <linux/membarrier.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <condition_variable>
#include <thread>
#include <vector>

#include "test.hpp"

using llamada::BiasedMutex;

namespace {

void lock_often(BiasedMutex& mutex, long& count, int times) {
  for (int i = 0; i < times; ++i) {
    std::lock_guard held(mutex);
    ++count;
  }
}

}  // namespace

// To ask for it takes a process with threads some milliseconds, which nobody who locks is to wait.
TEST_CASE("biased mutex: the system has been asked for its call when there is one", "[base]") {
  const auto membarrier = [](int command) { return ::syscall(SYS_membarrier, command, 0, 0); };
  const long supported = membarrier(MEMBARRIER_CMD_QUERY);
  if (supported < 0 || (supported & MEMBARRIER_CMD_PRIVATE_EXPEDITED) == 0) return;
  BiasedMutex mutex;
  CHECK(membarrier(MEMBARRIER_CMD_PRIVATE_EXPEDITED) == 0);
}

TEST_CASE("biased mutex: who locks it alone has it the fast way, until another comes", "[base]") {
  BiasedMutex mutex;
  long count = 0;
  CHECK_FALSE(mutex.is_biased());
  lock_often(mutex, count, 1000);
  const bool biased = mutex.is_biased();  // where the system has membarrier
  lock_often(mutex, count, 1000);
  CHECK(mutex.is_biased() == biased);
  std::thread([&] { lock_often(mutex, count, 1); }).join();
  CHECK_FALSE(mutex.is_biased());
  lock_often(mutex, count, 1);
  CHECK(count == 2002);
  lock_often(mutex, count, 1000);
  CHECK(mutex.is_biased() == biased);
  CHECK(count == 3002);
}

TEST_CASE("biased mutex: a thread that comes while the owner is inside waits for it", "[base]") {
  BiasedMutex mutex;
  long count = 0;
  for (int round = 0; round < 20; ++round) {
    lock_often(mutex, count, 1000);
    std::atomic<bool> comes{false};
    long seen = 0;
    mutex.lock();
    std::thread other([&] {
      comes = true;
      std::lock_guard held(mutex);
      seen = count;
    });
    while (!comes) std::this_thread::yield();
    for (int i = 0; i < round; ++i) std::this_thread::yield();
    ++count;
    mutex.unlock();
    other.join();
    CHECK(seen == count);
  }
}

TEST_CASE("biased mutex: threads with and without the bias exclude each other", "[base]") {
  BiasedMutex mutex;
  long count = 0;
  constexpr int thread_count = 3, rounds = 30;
  std::vector<std::thread> threads;
  for (int number = 0; number < thread_count; ++number)
    threads.emplace_back([&, number] {
      // Some lock often, and have the bias again and again; others come in between.
      for (int round = 0; round < rounds; ++round) {
        lock_often(mutex, count, number == 0 ? 3000 : 3);
        std::this_thread::yield();
      }
    });
  for (auto& thread : threads) thread.join();
  CHECK(count == rounds * (3000 + 2 * 3));
}

TEST_CASE("biased mutex: a condition variable waits with it", "[base]") {
  BiasedMutex mutex;
  std::condition_variable_any changed;
  long count = 0;
  int turn = 0;
  const auto play = [&](int own) {
    for (int round = 0; round < 100; ++round) {
      lock_often(mutex, count, 600);
      std::unique_lock held(mutex);
      changed.wait(held, [&] { return turn == own; });
      turn = 1 - own;
      changed.notify_all();
    }
  };
  std::thread other([&] { play(1); });
  play(0);
  other.join();
  CHECK(count == 120'000);
  CHECK(turn == 0);
}
