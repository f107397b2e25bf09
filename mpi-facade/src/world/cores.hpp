#pragma once

#include <sched.h>

namespace llamada::mpi {

/// On how many cores this thread may run; 1 if that is not to be found out.
inline int cores_allowed() {
  cpu_set_t allowed;
  CPU_ZERO(&allowed);
  if (sched_getaffinity(0, sizeof(allowed), &allowed) != 0) return 1;
  return CPU_COUNT(&allowed);
}

}  // namespace llamada::mpi
