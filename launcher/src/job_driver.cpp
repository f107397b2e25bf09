#include "llamada/launcher/job_driver.hpp"

#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <sys/resource.h>
#include <sys/socket.h>

#include <algorithm>
#include <deque>
#include <memory>
#include <sstream>
#include <utility>
#include <variant>

#include "job_coordinator.hpp"
#include "job_nodes.hpp"
#include "kernel_file.hpp"
#include "llamada/launcher/exit_codes.hpp"
#include "llamada/launcher/guardian.hpp"
#include "message_link.hpp"
#include "node_supervisor.hpp"
#include "output_hold.hpp"
#include "process_tree.hpp"
#include "process_watch.hpp"
#include "remote_nodes.hpp"

namespace llamada::launcher {
namespace {

/// How long a process whose sockets are closed may take to be dead.
constexpr std::chrono::milliseconds mpirun_death_max{300};

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

AgentSurroundings surroundings_of_this_process() {
  AgentSurroundings surroundings;
  sigprocmask(SIG_SETMASK, nullptr, &surroundings.signal_mask);
  getrlimit(RLIMIT_NOFILE, &surroundings.descriptor_limit);
  return surroundings;
}

/// The ports that the kernel gives to sockets that ask for none: "32768 to 60999".
std::string udp_ports() {
  std::string text;
  if (!read_kernel_file("/proc/sys/net/ipv4/ip_local_port_range", text))
    return "32768 to 60999, unless changed,";
  std::istringstream words(text);
  std::string first, last;
  words >> first >> last;
  return first + " to " + last;
}

/// What the process llamanetd of a job has, however often its ranks start again.
struct JobProcess {
  LastWord last_word;
  const ArenasFactory& make_arenas;
  IsMpiFunction is_mpi_function;
  Adoption adoption;  ///< until the job begins
};

/// All ranks of the job are to start again.
struct NextCourse {
  ControlLink::Stream mpirun;
  JobRestart restart;
};

/// The job from the start of its ranks to their end: its coordinator, the supervisor of this node, and the
/// streams to the other nodes. Messages between the coordinator and the nodes wait in two queues, also those
/// that cross no stream.
class JobCourse {
 public:
  JobCourse(JobProcess& process, ControlLink::Stream mpirun)
      : process_(process),
        mpirun_(peer_of(mpirun.socket)),
        mpirun_pidfd_(open_pidfd(mpirun_)),
        remote_(loop_, surroundings_of_this_process(), actions()),
        supervisor_(
            loop_, process.make_arenas, [this](node::FromNode message) { take_from_own(std::move(message)); },
            mpirun_),
        nodes_([this](std::uint32_t node, node::ToNode message) { tell(node, std::move(message)); },
               [this](node::FromNode message) { coordinator_.take(std::move(message)); }),
        coordinator_(
            loop_, [this](const control::Message& message) { link_.send(message); },
            [this](node::ToNode message) { to_nodes_.push_back(std::move(message)); },
            process.is_mpi_function),
        link_(
            loop_, std::move(mpirun), [this](control::Message message) { take(std::move(message)); },
            [this](const Error&) { is_orphaned_ = true; }) {}

  /// The exit code of the process, unless there is another course.
  std::variant<int, NextCourse> run(std::optional<JobRestart> restart) {
    if (restart) go_on_from(std::move(*restart));
    while (!coordinator_.finished() && !is_orphaned_) {
      if (auto status = loop_.run_once(); !status) {
        process_.last_word.say(
            fmt::format("mpirun: llamanetd: {}; the job is ended.\n", status.error().text()));
        kill_all_descendants();
        return exit_launcher;
      }
      hold_output_if_needed();
      hand_over_messages();
      if (!is_orphaned_) coordinator_.look_for_the_end();
    }
    if (coordinator_.finished()) {
      if (auto next = coordinator_.take_restart()) {
        remote_.end_all();
        return NextCourse{link_.give_up(), std::move(*next)};
      }
      link_.flush();
      remote_.end();
      return 0;
    }
    kill_all_descendants();
    // Unless it only told us to end, and says itself why.
    if (!told_to_end_ && is_dead_soon(mpirun_pidfd_, mpirun_death_max))
      process_.last_word.say(mpirun_was_killed(mpirun_));
    return exit_llamanetd_orphaned;
  }

 private:
  RemoteNodes::Actions actions() {
    RemoteNodes::Actions actions;
    actions.joined = [this](std::uint32_t node) { nodes_.joined(node); };
    actions.take = [this](std::uint32_t node, node::FromNode message) {
      from_nodes_.emplace_back(node, std::move(message));
    };
    actions.lost = [this](std::uint32_t node, const std::string& why) {
      hand_over_messages();  // what the node has said before
      nodes_.lost(node, why);
    };
    actions.agent_started = [this](pid_t agent) {
      supervisor_.spare(agent, [this, agent](int status) { remote_.agent_reaped(agent, status); });
    };
    return actions;
  }

