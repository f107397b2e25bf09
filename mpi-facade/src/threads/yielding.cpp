#include "threads/yielding.hpp"

#include <fcntl.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <cstdint>
#include <cstdio>

namespace llamada::mpi {
namespace {

/// sched_setattr(2), the first version of the structure, of which the C library has none.
struct SchedulingAttributes {
  std::uint32_t size = sizeof(SchedulingAttributes);
  std::uint32_t policy = 0;
  std::uint64_t flags = 0;
  std::int32_t nice = 0;
  std::uint32_t priority = 0;
  std::uint64_t runtime_ns = 0;
  std::uint64_t deadline_ns = 0;
  std::uint64_t period_ns = 0;
};
static_assert(sizeof(SchedulingAttributes) == 48);

/// The shortest that the system gives.
constexpr std::uint64_t short_slice_ns = 100'000;

/// Asks that this thread is given its share of the processor, which stays the same, in short pieces: who is
/// woken then soon takes the place of somebody who has had his, and a yield costs one short piece. What it
/// starts later inherits that. Linux before 6.12 takes no notice.
void ask_for_short_slices() {
  SchedulingAttributes attributes;
  if (syscall(SYS_sched_getattr, 0, &attributes, sizeof(attributes), 0) != 0) return;
  if (attributes.policy != SCHED_OTHER && attributes.policy != SCHED_BATCH) return;
  attributes.size = sizeof(attributes);
  attributes.runtime_ns = short_slice_ns;
  (void)syscall(SYS_sched_setattr, 0, &attributes, 0);
}

}  // namespace

bool Yielding::lingers_on(bool first) {
  if (!has_short_slices_) ask_for_short_slices();
  has_short_slices_ = true;
  const auto now = clock_->monotonic();
  if (first) lingers_until_ = now + linger;
  return now < lingers_until_;
}

bool Yielding::others_run(int ranks) {
  if (ranks == 0) return true;
  const int tasks = runnable_tasks();
  return tasks < 0 || tasks > ranks;
}

bool Yielding::has_room(int cores) {
  if (cores == 0) return false;
  const int tasks = runnable_tasks();
  return tasks >= 0 && tasks <= cores;
}

/// By bare system calls: open and read are the library's own here, and it is not the program that reads.
int runnable_tasks() {
  const long file = syscall(SYS_openat, AT_FDCWD, "/proc/loadavg", O_RDONLY | O_CLOEXEC);
  if (file < 0) return -1;
  char text[128];
  const long size = syscall(SYS_read, file, text, sizeof(text) - 1);
  syscall(SYS_close, file);
  if (size <= 0) return -1;
  text[size] = '\0';
  int tasks = 0;
  return std::sscanf(text, "%*s %*s %*s %d/", &tasks) == 1 ? tasks : -1;
}

}  // namespace llamada::mpi
