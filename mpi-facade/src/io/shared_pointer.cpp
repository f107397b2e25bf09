#include "io/shared_pointer.hpp"

#include "llamada/base/crash_point.hpp"

namespace llamada::mpi::io {

SharedPointer::SharedPointer(void* memory, int member, Waiting waiting)
    : shared_(static_cast<Shared*>(memory)),
      slot_(reinterpret_cast<Slot*>(static_cast<std::byte*>(memory) + sizeof(Shared)) + member),
      self_(static_cast<std::uint32_t>(member) + 1),
      waiting_(std::move(waiting)) {}

bool SharedPointer::try_lock() {
  if (holds()) return true;
  std::uint32_t nobody = 0;
  // Acquire: what the last holder stored before its unlock().
  if (shared_->holder.compare_exchange_strong(nobody, self_, std::memory_order_seq_cst)) return true;
  // Sequentially consistent with the unlocker's exchange of the holder: one of the two sees the other.
  shared_->waiting.store(1, std::memory_order_seq_cst);
  nobody = 0;
  return shared_->holder.compare_exchange_strong(nobody, self_, std::memory_order_seq_cst);
}

void SharedPointer::unlock() {
  shared_->holder.store(0, std::memory_order_seq_cst);
  if (shared_->waiting.exchange(0, std::memory_order_seq_cst) != 0) waiting_.wake_others();
}

std::uint64_t SharedPointer::change(std::uint64_t number,
                                    const std::function<std::uint64_t(std::uint64_t)>& change) {
  const bool was_interrupted = holds();
  const bool was_decided = slot_->number.load(std::memory_order_acquire) == number;
  if (was_decided && !was_interrupted) return slot_->value.load(std::memory_order_relaxed);
  if (!was_interrupted) waiting_.wait_until([this] { return try_lock(); });
  LLAMADA_CRASH_POINT("shared-pointer:locked");
  if (!was_decided) {
    const std::uint64_t before = shared_->pointer.load(std::memory_order_relaxed);
    slot_->value.store(before, std::memory_order_relaxed);
    slot_->after.store(change(before), std::memory_order_relaxed);
    slot_->number.store(number, std::memory_order_release);  // with the two above, for the successor
    LLAMADA_CRASH_POINT("shared-pointer:decided");
  }
  const std::uint64_t value = slot_->value.load(std::memory_order_relaxed);
  // Release: get() of others. A pointer is whole at any moment.
  shared_->pointer.store(slot_->after.load(std::memory_order_relaxed), std::memory_order_release);
  LLAMADA_CRASH_POINT("shared-pointer:moved");
  unlock();
  LLAMADA_CRASH_POINT("shared-pointer:unlocked");
  return value;
}

}  // namespace llamada::mpi::io
