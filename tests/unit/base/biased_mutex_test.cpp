#include "llamada/base/biased_mutex.hpp"

#include <linux/membarrier.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <array>
#include <condition_variable>
#include <new>
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

/// A mutex on a page of its own. It can stop a thread between the thread's look at the owner and its first
/// store: the store faults, as it does after a fork(), and the handler of the fault waits.
class StoppingMutex {
 public:
  StoppingMutex()
      : page_(::mmap(nullptr, page_bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0)),
        mutex_(*new (page_) BiasedMutex) {
    current = this;
    struct sigaction action {};
    action.sa_handler = [](int) { current->stop(); };
    ::sigaction(SIGSEGV, &action, &before_);
  }
  ~StoppingMutex() {
    ::sigaction(SIGSEGV, &before_, nullptr);
    mutex_.~BiasedMutex();
    ::munmap(page_, page_bytes);
  }
  StoppingMutex(const StoppingMutex&) = delete;
  StoppingMutex& operator=(const StoppingMutex&) = delete;

  BiasedMutex& operator*() { return mutex_; }
  /// The next thread that stores to the mutex stops there. Only one thread may use the mutex until then.
  void stop_next_store() { ::mprotect(page_, page_bytes, PROT_READ); }
  void await_stop() const {
    while (!stopped_) std::this_thread::yield();
  }
  void go_on() { goes_on_ = true; }

 private:
  static constexpr std::size_t page_bytes = 4096;
  static inline StoppingMutex* current = nullptr;

  void stop() {
    ::mprotect(page_, page_bytes, PROT_READ | PROT_WRITE);
    stopped_ = true;
    while (!goes_on_) ::sched_yield();
  }

  void* page_;
  BiasedMutex& mutex_;
  struct sigaction before_ {};
  std::atomic<bool> stopped_{false}, goes_on_{false};
};

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

#ifndef __SANITIZE_THREAD__  // its runtime cannot have a store of an atomic fault
// The stopped thread still believes that it is the owner, and stores to the mutex as an owner does.
TEST_CASE("biased mutex: an owner that stopped on its way in does not let others in with the next owner",
          "[base]") {
  StoppingMutex stopping;
  BiasedMutex& mutex = *stopping;
  long count = 0;
  lock_often(mutex, count, 1000);
  if (!mutex.is_biased()) return;  // the system has no membarrier
  std::atomic<bool> next_is_inside{false}, both_were_inside{false}, first_was_inside{false};
  std::thread first([&] {
    lock_often(mutex, count, 1000);
    stopping.stop_next_store();
    std::lock_guard held(mutex);
    both_were_inside = next_is_inside.load();
    first_was_inside = true;
  });
  stopping.await_stop();
  lock_often(mutex, count, 1000);
  mutex.lock();
  CHECK(mutex.is_biased());
  next_is_inside = true;
  stopping.go_on();
  // A wrong mutex lets the first thread in within some microseconds.
  for (int pause = 0; pause < 50 && !first_was_inside; ++pause)
    std::this_thread::sleep_for(std::chrono::milliseconds(1));
  next_is_inside = false;
  mutex.unlock();
  first.join();
  CHECK_FALSE(both_were_inside);
}
#endif

TEST_CASE("biased mutex: a former owner can be the owner again after many others", "[base]") {
  BiasedMutex mutex;
  long count = 0;
  lock_often(mutex, count, 1000);
  const bool biased = mutex.is_biased();  // where the system has membarrier
  constexpr int thread_count = 20;        // more than have a flag of their own
  for (int number = 0; number < thread_count; ++number)
    std::thread([&] { lock_often(mutex, count, 1000); }).join();
  CHECK(count == 1000 * (1 + thread_count));
  lock_often(mutex, count, 1000);
  CHECK(mutex.is_biased() == biased);
}

TEST_CASE("biased mutex: owners that change all the time exclude each other", "[base]") {
  BiasedMutex mutex;
  long count = 0;
  constexpr int thread_count = 3, rounds = 100;
  std::vector<std::thread> threads;
  for (int number = 0; number < thread_count; ++number)
    threads.emplace_back([&] {
      for (int round = 0; round < rounds; ++round) lock_often(mutex, count, 2000);
    });
  for (auto& thread : threads) thread.join();
  CHECK(count == thread_count * rounds * 2000);
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
