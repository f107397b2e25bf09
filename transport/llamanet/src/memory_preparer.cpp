#include "memory_preparer.hpp"

#include <linux/futex.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>
#include <climits>

#include "llamada/base/clock.hpp"

#ifndef MADV_POPULATE_WRITE
#define MADV_POPULATE_WRITE 23
#endif

namespace llamada::llamanet {
namespace {

constexpr std::size_t stack_size_bytes = 256 << 10;
constexpr std::int64_t fast_ns = 10'000'000;
constexpr std::int64_t slow_ns = 200'000'000;
constexpr std::size_t portion_bytes = 2 << 20;  // between two looks at whether to end
constexpr std::uint32_t one_wish = 2;
constexpr std::uint32_t end_bit = 1;

void futex(std::atomic<std::uint32_t>& word, int operation, std::uint32_t value) {
  ::syscall(SYS_futex, &word, operation | FUTEX_PRIVATE_FLAG, value, nullptr, nullptr, 0);
}

}  // namespace

MemoryPreparer::MemoryPreparer(const topics::ArenaWriter& arena) : arena_(arena) {
  if (::sched_getaffinity(0, sizeof(cores_), &cores_) != 0) CPU_ZERO(&cores_);
}

MemoryPreparer::~MemoryPreparer() {
  if (!started_) return;
  wishes_.fetch_or(end_bit, std::memory_order_release);
  futex(wishes_, FUTEX_WAKE, INT_MAX);
  ::pthread_join(thread_, nullptr);
}

void MemoryPreparer::grown() {
  if (refused_) return;
  if (!started_ && !start()) {
    refused_ = true;
    return;
  }
  wishes_.fetch_add(one_wish, std::memory_order_release);
  futex(wishes_, FUTEX_WAKE, 1);
}

bool MemoryPreparer::start() {
  pthread_attr_t attributes;
  ::pthread_attr_init(&attributes);
  ::pthread_attr_setstacksize(&attributes, stack_size_bytes);
  if (CPU_COUNT(&cores_) > 0) ::pthread_attr_setaffinity_np(&attributes, sizeof(cores_), &cores_);
  sigset_t all, before;
  ::sigfillset(&all);
  ::pthread_sigmask(SIG_SETMASK, &all, &before);
  started_ = ::pthread_create(&thread_, &attributes, &run, this) == 0;
  ::pthread_sigmask(SIG_SETMASK, &before, nullptr);
  ::pthread_attr_destroy(&attributes);
  if (started_) ::pthread_setname_np(thread_, "llamada-memory");
  return started_;
}

void* MemoryPreparer::run(void* self) {
  static_cast<MemoryPreparer*>(self)->work();
  return nullptr;
}

void MemoryPreparer::work() {
  std::uint32_t done = 0;
  for (;;) {
    auto wishes = wishes_.load(std::memory_order_acquire);
    if (wishes & end_bit) return;
    if (wishes == done) {
      futex(wishes_, FUTEX_WAIT, wishes);
      continue;
    }
    done = wishes;
    adapt_window();
    prepare();
  }
}

void MemoryPreparer::adapt_window() {
  auto now_ns = SystemClock().monotonic().count();
  auto since_ns = now_ns - std::exchange(last_wish_ns_, now_ns);
  if (since_ns < fast_ns)
    window_bytes_ = std::min(window_bytes_ * 2, window_bytes_max);
  else if (since_ns > slow_ns)
    window_bytes_ = std::max(window_bytes_ / 2, window_bytes_min);
}

void MemoryPreparer::prepare() {
  auto window = arena_.ahead(window_bytes_);
  auto* begin = std::max(window.data(), prepared_until_);
  auto* end = window.data() + window.size();
  while (begin < end) {
    auto size = std::min<std::size_t>(portion_bytes, static_cast<std::size_t>(end - begin));
    // No memory, or a kernel without it: the pages are then made when they are first written.
    if (::madvise(begin, size, MADV_POPULATE_WRITE) != 0) return;
    begin += size;
    prepared_until_ = begin;
    if (wishes_.load(std::memory_order_relaxed) & end_bit) return;
  }
}

}  // namespace llamada::llamanet
