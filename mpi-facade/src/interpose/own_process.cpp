#include <errno.h>
#include <sched.h>
#include <signal.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "interpose/file_calls.hpp"

// A program names itself by the process id that it was told, which in a replacement is the first life's.
// Signals that a rank sends to other processes would come twice: they end the protection.

using namespace llamada::mpi;
using interpose::NextFunction;

namespace {

/// Which process the program means.
pid_t meant(pid_t pid, const void* caller) {
  if (pid <= 0 || interpose::is_own(caller)) return pid;
  const auto* determinants = interpose::opened_determinants();
  const bool is_itself = determinants && determinants->is_told_pid(static_cast<std::uint64_t>(pid));
  return is_itself ? static_cast<pid_t>(syscall(SYS_getpid)) : pid;
}

/// The same of a process that is sent a signal. Signal 0 only asks whether it is there.
pid_t receiver(pid_t pid, int signal, const void* caller) {
  const pid_t process = meant(pid, caller);
  if (signal != 0 && process != static_cast<pid_t>(syscall(SYS_getpid)))
    interpose::cannot_be_repeated(caller, "a signal to another process (kill)");
  return process;
}

}  // namespace

extern "C" {

LLAMADA_INTERPOSED int kill(pid_t pid, int signal) noexcept {
  return static_cast<int>(syscall(SYS_kill, receiver(pid, signal, LLAMADA_CALLER), signal));
}

LLAMADA_INTERPOSED int killpg(pid_t group, int signal) noexcept {
  static NextFunction<int(pid_t, int)> next("killpg");
  if (signal != 0) interpose::cannot_be_repeated(LLAMADA_CALLER, "a signal to other processes (killpg)");
  return next.get()(group, signal);
}

LLAMADA_INTERPOSED int sigqueue(pid_t pid, int signal, const union sigval value) noexcept {
  static NextFunction<int(pid_t, int, union sigval)> next("sigqueue");
  return next.get()(receiver(pid, signal, LLAMADA_CALLER), signal, value);
}

LLAMADA_INTERPOSED int sched_getaffinity(pid_t pid, size_t size_bytes, cpu_set_t* cores) noexcept {
  static NextFunction<int(pid_t, size_t, cpu_set_t*)> next("sched_getaffinity");
  return next.get()(meant(pid, LLAMADA_CALLER), size_bytes, cores);
}

LLAMADA_INTERPOSED int sched_setaffinity(pid_t pid, size_t size_bytes, const cpu_set_t* cores) noexcept {
  static NextFunction<int(pid_t, size_t, const cpu_set_t*)> next("sched_setaffinity");
  return next.get()(meant(pid, LLAMADA_CALLER), size_bytes, cores);
}

LLAMADA_INTERPOSED int getpriority(__priority_which_t which, id_t who) noexcept {
  static NextFunction<int(__priority_which_t, id_t)> next("getpriority");
  if (which == PRIO_PROCESS) who = static_cast<id_t>(meant(static_cast<pid_t>(who), LLAMADA_CALLER));
  return next.get()(which, who);
}

LLAMADA_INTERPOSED int setpriority(__priority_which_t which, id_t who, int value) noexcept {
  static NextFunction<int(__priority_which_t, id_t, int)> next("setpriority");
  if (which == PRIO_PROCESS) who = static_cast<id_t>(meant(static_cast<pid_t>(who), LLAMADA_CALLER));
  return next.get()(which, who, value);
}

LLAMADA_INTERPOSED pid_t getpgid(pid_t pid) noexcept {
  static NextFunction<pid_t(pid_t)> next("getpgid");
  return next.get()(meant(pid, LLAMADA_CALLER));
}

LLAMADA_INTERPOSED pid_t getsid(pid_t pid) noexcept {
  static NextFunction<pid_t(pid_t)> next("getsid");
  return next.get()(meant(pid, LLAMADA_CALLER));
}

LLAMADA_INTERPOSED int setpgid(pid_t pid, pid_t group) noexcept {
  static NextFunction<int(pid_t, pid_t)> next("setpgid");
  return next.get()(meant(pid, LLAMADA_CALLER), meant(group, LLAMADA_CALLER));
}

}  // extern "C"
