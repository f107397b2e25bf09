#include "standby/page_faults.hpp"

#include <sys/resource.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <utility>

namespace llamada::mpi::standby {

std::chrono::nanoseconds PageFaults::cost_since_last_look() {
  const long now = count();
  return (now - std::exchange(last_, now)) * one;
}

// From the kernel by its number: libc's version is recorded for the program.
long PageFaults::count() {
  rusage used{};
  return ::syscall(SYS_getrusage, RUSAGE_SELF, &used) == 0 ? used.ru_minflt : 0;
}

}  // namespace llamada::mpi::standby
