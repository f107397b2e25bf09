#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "llamada/launcher/job_control.hpp"
#include "node_messages.hpp"

namespace llamada::launcher {

/// The nodes of a job, which the coordinator talks to as if they were one: gives each node what is for its
/// ranks, or for all, and makes one answer of the answers of all. Of a job on one node it changes nothing. It
/// knows no stream: who drives it says which nodes have joined, and which are lost.
///
/// Pure. One thread. Neither `tell` function may call back.
class JobNodes {
 public:
  using TellNode = std::function<void(std::uint32_t node, node::ToNode)>;
  using TellCoordinator = std::function<void(node::FromNode)>;
  JobNodes(TellNode tell_node, TellCoordinator tell_coordinator)
      : tell_node_(std::move(tell_node)), tell_coordinator_(std::move(tell_coordinator)) {}

  /// This host's net.ipv4.ip_local_port_range, for a hint at firewalls.
  void set_udp_ports(std::string ports) { udp_ports_ = std::move(ports); }
  /// The job, before anything else. One without nodes has one, which is there. With `starts_again` a node
  /// that is lost before the ranks run is told as NodeLost, as those are that are lost later.
  void begin(const control::Start& job, bool starts_again = false);

  /// From the coordinator.
  void take(node::ToNode message);
  /// From a node.
  void take(std::uint32_t node, node::FromNode message);
  /// The node can be talked to from now on.
  void joined(std::uint32_t node);
  /// Nothing will come of the node any more; `why` says what has happened to it ("its agent …"). Its ranks
  /// count as done.
  void lost(std::uint32_t node, const std::string& why);

 private:
  /// What has been heard of all nodes; `starting`: no rank runs before the last of these.
  enum class Stage { joining, preparing, probing, meeting, running, over };
  struct Node {
    std::string name;
    std::string title;  ///< for messages: "'b' (hosts:3)"
    bool has_joined = false;
    bool is_lost = false;
    bool has_met = false;
    std::optional<node::Ready> ready;
    std::optional<NodeProbe> probe;
    std::string fault;  ///< of a job that only looks at its nodes
  };
  struct Slot {
    std::uint32_t node = 0;
    std::uint32_t incarnation = 1;
    bool is_done = false;
  };
  /// Ranks that are being added (MPI_Comm_spawn): all nodes make slots for them, then all learn where the
  /// others' ranks are.
  struct Adding {
    std::uint32_t first = 0;
    std::uint32_t count = 0;
    std::string error;                                          ///< of the first node that cannot
    std::map<std::uint32_t, std::optional<std::string>> added;  ///< endpoints, by node that was asked
    std::map<std::uint32_t, bool> met;                          ///< by node that was asked then
  };
  struct Question {
    std::uint32_t node = 0;
    std::uint64_t number = 0;
  };

  bool is_starting() const { return stage_ < Stage::running; }
  bool is_one_node() const { return nodes_.empty(); }
  bool all(bool (*holds)(const Node&)) const;
  bool has_ranks(std::uint32_t node) const;
  std::uint32_t node_of(std::uint32_t slot) const { return slot < slots_.size() ? slots_[slot].node : 0; }
  void tell(std::uint32_t node, node::ToNode message);
  void tell_all(const node::ToNode& message);
  void tell_others(std::uint32_t slot, RemoteState state);
  void go_on();
  std::vector<std::string> endpoints() const;
  void choose_link();
  void report();
  std::string nodes_text() const;
  void refuse(std::uint32_t node, const std::string& why);
  template <typename Answer>
  void answer(Answer message);
  std::uint64_t remember(std::uint32_t node, std::uint64_t question);
  void look_at_adding(std::uint64_t question);
  void give_up_adding(std::uint64_t question, const std::string& why);
  std::string text_of(std::uint32_t node, const std::string& error) const;
  template <typename Answer>
  void ask_all(std::map<std::uint32_t, std::optional<Answer>>& answers, const node::ToNode& message);
  template <typename Answer>
  void take_answer(std::map<std::uint32_t, std::optional<Answer>>& answers, std::uint32_t node,
                   Answer answer);
  void look_for_answers();

