#include "process_watch.hpp"

#include <fmt/format.h>
#include <poll.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "llamada/launcher/inject.hpp"

namespace llamada::launcher {

FileDescriptor open_pidfd(pid_t pid) {
  return FileDescriptor(static_cast<int>(syscall(SYS_pidfd_open, pid, 0)));
}

bool is_dead(int pidfd) {
  pollfd one{pidfd, POLLIN, 0};
  return poll(&one, 1, 0) == 1;
}

std::string describe_end(int wait_status) {
  if (WIFSIGNALED(wait_status)) return fmt::format("was killed by {}", signal_name(WTERMSIG(wait_status)));
  return fmt::format("ended with exit code {}", WEXITSTATUS(wait_status));
}

std::string mpirun_was_killed(pid_t mpirun) {
  return fmt::format("mpirun: the process mpirun (pid {}) was killed; its job has been ended.\n", mpirun);
}

void say(std::string_view text) {
  while (!text.empty()) {
    const ssize_t count = write(STDERR_FILENO, text.data(), text.size());
    if (count <= 0) return;
    text.remove_prefix(static_cast<std::size_t>(count));
  }
}

}  // namespace llamada::launcher
