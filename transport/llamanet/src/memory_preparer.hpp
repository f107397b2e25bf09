#pragma once

#include <pthread.h>
#include <sched.h>

#include <atomic>
#include <cstdint>
#include <memory>

#include "llamada/base/result.hpp"
#include "llamada/topics/arena_writer.hpp"

namespace llamada::llamanet {

/// Lets the kernel make the pages that an arena's pool is about to grow into (MADV_POPULATE_WRITE), in a
/// thread of its own, so that the one who publishes does not wait for them. The window ahead doubles while
/// the pool grows fast, up to window_bytes_max, and shrinks when it grows slowly. The thread starts with the
/// first wish, sleeps between wishes, takes no signals, and is not there in a fork()ed child, where this
/// object does nothing any more.
class MemoryPreparer {
 public:
  static constexpr std::uint64_t window_bytes_min = 2 << 20;
  static constexpr std::uint64_t window_bytes_max = 64 << 20;

  /// The thread may run on the cores that the process may use now, whatever the application's thread is bound
  /// to later.
  explicit MemoryPreparer(const topics::ArenaWriter& arena);
  /// Ends the thread. Only in the process that made it.
  ~MemoryPreparer();
  MemoryPreparer(const MemoryPreparer&) = delete;
  MemoryPreparer& operator=(const MemoryPreparer&) = delete;

  /// The pool has grown. Called by the application's thread, for each extent.
  void grown();
  /// In a fork()ed child: there is no thread to end.
  void forget() { started_ = false; }

 private:
  static void* run(void* self);
  bool start();
  void work();
  void prepare();
  void adapt_window();

  const topics::ArenaWriter& arena_;
  cpu_set_t cores_{};
  pthread_t thread_{};
  bool started_ = false;
  bool refused_ = false;
  // Raised by the application's thread, release; awaited by the helper, acquire. An odd last bit asks for the
  // end.
  std::atomic<std::uint32_t> wishes_{0};
  // The helper's own.
  std::uint64_t window_bytes_ = window_bytes_min;
  std::int64_t last_wish_ns_ = 0;
  std::byte* prepared_until_ = nullptr;
};

}  // namespace llamada::llamanet
