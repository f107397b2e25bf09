#include "llamada/launcher/job_driver.hpp"

#include <fcntl.h>
#include <poll.h>
#include <sys/socket.h>

#include <deque>
#include <utility>

#include "control_link.hpp"
#include "job_coordinator.hpp"
#include "llamada/launcher/exit_codes.hpp"
#include "llamada/launcher/guardian.hpp"
#include "node_supervisor.hpp"
#include "process_tree.hpp"
#include "process_watch.hpp"

namespace llamada::launcher {
namespace {

/// How long a process whose sockets are closed may take to be dead.
constexpr std::chrono::milliseconds mpirun_death_max{300};
/// While mpirun has more than this to take, the ranks' pipes are left alone, and the ranks wait.
constexpr std::size_t queued_bytes_max = 1 << 20;
constexpr std::size_t queued_bytes_low = 256 << 10;

/// Whether the process of a pidfd dies within this time. One that has none was dead before.
bool is_dead_soon(const FileDescriptor& process, std::chrono::milliseconds limit) {
  pollfd one{process.get(), POLLIN, 0};
  return !process || poll(&one, 1, static_cast<int>(limit.count())) == 1;
}

/// The process that made the socket.
pid_t peer_of(const FileDescriptor& socket) {
  ucred credentials{};
  socklen_t size = sizeof credentials;
  getsockopt(socket.get(), SOL_SOCKET, SO_PEERCRED, &credentials, &size);
  return credentials.pid;
}

/// The process llamanetd of a job: its coordinator and the supervisor of its only node, between which
/// messages wait in two queues as they would on a stream.
class JobDriver {
 public:
  JobDriver(FileDescriptor control, LastWord last_word, const ArenasFactory& make_arenas,
            IsMpiFunction is_mpi_function)
      : last_word_(std::move(last_word)),
        mpirun_(peer_of(control)),
        mpirun_pidfd_(open_pidfd(mpirun_)),
        supervisor_(
            loop_, make_arenas, [this](node::FromNode message) { from_node_.push_back(std::move(message)); },
            mpirun_),
        coordinator_(
            loop_, [this](const control::Message& message) { link_.send(message); },
            [this](node::ToNode message) { to_node_.push_back(std::move(message)); },
            std::move(is_mpi_function)),
        link_(
            loop_, std::move(control), [this](control::Message message) { take(std::move(message)); },
            [this](const Error&) { is_orphaned_ = true; }) {
    fcntl(last_word_.descriptor(), F_SETFD, FD_CLOEXEC);
  }

  int run() {
    while (!coordinator_.finished() && !is_orphaned_) {
      if (auto status = loop_.run_once(); !status) {
        last_word_.say(fmt::format("mpirun: llamanetd: {}; the job is ended.\n", status.error().text()));
        kill_all_descendants();
        return exit_launcher;
      }
      hold_output_if_needed();
      hand_over_messages();
      if (!is_orphaned_) coordinator_.look_for_the_end();
    }
    if (coordinator_.finished()) {
      link_.flush();
      return 0;
    }
    kill_all_descendants();
    // Unless it only told us to end, and says itself why.
    if (!told_to_end_ && is_dead_soon(mpirun_pidfd_, mpirun_death_max))
      last_word_.say(mpirun_was_killed(mpirun_));
    return exit_llamanetd_orphaned;
  }

 private:
  void take(control::Message message) {
    if (const auto* end = std::get_if<control::End>(&message)) told_to_end_ = end->kill != 0;
    coordinator_.take(std::move(message));
    hand_over_messages();  // the ranks are there when a signal for them follows
  }

  /// Until both have heard everything.
  void hand_over_messages() {
    while (!to_node_.empty() || !from_node_.empty()) {
      for (; !from_node_.empty(); from_node_.pop_front()) coordinator_.take(std::move(from_node_.front()));
      for (; !to_node_.empty(); to_node_.pop_front()) supervisor_.take(std::move(to_node_.front()));
    }
  }

  void hold_output_if_needed() {
    const std::size_t queued = link_.queued_bytes();
    const bool hold = output_held_ ? queued > queued_bytes_low : queued > queued_bytes_max;
    if (hold == output_held_) return;
    output_held_ = hold;
    to_node_.emplace_back(node::HoldOutput{hold});
  }

  EventLoop loop_;
  LastWord last_word_;
  pid_t mpirun_;
  FileDescriptor mpirun_pidfd_;
  bool told_to_end_ = false;  ///< by mpirun, at once
  bool is_orphaned_ = false;
  bool output_held_ = false;
  std::deque<node::ToNode> to_node_;
  std::deque<node::FromNode> from_node_;
  NodeSupervisor supervisor_;
  JobCoordinator coordinator_;
  ControlLink link_;
};

}  // namespace

int run_job_driver(FileDescriptor control, LastWord last_word, const ArenasFactory& make_arenas,
                   IsMpiFunction is_mpi_function) {
  fcntl(control.get(), F_SETFD, FD_CLOEXEC);
  return JobDriver(std::move(control), std::move(last_word), make_arenas, std::move(is_mpi_function)).run();
}

}  // namespace llamada::launcher
