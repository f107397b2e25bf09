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
  if (const auto owner = owner_.load(std::memory_order_relaxed); owner != 0) revoke(owner);
  by_mutex_ = true;
  give_up_flag();
  if (latest_ != this_thread_) {
    latest_ = this_thread_;
    streak_ = 0;
  } else if (++streak_ >= streak_min && has_membarrier() && take_flag()) {
    // Others come by the mutex and see it there.
    owner_.store(this_thread_, std::memory_order_relaxed);
  }
}

/// With the mutex held, by another thread than the owner: waits until the owner has left. It, too, takes the
/// mutex from then on.
void BiasedMutex::revoke(std::uint64_t owner) {
  owner_.store(0, std::memory_order_relaxed);
  LLAMADA_CHECK(membarrier(MEMBARRIER_CMD_PRIVATE_EXPEDITED));
  // Pairs with the release store in leave(): what the owner has done is seen.
  auto& inside = flag_of(owner);
  while (inside.load(std::memory_order_acquire) != 0) inside.wait(1, std::memory_order_acquire);
}

/// With the mutex held, so this thread is not on the fast way: it no longer stores to its flag.
void BiasedMutex::give_up_flag() {
  if (auto& user = flag_user_of(this_thread_); user == this_thread_) user = 0;
}

/// With the mutex held. False: another former owner may still be on the fast way, and store to the flag.
bool BiasedMutex::take_flag() {
  auto& user = flag_user_of(this_thread_);
  if (user != 0) return false;
  user = this_thread_;
  return true;
}

void BiasedMutex::wake_revoker() {
  // The store before it, and the look at who waits in notify_all().
  std::atomic_thread_fence(std::memory_order_seq_cst);
  own_flag().notify_all();
}

}  // namespace llamada
