#include "standby/process_copy.hpp"

#include <fcntl.h>
#include <fmt/core.h>
#include <sched.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/time.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cinttypes>
#include <cstdio>

#include "llamada/base/kept_descriptor.hpp"
#include "standby/proc.hpp"

namespace llamada::mpi::standby {
namespace {

// From the kernel by their numbers: libc's versions are recorded for the program, or remember the original.
long own_pid() { return ::syscall(SYS_getpid); }
long parent_pid() { return ::syscall(SYS_getppid); }

std::size_t thread_count() {
  const auto threads = numbers_in("/proc/self/task");
  return threads ? threads->size() : 0;
}

/// Children that have ended count, too: the program may ask for them.
bool has_children() {
  siginfo_t found{};
  return ::syscall(SYS_waitid, P_ALL, 0, &found, WEXITED | WNOHANG | WNOWAIT | __WALL, nullptr) == 0 ||
         errno != ECHILD;
}

/// Timers of timer_create(). A kernel that does not list them may have some.
bool has_timers() {
  const auto timers = content_of("/proc/self/timers");
  return !timers || !timers->empty();
}

bool has_interval_timer() {
  for (const int which : {ITIMER_REAL, ITIMER_VIRTUAL, ITIMER_PROF}) {
    itimerval timer{};
    if (::syscall(SYS_getitimer, which, &timer) != 0) return true;
    if (timer.it_value.tv_sec != 0 || timer.it_value.tv_usec != 0) return true;
  }
  return false;
}

struct Area {
  std::uint64_t begin = 0, end = 0;
  std::string flags;
};

/// A line of /proc/self/maps.
Area area_in(const std::string& line) {
  Area area;
  char flags[8] = {};
  if (std::sscanf(line.c_str(), "%" SCNx64 "-%" SCNx64 " %7s", &area.begin, &area.end, flags) == 3)
    area.flags = flags;
  return area;
}

/// A copy would share this memory, and write to it. It may share what the process only reads: other ranks'
/// arenas, the driver's page, files.
bool is_shared_for_writing(const Area& area) {
  return area.flags.size() != 4 || (area.flags[3] == 's' && area.flags[1] == 'w');
}

/// The ring of a link to other nodes. A copy leaves it alone, and has one of its own once it has taken over.
bool is_of_kept_socket(const std::string& line) {
  const std::size_t name = line.find("socket:[");
  const auto descriptors = name != line.npos ? numbers_in("/proc/self/fd") : std::nullopt;
  return descriptors && std::ranges::any_of(*descriptors, [&](int descriptor) {
           return is_kept(descriptor) &&
                  link_of(fmt::format("/proc/self/fd/{}", descriptor)) == line.substr(name);
         });
}

bool shares_memory(std::span<const std::byte> arena) {
  const auto maps = content_of("/proc/self/maps");
  if (!maps) return true;
  const auto begin = reinterpret_cast<std::uint64_t>(arena.data()), end = begin + arena.size();
  for (std::size_t at = 0; at < maps->size();) {
    const std::size_t line_end = std::min(maps->find('\n', at), maps->size());
    const std::string line = maps->substr(at, line_end - at);
    const Area area = area_in(line);
    const bool is_own = area.begin >= begin && area.end <= end;
    if (!is_own && is_shared_for_writing(area) && !is_of_kept_socket(line)) return true;
    at = line_end + 1;
  }
  return false;
}

/// Where libc keeps the number of this thread, which is another one in the copy.
pid_t* thread_number_of_libc() {
  pid_t* address = nullptr;
  if (::prctl(PR_GET_TID_ADDRESS, &address) != 0 || address == nullptr) return nullptr;
  return *address == ::syscall(SYS_gettid) ? address : nullptr;
}

long clone_beside(pid_t* thread_number) {
  const unsigned long flags = CLONE_PARENT | CLONE_CHILD_SETTID | CLONE_CHILD_CLEARTID | SIGCHLD;
#if defined(__x86_64__)
  return ::syscall(SYS_clone, flags, nullptr, nullptr, thread_number, nullptr);
#else
  return ::syscall(SYS_clone, flags, nullptr, nullptr, nullptr, thread_number);
#endif
}

void set_signals(const sigset_t& signals, sigset_t* before) {
  constexpr std::size_t kernel_bytes = 8;
  ::syscall(SYS_rt_sigprocmask, SIG_SETMASK, &signals, before, kernel_bytes);
}

}  // namespace

std::string obstacle_in_process(std::span<const std::byte> arena) {
  if (thread_count() != 1) return "the program has more than one thread";
  if (has_children()) return "the program has child processes";
  if (has_interval_timer() || has_timers()) return "the program has set a timer";
  if (shares_memory(arena)) return "the program has memory that it shares with others (mmap, shmat)";
  return {};
}

Result<Copied> copy_process() {
  pid_t* const thread_number = thread_number_of_libc();
  if (thread_number == nullptr)
    return failure(Errc::unsupported, "the kernel does not say where libc keeps the number of the thread");
  void* robust_list = nullptr;
  std::size_t robust_bytes = 0;
  ::syscall(SYS_get_robust_list, 0, &robust_list, &robust_bytes);
  Copied copied;
  copied.original = static_cast<pid_t>(own_pid());
  const long parent = parent_pid();
  sigset_t all;
  ::sigfillset(&all);
  set_signals(all, &copied.signals);
  const long child = clone_beside(thread_number);
  if (child != 0) {
    const int error = errno;
    set_signals(copied.signals, nullptr);
    if (child < 0) return system_failure("clone", error);
    copied.copy = FileDescriptor(static_cast<int>(::syscall(SYS_pidfd_open, child, 0)));
    if (copied.copy) return copied;
    const int open_error = errno;
    ::syscall(SYS_kill, child, SIGKILL);
    return system_failure("pidfd_open", open_error);
  }
  copied.is_copy = true;
  ::syscall(SYS_setpgid, 0, 0);
  ::prctl(PR_SET_PDEATHSIG, SIGKILL);
  if (parent_pid() != parent) end_copy();
  ::syscall(SYS_set_robust_list, robust_list, robust_bytes);
  return copied;
}

void let_go_of_streams() {
  const long nowhere = ::syscall(SYS_openat, AT_FDCWD, "/dev/null", O_RDWR | O_CLOEXEC, 0);
  if (nowhere < 0) end_copy();
  for (int stream = 0; stream < 3; ++stream) ::syscall(SYS_dup3, nowhere, stream, 0);
  ::syscall(SYS_close, nowhere);
}

Status go_on_with(std::span<const FileDescriptor> streams, const sigset_t& signals) {
  for (std::size_t stream = 0; stream < streams.size(); ++stream)
    if (::syscall(SYS_dup3, streams[stream].get(), stream, 0) < 0) return system_failure("dup3");
  set_signals(signals, nullptr);
  return {};
}

void end_other(const FileDescriptor& copy) {
  ::syscall(SYS_pidfd_send_signal, copy.get(), SIGKILL, nullptr, 0);
}

void end_copy() {
  for (;;) ::syscall(SYS_kill, own_pid(), SIGKILL);
}

}  // namespace llamada::mpi::standby
