#include "lifecycle/exit_watch.hpp"

#include <stdlib.h>
#include <sys/syscall.h>
#include <unistd.h>

namespace llamada::mpi {
namespace {

World* watched = nullptr;  // written by MPI_Init and MPI_Finalize, read by the thread that exits
long watched_pid = 0;

void write_exit(int status, void*) {
  if (watched == nullptr || syscall(SYS_getpid) != watched_pid) return;
  watched->arena().set_exit(status);
}

}  // namespace

void watch_exit(World& world) {
  watched = &world;
  watched_pid = syscall(SYS_getpid);
  static const int registered = on_exit(write_exit, nullptr);
  static_cast<void>(registered);
}

void exit_is_allowed() { watched = nullptr; }

}  // namespace llamada::mpi

// A program that ends by _exit() runs no handler, and ends by its own will all the same.
extern "C" {

__attribute__((visibility("default"), noreturn)) void _exit(int status) {
  llamada::mpi::write_exit(status, nullptr);
  for (;;) syscall(SYS_exit_group, status);
}
__attribute__((visibility("default"), noreturn)) void _Exit(int) __attribute__((alias("_exit")));

}  // extern "C"