  // From the coordinator: for one node, or for all.
  void give(node::Prepare&& message);
  void give(node::StartRanks&& message);
  void give(node::AddRanks&& message);
  void give(node::EndJob&& message);
  void give(node::KillAll&& message);
  void give(node::Die&& message);
  void give(node::KillNode&& message) { tell(message.node, message); }
  void give(node::PauseNode&& message) { tell(message.node, message); }
  void give(node::CutNode&& message) { tell(message.node, message); }
  void give(node::Survey&& message);
  void give(node::AskWaits&& message);
  void give(node::AskStack&& message);
  void give(node::MakeCut&& message);
  void give(node::RestoreJournal&& message);
  void give(node::AnswerSpawn&& message);
  void give(node::AnswerShared&& message);
  void give(node::AnswerReach&& message);
  void give(node::AnswerAgreement&& message);
  void give(node::AnswerInject&& message);
  void give(control::Input&& message);
  template <typename Message>
  void give(Message&& message);

  // From a node.
  void hear(std::uint32_t node, node::Ready&& message);
  void hear(std::uint32_t node, node::Probed&& message);
  void hear(std::uint32_t node, node::Met&& message);
  void hear(std::uint32_t node, node::NotReady&& message);
  void hear(std::uint32_t node, node::CannotStart&& message);
  void hear(std::uint32_t node, node::Ended&& message);
  void hear(std::uint32_t node, node::Done&& message);
  void hear(std::uint32_t node, node::Reached&& message);
  void hear(std::uint32_t node, node::RanksAdded&& message);
  void hear(std::uint32_t node, node::RanksMet&& message);
  void hear(std::uint32_t node, node::Said&& message);
  void hear(std::uint32_t node, node::SpawnWanted&& message);
  void hear(std::uint32_t node, node::SharedWanted&& message);
  void hear(std::uint32_t node, node::InjectWanted&& message);
  void hear(std::uint32_t node, node::AgreementWanted&& message);
  void hear(std::uint32_t node, node::Surveyed&& message);
  void hear(std::uint32_t node, node::Waits&& message);
  void hear(std::uint32_t node, node::Stack&& message);
  void hear(std::uint32_t node, node::Cut&& message);
  void hear(std::uint32_t node, node::NodeFailed&& message);
  void hear(std::uint32_t node, node::NodeStopping&&) { tell_coordinator_(node::NodeStopping{node}); }
  template <typename Message>
  void hear(std::uint32_t, Message&& message) {
    tell_coordinator_(std::forward<Message>(message));
  }

  TellNode tell_node_;
  TellCoordinator tell_coordinator_;
  Stage stage_ = Stage::joining;
  std::vector<Node> nodes_;  ///< empty: a job on one node
  std::vector<Slot> slots_;
  std::uint32_t slots_at_start_ = 0;
  std::uint32_t own_node_ = 0;  ///< that of the coordinator's process; the first one if it is none
  bool tells_of_link_ = false;
  bool checks_nodes_ = false;
  bool starts_again_ = false;
  std::string udp_ports_;
  std::optional<node::Prepare> prepare_;
  std::map<std::uint64_t, Adding> adding_;       ///< by question
  std::map<std::uint64_t, Question> questions_;  ///< of nodes, by the numbers that the coordinator sees
  std::uint64_t last_question_ = 0;
  std::map<std::uint32_t, std::optional<node::Surveyed>> surveyed_;  ///< by node that was asked
  std::map<std::uint32_t, std::optional<node::Waits>> waits_;
  std::uint64_t waits_question_ = 0;
  std::map<std::uint64_t, std::uint32_t> stacks_;          ///< nodes that were asked, by question
  std::map<std::uint32_t, std::optional<node::Cut>> cut_;  ///< the one that is being made
};

}  // namespace llamada::launcher
