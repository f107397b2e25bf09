#pragma once

#include <chrono>
#include <cstdint>
#include <functional>
#include <list>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "event_loop.hpp"
#include "message_link.hpp"
#include "node_agent_process.hpp"
#include "node_handshake.hpp"
#include "node_hearing.hpp"
#include "node_lease.hpp"
#include "tcp.hpp"

namespace llamada::launcher {

/// The other nodes of a job as the coordinator's process reaches them: starts an agent for each, lets the
/// llamanetds that these start connect, and carries the messages of node_messages.hpp to and from them.
///
/// Threads: one. Handlers of the event loop call the actions.
class RemoteNodes {
 public:
  struct Actions {
    std::function<void(std::uint32_t node)> joined;
    std::function<void(std::uint32_t node, node::FromNode)> take;
    /// Once for each node at most; nothing of it follows.
    std::function<void(std::uint32_t node, std::string why)> lost;
    /// A process that has been started, and is no rank.
    std::function<void(pid_t)> agent_started;
  };
  RemoteNodes(EventLoop& loop, AgentSurroundings surroundings, Actions actions);
  ~RemoteNodes();
  RemoteNodes(const RemoteNodes&) = delete;
  RemoteNodes& operator=(const RemoteNodes&) = delete;

  /// Starts the agents of the nodes that have one. A node whose agent cannot be started is lost. Errors:
  /// there is no socket, or no random number to be had.
  Status start(const control::Start& job);
  /// To a node that has joined and is not lost; else nothing happens. Prepare says how long leases are.
  void send(std::uint32_t node, const node::ToNode& message);

  /// A node, or this process's own, has not heard these others for long.
  void unheard(std::uint32_t node, const std::vector<std::uint32_t>& others);

  /// For a test: for so long (0: from now on) nothing of what is sent reaches the node, or nothing of what it
  /// sends is taken. It comes later, as by a stream over a network that was cut.
  enum class Direction { to_node, from_node };
  void cut(std::uint32_t node, Direction direction, std::chrono::nanoseconds length);

  /// The IP address by which a node that has joined has reached this host; empty before the first has.
  const std::string& own_address() const { return own_address_; }
  /// What a node must know that comes by itself, with an adopted job: "job number;addresses;port;secret".
  std::string invitation() const;
  std::array<std::uint8_t, 16> key() const { return frame_key(secret_, job_number_); }

  /// The process of an agent has ended, and another part of this process has taken its status.
  void agent_reaped(pid_t agent, int wait_status);

  /// The job is over: hangs up, and waits for the agents to end, but not for long.
  void end();
  /// The same, and nothing is left of the agents: those of lost nodes are killed.
  void end_all();

 private:
  struct Remote {
    std::string name;                       ///< of the host
    bool is_other = false;                  ///< it is not this process's own
    std::optional<NodeAgentProcess> agent;  ///< none if it comes by itself, too
    std::unique_ptr<LinkToNode> link;
    bool is_lost = false;
    std::uint32_t cuts_to = 0, cuts_from = 0;
  };
  /// A connection of nobody knows whom.
  struct Stranger {
    FileDescriptor socket;
    NodeGreeting greeting;
    std::vector<std::byte> read;
    std::uint64_t timer = 0;
  };
  using Strangers = std::list<Stranger>;

  std::vector<std::string> command_for(std::uint32_t node, const std::vector<std::string>& agent) const;
  void start_agent(std::uint32_t node, const std::vector<std::string>& agent);
  void wait_for_agents(std::chrono::milliseconds max);
  void look_at_agents();
  void agent_ended(std::uint32_t node, int wait_status);
  void accept_all();
  void read(Strangers::iterator stranger);
  Status take(Stranger& stranger);
  void drop(Strangers::iterator stranger);
  void welcome(Strangers::iterator stranger);
  void look_for_late_ones();
  void take(std::uint32_t node, node::FromNode message);
  void look_at_leases();
  void lose(std::uint32_t node, std::string why);
  void cut_more(std::uint32_t node, Direction direction, std::int32_t more);

  EventLoop& loop_;
  AgentSurroundings surroundings_;
  Actions actions_;
  std::uint64_t job_number_ = 0;
  std::uint32_t own_node_ = 0;  ///< one behind the last if this host is none
  NodeSecret secret_{};
  Listener listener_;
  std::string own_address_;
  std::vector<Remote> remotes_;  ///< by node
  Strangers strangers_;          ///< the oldest first
  std::chrono::nanoseconds lease_length_{0};
  std::optional<NodeLeases> leases_;          ///< since a node has asked
  std::optional<NodeComplaints> complaints_;  ///< since then, too
};

}  // namespace llamada::launcher
