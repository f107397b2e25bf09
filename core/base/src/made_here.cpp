#include "llamada/base/made_here.hpp"

#include <pthread.h>
#include <unistd.h>

namespace llamada {

std::atomic<std::uint32_t> detail::fork_count{0};

namespace {

struct Kept {
  std::shared_ptr<const void> thing;
  Kept* before;
};
std::atomic<Kept*> last_kept{nullptr};

void count_forks() {
  [[maybe_unused]] static const int registered =
      ::pthread_atfork(nullptr, nullptr, [] { detail::fork_count.fetch_add(1, std::memory_order_relaxed); });
}

}  // namespace

MadeHere::MadeHere()
    : forks_((count_forks(), detail::fork_count.load(std::memory_order_relaxed))), pid_(::getpid()) {}

Status MadeHere::refuse() const {
  return failure(
      Errc::precondition_not_met,
      "made before fork() in process {}, and this is its child {}; make your own participant in the "
      "child",
      pid_, ::getpid());
}

void keep_for_good(std::shared_ptr<const void> thing) {
  auto* kept = new Kept{std::move(thing), last_kept.load(std::memory_order_relaxed)};
  while (!last_kept.compare_exchange_weak(kept->before, kept, std::memory_order_release)) {
  }
}

}  // namespace llamada
