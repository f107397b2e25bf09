#include "rma/lock_words.hpp"

#include <linux/futex.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include "llamada/base/clock.hpp"
#include "llamada/base/pause.hpp"

namespace llamada::mpi::rma {
namespace {

constexpr int spins_max = 100;

long futex(std::atomic<std::uint32_t>& word, int operation, std::uint32_t value, const timespec* limit) {
  return syscall(SYS_futex, reinterpret_cast<std::uint32_t*>(&word), operation, value, limit, nullptr, 0);
}

}  // namespace

bool AccumulateLock::lock_within(std::chrono::nanoseconds at_most) {
  for (int spin = 0; spin < spins_max; ++spin) {
    if (word_.load(std::memory_order_relaxed) == free && try_lock()) return true;
    pause_processor();
  }
  const auto end = SystemClock().monotonic() + at_most;
  // Who has slept leaves the word awaited: others may sleep still.
  while (word_.exchange(awaited, std::memory_order_acquire) != free) {
    const auto left = end - SystemClock().monotonic();
    if (left.count() <= 0) return false;
    const timespec limit{static_cast<time_t>(left.count() / 1'000'000'000),
                         static_cast<long>(left.count() % 1'000'000'000)};
    futex(word_, FUTEX_WAIT, awaited, &limit);
  }
  return true;
}

void AccumulateLock::wake_one() { futex(word_, FUTEX_WAKE, 1, nullptr); }

}  // namespace llamada::mpi::rma
