#include "p2p/yielding.hpp"

#include <fcntl.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <cstdio>

namespace llamada::mpi {

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
