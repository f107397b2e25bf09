#include <errno.h>
#include <fcntl.h>
#include <sched.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <array>

#include "keeper.hpp"

namespace llamada::bed {
namespace {

constexpr long bed_namespaces =
    CLONE_NEWPID | CLONE_NEWNET | CLONE_NEWNS | CLONE_NEWUTS | CLONE_NEWIPC | SIGCHLD;
constexpr int clients_waiting_max = 64;

Status write_file(const char* path, const std::string& text) {
  const FileDescriptor file(::open(path, O_WRONLY | O_CLOEXEC));
  if (file && ::write(file.get(), text.data(), text.size()) == static_cast<ssize_t>(text.size())) return {};
  return tl::unexpected<Error>(refusal(path));
}

/// Who may not make namespaces may do so as root of a user namespace.
struct Identity {
  uid_t user = 0;
  gid_t group = 0;
  bool needs_namespace = false;
};

Status become_root(const Identity& who) {
  if (!who.needs_namespace) return {};
  if (auto done = write_file("/proc/self/setgroups", "deny"); !done) return done;
  if (auto done = write_file("/proc/self/uid_map", fmt::format("0 {} 1\n", who.user)); !done) return done;
  return write_file("/proc/self/gid_map", fmt::format("0 {} 1\n", who.group));
}

/// Who waits for the end of a pipe that the keeper happens to have would wait for the bed's.
void keep_only(std::array<int, 3> kept) {
  std::sort(kept.begin(), kept.end());
  int from = STDERR_FILENO + 1;
  for (const int descriptor : kept) {
    if (descriptor > from)
      ::close_range(static_cast<unsigned>(from), static_cast<unsigned>(descriptor - 1), 0);
    from = descriptor + 1;
  }
  ::close_range(static_cast<unsigned>(from), ~0U, 0);
}

/// Nobody waits for what a keeper says, and no terminal's signals reach it.
void leave_terminal() {
  ::setsid();
  const FileDescriptor nothing(::open("/dev/null", O_RDWR | O_CLOEXEC));
  for (int descriptor = STDIN_FILENO; descriptor <= STDERR_FILENO; ++descriptor)
    ::dup2(nothing.get(), descriptor);
}

[[noreturn]] void be_keeper(const BedName& name, const BedOptions& options, FileDescriptor listener,
                            FileDescriptor owner, FileDescriptor said, const Identity& who) {
  leave_terminal();
  keep_only({listener.get(), owner.get(), said.get()});
  ::prctl(PR_SET_NAME, "bed-keeper");
  ::signal(SIGPIPE, SIG_IGN);
  auto done = become_root(who);
  Result<Keeper> keeper = done ? Keeper::open(name, options) : Result<Keeper>(propagate(done));
  if (keeper && ::listen(listener.get(), clients_waiting_max) != 0) keeper = system_failure("listen");
  if (!keeper) {
    const bool is_refused =
        keeper.error().code() == Errc::permission_denied || keeper.error().code() == Errc::unsupported;
    (void)send_message(said.get(), (is_refused ? "refused " : "error ") + keeper.error().text());
    ::_exit(1);
  }
  (void)send_message(said.get(), "ready");
  said.reset();
  keeper->run(std::move(listener), std::move(owner));
  ::_exit(0);
}

}  // namespace

Status start_keeper(const BedName& name, const BedOptions& options) {
  auto listener = bind_to(name);
  if (!listener) return propagate(listener);
  FileDescriptor owner(static_cast<int>(::syscall(SYS_pidfd_open, name.owner, 0)));
  if (!owner) return system_failure(fmt::format("the bed's owner, process {}", name.owner));
  std::array<int, 2> ends;
  if (::socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, ends.data()) != 0)
    return system_failure("socketpair");
  FileDescriptor ours(ends[0]), theirs(ends[1]);
  Identity who{::geteuid(), ::getegid(), false};
  long child = ::syscall(SYS_clone, bed_namespaces, nullptr, nullptr, nullptr, nullptr);
  if (child < 0 && errno == EPERM) {
    who.needs_namespace = true;
    child = ::syscall(SYS_clone, bed_namespaces | CLONE_NEWUSER, nullptr, nullptr, nullptr, nullptr);
  }
  if (child < 0) return tl::unexpected<Error>(refusal("the namespaces of a bed"));
  if (child == 0) {
    (void)ours.release();  // closed with all others
    be_keeper(name, options, std::move(*listener), std::move(owner), std::move(theirs), who);
  }
  theirs.reset();
  auto said = receive_message(ours.get());
  if (said && said->text == "ready") return {};
  // It ends with its first failure.
  ::waitpid(static_cast<pid_t>(child), nullptr, 0);
  if (!said) return failure(Errc::closed, "the bed's keeper has ended");
  const bool is_refused = said->text.starts_with("refused ");
  return failure(is_refused ? Errc::permission_denied : Errc::invalid_argument, "{}",
                 said->text.substr(said->text.find(' ') + 1));
}

}  // namespace llamada::bed
