#include "llamada/base/biased_mutex.hpp"

#include <linux/membarrier.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "llamada/base/check.hpp"

namespace llamada {
namespace {

/// Another thread in between costs as much as so many ways through the mutex, or less.
constexpr std::uint32_t streak_min = 512;

bool membarrier(int command) { return ::syscall(SYS_membarrier, command, 0, 0) == 0; }

bool has_membarrier() {
  static const bool registered =
      membarrier(MEMBARRIER_CMD_REGISTER_PRIVATE_EXPEDITED) && membarrier(MEMBARRIER_CMD_PRIVATE_EXPEDITED);
  return registered;
}

std::uint64_t new_thread_number() {
  static std::atomic<std::uint64_t> latest{0};
  return latest.fetch_add(1, std::memory_order_relaxed) + 1;
}

}  // namespace

// Where there are several threads the system waits, while it is asked, until all cores have been elsewhere.
BiasedMutex::BiasedMutex() { (void)has_membarrier(); }

void BiasedMutex::lock_slowly() {
  if (this_thread_ == no_number) this_thread_ = new_thread_number();
  mutex_.lock();
  if (owner_.load(std::memory_order_relaxed) != 0) revoke();
  by_mutex_ = true;
  if (latest_ != this_thread_) {
    latest_ = this_thread_;
    streak_ = 0;
  } else if (++streak_ >= streak_min && has_membarrier()) {
    // Others come by the mutex and see it there.
    owner_.store(this_thread_, std::memory_order_relaxed);
  }
}

/// With the mutex held, by another than the owner: until that has left, and will come by the mutex, too.
void BiasedMutex::revoke() {
  owner_.store(0, std::memory_order_relaxed);
  LLAMADA_CHECK(membarrier(MEMBARRIER_CMD_PRIVATE_EXPEDITED));
  // Pairs with the release store in leave(): what the owner has done is seen.
  while (inside_.load(std::memory_order_acquire) != 0) inside_.wait(1, std::memory_order_acquire);
}

void BiasedMutex::wake_revoker() {
  // The store before it, and the look at who waits in notify_all().
  std::atomic_thread_fence(std::memory_order_seq_cst);
  inside_.notify_all();
}

}  // namespace llamada
