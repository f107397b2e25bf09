#include "llamada/base/kept_descriptor.hpp"

#include <fcntl.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <array>
#include <atomic>
#include <cerrno>

namespace llamada {
namespace {

/// Numbers from here on are not looked after. Untouched memory costs nothing.
constexpr int numbers_max = 1 << 16;

// Relaxed: whoever uses a descriptor has got it from the thread that made it.
std::array<std::atomic<int>, numbers_max> number_at{};  // by place: the number + 1; 0: the place is free
std::array<std::atomic<int>, numbers_max> place_of{};   // by number: the place + 1; 0: not kept
std::atomic<int> kept_end{0};                           // above all numbers that are or were kept

std::atomic<int>& entry(std::array<std::atomic<int>, numbers_max>& table, int index) {
  return table[static_cast<std::size_t>(index)];
}

int real_fcntl(int number, int command, int argument) {
  return static_cast<int>(syscall(SYS_fcntl, number, command, argument));
}

void remember(int place, int number) {
  entry(number_at, place).store(number + 1, std::memory_order_relaxed);
  if (number >= numbers_max) return;
  entry(place_of, number).store(place + 1, std::memory_order_relaxed);
  int end = kept_end.load(std::memory_order_relaxed);
  while (end <= number && !kept_end.compare_exchange_weak(end, number + 1, std::memory_order_relaxed)) {
  }
}

/// A free place, whose number is -1 for now.
int take_place() {
  for (int place = 0; place < numbers_max; ++place) {
    int is_free = 0;
    if (entry(number_at, place).load(std::memory_order_relaxed) == 0 &&
        entry(number_at, place).compare_exchange_strong(is_free, -1, std::memory_order_relaxed))
      return place;
  }
  return -1;
}

}  // namespace

KeptDescriptor::KeptDescriptor(FileDescriptor descriptor) {
  if (!descriptor) return;
  const int place = take_place();
  if (place < 0) return;
  const int moved = real_fcntl(descriptor.get(), F_DUPFD_CLOEXEC, kept_descriptor_min);
  if (moved < 0) {
    remember(place, descriptor.release());
  } else {
    remember(place, moved);
    descriptor.reset();
  }
  place_ = place;
}

int KeptDescriptor::get() const {
  return place_ == none ? -1 : entry(number_at, place_).load(std::memory_order_relaxed) - 1;
}

FileDescriptor KeptDescriptor::release() {
  if (place_ == none) return {};
  const int number = get();
  if (number < numbers_max) entry(place_of, number).store(0, std::memory_order_relaxed);
  entry(number_at, place_).store(0, std::memory_order_relaxed);
  place_ = none;
  return FileDescriptor(number);
}

void KeptDescriptor::reset() { release().reset(); }

bool is_kept(int number) {
  return number >= 0 && number < numbers_max && entry(place_of, number).load(std::memory_order_relaxed) != 0;
}

int next_kept(int number) {
  const int end = kept_end.load(std::memory_order_relaxed);
  for (int kept = number < 0 ? 0 : number; kept < end; ++kept)
    if (is_kept(kept)) return kept;
  return -1;
}

bool make_room_at(int number) {
  if (!is_kept(number)) return true;
  const int moved = real_fcntl(number, F_DUPFD_CLOEXEC, kept_descriptor_min);
  if (moved < 0) return false;
  const int place = entry(place_of, number).exchange(0, std::memory_order_relaxed) - 1;
  remember(place, moved);
  return true;
}

}  // namespace llamada
