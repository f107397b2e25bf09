#pragma once

#include <condition_variable>
#include <functional>
#include <mutex>
#include <optional>
#include <thread>

#include "event_loop.hpp"
#include "llamada/base/file_descriptor.hpp"
#include "llamada/store/store.hpp"

namespace llamada::launcher {

/// Makes batches of a store durable in a thread of its own, for that takes milliseconds. Everything else of
/// the store stays with the thread of the event loop.
class StoreSync {
 public:
  /// All batches up to this one are durable; or the error is why not.
  using OnSynced = std::function<void(store::BatchNumber batch, Status status)>;

  /// Errors: those of the system.
  static Result<std::unique_ptr<StoreSync>> begin(EventLoop& loop, store::Store& store, OnSynced on_synced);
  /// Waits for a call of sync() that is going on.
  ~StoreSync();

  StoreSync(const StoreSync&) = delete;
  StoreSync& operator=(const StoreSync&) = delete;

  /// OnSynced will be called for this batch, or a later one, by the event loop.
  void ask(store::BatchNumber batch);

 private:
  struct Answer {
    store::BatchNumber batch = 0;
    Status status;
  };

  StoreSync(EventLoop& loop, store::Store& store, OnSynced on_synced, FileDescriptor wake);
  void work();
  void tell();

  EventLoop& loop_;
  store::Store& store_;
  OnSynced on_synced_;
  FileDescriptor wake_;  ///< an eventfd: there is an answer
  std::mutex mutex_;
  std::condition_variable changed_;
  store::BatchNumber wanted_ = 0;
  std::optional<Answer> answer_;
  bool is_over_ = false;
  std::thread thread_;  ///< the last: it uses the others
};

}  // namespace llamada::launcher
