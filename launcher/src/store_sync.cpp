#include "store_sync.hpp"

#include <sys/eventfd.h>
#include <unistd.h>

#include <algorithm>
#include <memory>
#include <utility>

namespace llamada::launcher {

Result<std::unique_ptr<StoreSync>> StoreSync::begin(EventLoop& loop, store::Store& store,
                                                    OnSynced on_synced) {
  FileDescriptor wake(eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK));
  if (!wake) return system_failure("eventfd");
  return std::unique_ptr<StoreSync>(new StoreSync(loop, store, std::move(on_synced), std::move(wake)));
}

StoreSync::StoreSync(EventLoop& loop, store::Store& store, OnSynced on_synced, FileDescriptor wake)
    : loop_(loop), store_(store), on_synced_(std::move(on_synced)), wake_(std::move(wake)), thread_([this] {
        work();
      }) {
  loop_.watch(wake_.get(), POLLIN, [this](short) { tell(); });
}

StoreSync::~StoreSync() {
  {
    const std::lock_guard lock(mutex_);
    is_over_ = true;
  }
  changed_.notify_one();
  thread_.join();
  loop_.forget(wake_.get());
}

void StoreSync::ask(store::BatchNumber batch) {
  {
    const std::lock_guard lock(mutex_);
    wanted_ = std::max(wanted_, batch);
  }
  changed_.notify_one();
}

void StoreSync::work() {
  store::BatchNumber done = 0;
  std::unique_lock lock(mutex_);
  for (;;) {
    changed_.wait(lock, [&] { return is_over_ || wanted_ > done; });
    if (is_over_) return;
    done = wanted_;
    lock.unlock();
    Status status = store_.sync(done);
    lock.lock();
    // A failure must be heard, whatever follows.
    if (!answer_ || answer_->status) answer_ = Answer{done, std::move(status)};
    const std::uint64_t one = 1;
    if (write(wake_.get(), &one, sizeof one) < 0) continue;  // it is set already
  }
}

void StoreSync::tell() {
  std::uint64_t count = 0;
  if (read(wake_.get(), &count, sizeof count) < 0) return;
  std::optional<Answer> answer;
  {
    const std::lock_guard lock(mutex_);
    answer = std::exchange(answer_, std::nullopt);
  }
  if (!answer) return;
  const OnSynced on_synced = on_synced_;  // this object may be gone by its end
  on_synced(answer->batch, std::move(answer->status));
}

}  // namespace llamada::launcher