  void take_from_own(node::FromNode message) {
    if (const auto* complaint = std::get_if<node::Unheard>(&message))
      return remote_.unheard(own_node_, complaint->nodes);
    from_nodes_.emplace_back(own_node_, std::move(message));
  }

  void take(control::Message message) {
    if (const auto* end = std::get_if<control::End>(&message)) told_to_end_ = end->kill != 0;
    if (const auto* start = std::get_if<control::Start>(&message)) return begin(*start);
    coordinator_.take(std::move(message));
    hand_over_messages();  // the ranks are there when a signal for them follows
  }

  void begin(const control::Start& job) {
    prepare(job, false);
    coordinator_.take(control::Message(job));
    start_nodes(job);
  }

  void go_on_from(JobRestart restart) {
    const control::Start job = restart.job;
    prepare(job, true);
    coordinator_.take(std::move(restart));
    start_nodes(job);
  }

  void prepare(const control::Start& job, bool starts_again) {
    own_node_ = job.nodes.empty() ? 0 : control::own_node_of(job.nodes);
    if (job.is_adopted != 0) supervisor_.adopt(std::move(process_.adoption));
    if (job.checks_nodes != 0) nodes_.set_udp_ports(udp_ports());
    nodes_.begin(job, starts_again);
  }

  void start_nodes(const control::Start& job) {
    hand_over_messages();
    if (job.nodes.empty()) return;
    if (auto status = remote_.start(job); !status) return nodes_.lost(0, status.error().text());
    if (job.is_adopted != 0) supervisor_.report(remote_.invitation());
  }

  /// By what this node is reached is known when another one has joined, which is before Prepare.
  void tell(std::uint32_t node, node::ToNode message) {
    const auto* cut = std::get_if<node::CutNode>(&message);
    if (node != own_node_) {
      remote_.send(node, message);
      if (cut && std::ranges::find(cut->from, own_node_) != cut->from.end())
        remote_.cut(node, RemoteNodes::Direction::to_node, std::chrono::nanoseconds(cut->length_ns));
      return;
    }
    if (cut)
      for (const std::uint32_t from : cut->from)
        remote_.cut(from, RemoteNodes::Direction::from_node, std::chrono::nanoseconds(cut->length_ns));
    if (std::holds_alternative<node::Prepare>(message) && !remote_.own_address().empty())
      supervisor_.set_links({remote_.own_address(), remote_.key()});
    supervisor_.take(std::move(message));
  }

  /// Until both have heard everything.
  void hand_over_messages() {
    while (!to_nodes_.empty() || !from_nodes_.empty()) {
      for (; !from_nodes_.empty(); from_nodes_.pop_front())
        nodes_.take(from_nodes_.front().first, std::move(from_nodes_.front().second));
      for (; !to_nodes_.empty(); to_nodes_.pop_front()) nodes_.take(std::move(to_nodes_.front()));
    }
  }

  void hold_output_if_needed() {
    const bool hold = must_hold_output(output_held_, link_.queued_bytes() + coordinator_.held_bytes());
    if (hold == output_held_) return;
    output_held_ = hold;
    to_nodes_.emplace_back(node::HoldOutput{hold});
  }

  JobProcess& process_;
  EventLoop loop_;
  pid_t mpirun_;
  FileDescriptor mpirun_pidfd_;
  bool told_to_end_ = false;  ///< by mpirun, at once
  bool is_orphaned_ = false;
  bool output_held_ = false;
  std::uint32_t own_node_ = 0;  ///< one behind the last if this host is none
  std::deque<node::ToNode> to_nodes_;
  std::deque<std::pair<std::uint32_t, node::FromNode>> from_nodes_;
  RemoteNodes remote_;  ///< before the supervisor, which reaps all children
  NodeSupervisor supervisor_;
  JobNodes nodes_;
  JobCoordinator coordinator_;
  ControlLink link_;
};

}  // namespace

int run_job_driver(FileDescriptor control, LastWord last_word, const ArenasFactory& make_arenas,
                   IsMpiFunction is_mpi_function, Adoption adoption) {
  fcntl(control.get(), F_SETFD, FD_CLOEXEC);
  fcntl(last_word.descriptor(), F_SETFD, FD_CLOEXEC);
  JobProcess process{std::move(last_word), make_arenas, std::move(is_mpi_function), std::move(adoption)};
  ControlLink::Stream mpirun{std::move(control)};
  std::optional<JobRestart> restart;
  for (;;) {
    // Not on the stack, which may be small.
    auto end = std::make_unique<JobCourse>(process, std::move(mpirun))->run(std::move(restart));
    if (const int* exit_code = std::get_if<int>(&end)) return *exit_code;
    auto& next = std::get<NextCourse>(end);
    mpirun = std::move(next.mpirun);
    restart = std::move(next.restart);
  }
}

}  // namespace llamada::launcher
