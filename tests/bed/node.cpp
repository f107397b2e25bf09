#include "node.hpp"

#include <errno.h>
#include <fcntl.h>
#include <linux/close_range.h>
#include <sched.h>
#include <signal.h>
#include <sys/mount.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <cstring>
#include <fstream>

#include "control.hpp"
#include "network.hpp"

namespace llamada::bed {
namespace {

constexpr long node_namespaces =
    CLONE_NEWPID | CLONE_NEWNET | CLONE_NEWNS | CLONE_NEWUTS | CLONE_NEWIPC | SIGCHLD;

Status mount_at(const char* what, const char* where, const char* type, unsigned long flags,
                const char* data) {
  if (::mount(what, where, type, flags, data) == 0) return {};
  return tl::unexpected<Error>(refusal(where));
}

/// Binds a file of this text over /etc/hosts, which no path but that one leads to.
Status mount_hosts(const std::string& text) {
  constexpr const char* place = "/dev/shm";
  if (auto done = mount_at("hosts", place, "tmpfs", 0, "mode=0755"); !done) return done;
  const std::string file = std::string(place) + "/hosts";
  std::ofstream(file) << text;
  if (auto done = mount_at(file.c_str(), "/etc/hosts", nullptr, MS_BIND, nullptr); !done) return done;
  return ::umount2(place, MNT_DETACH) == 0 ? Status() : Status(system_failure("umount of /dev/shm"));
}

Status furnish(int index, int count, const std::string& bed) {
  if (auto done = mount_proc(); !done) return done;
  // Shows the interfaces of the network namespace; some containers forbid it, and little needs it.
  (void)mount_at("sysfs", "/sys", "sysfs", MS_NOSUID | MS_NODEV | MS_NOEXEC, nullptr);
  if (auto done = mount_hosts(hosts_text(count, bed)); !done) return done;
  if (auto done = mount_at("shm", "/dev/shm", "tmpfs", MS_NOSUID | MS_NODEV, "mode=1777"); !done) return done;
  const std::string name = host_name(index, bed);
  return ::sethostname(name.data(), name.size()) == 0 ? Status() : Status(system_failure("sethostname"));
}

/// The keeper's descriptors are not a node's, but for the one socket.
FileDescriptor keep_only(FileDescriptor socket) {
  constexpr int kept = STDERR_FILENO + 1;
  if (socket.get() != kept) {
    ::dup3(socket.get(), kept, O_CLOEXEC);
    (void)socket.release();
  }
  ::close_range(kept + 1, ~0U, 0);
  return FileDescriptor(socket ? socket.release() : kept);
}

[[noreturn]] void wait_for_orphans() {
  for (;;) {
    int status = 0;
    if (::waitpid(-1, &status, 0) >= 0) continue;
    // Nobody is left to wait for: a child that comes later ends this pause.
    sigset_t child;
    ::sigemptyset(&child);
    ::sigaddset(&child, SIGCHLD);
    const timespec a_while{0, 100'000'000};
    ::sigtimedwait(&child, nullptr, &a_while);
  }
}

[[noreturn]] void be_first_process(FileDescriptor socket, int index, int count, const std::string& bed,
                                   int mtu) {
  socket = keep_only(std::move(socket));
  sigset_t child;
  ::sigemptyset(&child);
  ::sigaddset(&child, SIGCHLD);
  ::sigprocmask(SIG_BLOCK, &child, nullptr);
  ::prctl(PR_SET_NAME, fmt::format("bed-node{}", index).c_str());
  auto done = furnish(index, count, bed);
  if (done && !receive_message(socket.get())) ::_exit(1);  // the keeper says that the link is there
  if (done) done = run_ip(node_lines(index, mtu));
  const bool is_refused =
      !done && (done.error().code() == Errc::permission_denied || done.error().code() == Errc::unsupported);
  (void)send_message(socket.get(),
                     done ? "ready" : (is_refused ? "refused " : "error ") + done.error().text());
  if (!done) ::_exit(1);
  socket.reset();
  wait_for_orphans();
}

}  // namespace

Error refusal(const char* what) {
  const int code = errno;
  const bool is_refused =
      code == EPERM || code == EACCES || code == ENOSYS || code == ENOSPC || code == EINVAL || code == EUSERS;
  return {is_refused ? Errc::permission_denied : Errc::system,
          fmt::format("{}: {}", what, std::strerror(code)), code};
}

Status mount_proc() {
  if (auto done = mount_at("none", "/", nullptr, MS_REC | MS_PRIVATE, nullptr); !done) return done;
  return mount_at("proc", "/proc", "proc", MS_NOSUID | MS_NODEV | MS_NOEXEC, nullptr);
}

Result<Node> Node::start(int index, int count, const std::string& bed, int mtu) {
  std::array<int, 2> ends;
  if (::socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, ends.data()) != 0)
    return system_failure("socketpair");
  FileDescriptor ours(ends[0]), theirs(ends[1]);
  const long child = ::syscall(SYS_clone, node_namespaces, nullptr, nullptr, nullptr, nullptr);
  if (child < 0) return tl::unexpected<Error>(refusal("a node's namespaces"));
  if (child == 0) be_first_process(std::move(theirs), index, count, bed, mtu);
  Node node;
  node.pid_ = static_cast<pid_t>(child);
  node.process_ = FileDescriptor(static_cast<int>(::syscall(SYS_pidfd_open, child, 0)));
  if (!node.process_) return system_failure("pidfd_open");
  node.socket_ = std::move(ours);
  return node;
}

Status Node::finish() {
  // A node that has failed already says why.
  (void)send_message(socket_.get(), "link");
  auto answer = receive_message(socket_.get());
  if (!answer) return propagate(answer);
  socket_.reset();
  if (answer->text == "ready") return {};
  const bool is_refused = answer->text.starts_with("refused ");
  return failure(is_refused ? Errc::permission_denied : Errc::invalid_argument, "{}",
                 answer->text.substr(answer->text.find(' ') + 1));
}

Result<FileDescriptor> Node::open_namespace(const char* kind) const {
  FileDescriptor opened(::open(fmt::format("/proc/{}/ns/{}", pid_, kind).c_str(), O_RDONLY | O_CLOEXEC));
  if (!opened) return system_failure(kind);
  return opened;
}

void Node::kill() {
  ::kill(pid_, SIGKILL);
  collect();
}

void Node::collect() {
  if (!is_alive()) return;
  int status = 0;
  while (::waitpid(pid_, &status, 0) < 0 && errno == EINTR) {
  }
  process_.reset();
}

}  // namespace llamada::bed
