#include "job_nodes.hpp"

#include <algorithm>
#include <type_traits>
#include <utility>

#include "link_choice.hpp"
#include "node_check.hpp"

namespace llamada::launcher {
namespace {

/// A message about one rank.
template <typename Message>
concept IsForRank = requires(Message message) {
  message.slot;
};

}  // namespace

void JobNodes::begin(const control::Start& job, bool starts_again) {
  starts_again_ = starts_again;
  for (const control::Node& node : job.nodes) {
    if (node.agent.empty()) own_node_ = static_cast<std::uint32_t>(nodes_.size());
    nodes_.push_back({node.name,
                      node.place.empty() ? fmt::format("'{}'", node.name)
                                         : fmt::format("'{}' ({})", node.name, node.place),
                      node.agent.empty()});
  }
  for (const std::uint32_t node : job.node_of_rank) slots_.push_back({node});
  tells_of_link_ = job.verbose != 0;
  slots_at_start_ = static_cast<std::uint32_t>(slots_.size());
  checks_nodes_ = job.checks_nodes != 0;
}

void JobNodes::take(node::ToNode message) {
  if (is_one_node()) return tell_node_(0, std::move(message));
  std::visit([this](auto& each) { give(std::move(each)); }, message);
}

void JobNodes::take(std::uint32_t node, node::FromNode message) {
  if (is_one_node()) return tell_coordinator_(std::move(message));
  if (stage_ == Stage::over || nodes_[node].is_lost) return;
  std::visit([this, node](auto& each) { hear(node, std::move(each)); }, message);
}

bool JobNodes::has_ranks(std::uint32_t node) const {
  return std::any_of(slots_.begin(), slots_.end(), [node](const Slot& slot) { return slot.node == node; });
}

bool JobNodes::all(bool (*holds)(const Node&)) const {
  return std::all_of(nodes_.begin(), nodes_.end(), holds);
}

void JobNodes::tell(std::uint32_t node, node::ToNode message) {
  if (!nodes_[node].is_lost) tell_node_(node, std::move(message));
}

void JobNodes::tell_all(const node::ToNode& message) {
  for (std::uint32_t node = 0; node < nodes_.size(); ++node)
    if (nodes_[node].has_joined) tell(node, message);
}

void JobNodes::tell_others(std::uint32_t slot, RemoteState state) {
  for (std::uint32_t node = 0; node < nodes_.size(); ++node)
    if (node != node_of(slot)) tell(node, node::SetRemote{slot, state, slots_[slot].incarnation});
}

// The start: all have joined, all have arenas, all know each other; then the coordinator hears that the node
// is ready, and starts the ranks.

void JobNodes::joined(std::uint32_t node) {
  nodes_[node].has_joined = true;
  go_on();
}

void JobNodes::give(node::Prepare&& message) {
  prepare_ = std::move(message);
  go_on();
}

void JobNodes::go_on() {
  if (stage_ == Stage::joining && prepare_ &&
      all([](const Node& node) { return node.has_joined || !node.fault.empty(); })) {
    stage_ = Stage::preparing;
    for (std::uint32_t node = 0; node < nodes_.size(); ++node) {
      node::Prepare prepare = *prepare_;
      prepare.own_node = node;
      // Nothing is started on a node without ranks, unless ranks are added there.
      if (!has_ranks(node)) {
        prepare.programs.clear();
        prepare.working_directory.clear();
      }
      tell(node, std::move(prepare));
    }
  }
  if (stage_ == Stage::preparing && all([](const Node& node) { return node.ready || !node.fault.empty(); })) {
    stage_ = Stage::probing;
    tell_all(node::ProbeNodes{endpoints()});
  }
  if (stage_ == Stage::probing && all([](const Node& node) { return node.probe || !node.fault.empty(); }))
    checks_nodes_ ? report() : choose_link();
  if (stage_ == Stage::meeting && all([](const Node& node) { return node.has_met; })) {
    stage_ = Stage::running;
    for (const Node& node : nodes_) tell_coordinator_(*node.ready);
  }
}

std::vector<std::string> JobNodes::endpoints() const {
  std::vector<std::string> endpoints;
  for (const Node& node : nodes_)
    endpoints.push_back(node.fault.empty() && node.ready ? node.ready->endpoints : std::string());
  return endpoints;
}

void JobNodes::report() {
  stage_ = Stage::over;
  std::vector<CheckedNode> checked;
  for (Node& node : nodes_) checked.push_back({node.name, node.fault, node.probe.value_or(NodeProbe())});
  NodesReport report = report_on_nodes(checked, udp_ports_);
  tell_coordinator_(node::Checked{std::move(report.text), report.is_good});
}

void JobNodes::choose_link() {
  std::vector<NodeProbe> probes;
  std::vector<std::string> names;
  for (const Node& node : nodes_) {
    probes.push_back(*node.probe);
    names.push_back(node.name);
  }
  auto chosen = launcher::choose_link(prepare_->link, probes, names);
  if (!chosen) {
    stage_ = Stage::over;
    return tell_coordinator_(node::NotReady{chosen.error().text() + "."});
  }
  stage_ = Stage::meeting;
  if (tells_of_link_)
    tell_coordinator_(control::Notice{fmt::format("mpirun: {}; the link between them is {} ({}).\n",
                                                  nodes_text(), chosen->what, chosen->why)});
  tell_all(node::MeetNodes{endpoints(), chosen->choice});
}

/// "4 ranks on 2 nodes: a (3), b (1)"
std::string JobNodes::nodes_text() const {
  constexpr std::size_t names_max = 16;
  std::string text = fmt::format("{} ranks on {} nodes: ", slots_.size(), nodes_.size());
  for (std::uint32_t node = 0; node < std::min(nodes_.size(), names_max); ++node)
    text += fmt::format("{}{} ({})", node == 0 ? "" : ", ", nodes_[node].name,
                        std::ranges::count(slots_, node, &Slot::node));
  return nodes_.size() > names_max ? text + fmt::format(" and {} more", nodes_.size() - names_max) : text;
}

void JobNodes::hear(std::uint32_t node, node::Ready&& message) {
  nodes_[node].ready = std::move(message);
  go_on();
}

void JobNodes::hear(std::uint32_t node, node::Probed&& message) {
  nodes_[node].probe = std::move(message.probe);
  nodes_[node].probe->pairs.resize(nodes_.size());
  go_on();
}

void JobNodes::hear(std::uint32_t node, node::Met&&) {
  nodes_[node].has_met = true;
  go_on();
}

void JobNodes::hear(std::uint32_t node, node::NotReady&& message) { refuse(node, message.why); }

void JobNodes::refuse(std::uint32_t node, const std::string& why) {
  if (!is_starting()) return;
  if (checks_nodes_) {
    const bool is_alone = node == own_node_ && std::ranges::count(nodes_, std::string(), &Node::fault) == 1;
    nodes_[node].fault = is_alone ? "no other node has connected to it" : why;
    nodes_[node].is_lost = true;
    return go_on();
  }
  stage_ = Stage::over;
  tell_coordinator_(node::NotReady{text_of(node, why)});
}

// What is for some nodes, or for all.

template <typename Message>
void JobNodes::give(Message&& message) {
  if constexpr (IsForRank<std::remove_cvref_t<Message>>) {
    const std::uint32_t node = node_of(message.slot);
    tell(node, std::forward<Message>(message));
  } else {
    tell_all(node::ToNode(std::forward<Message>(message)));
  }
}

void JobNodes::give(node::StartRanks&& message) {
  std::vector<node::StartRanks> parts(nodes_.size());
  for (node::RankStart& start : message.ranks) {
    if (start.slot < slots_.size() && start.incarnation > 1) {
      slots_[start.slot].incarnation = start.incarnation;
      tell_others(start.slot, RemoteState::running);
    }
    parts[node_of(start.slot)].ranks.push_back(std::move(start));
  }
  for (std::uint32_t node = 0; node < nodes_.size(); ++node)
    if (!parts[node].ranks.empty()) tell(node, std::move(parts[node]));
}

/// The job ends before it has begun: nobody waits for nodes that are on their way.
void JobNodes::give(node::EndJob&& message) {
  if (!is_starting()) return tell_all(message);
  stage_ = Stage::over;
  tell_coordinator_(node::Ready{});
}

void JobNodes::give(node::KillAll&& message) { tell_all(message); }
void JobNodes::give(node::RestoreJournal&& message) {
  const std::uint32_t node = node_of(message.piece.rank);
  tell(node, std::move(message));
}
void JobNodes::give(node::Die&& message) { tell(own_node_, message); }
void JobNodes::give(control::Input&& message) { tell(node_of(0), std::move(message)); }

// Questions of nodes, which have numbers of their own.

std::uint64_t JobNodes::remember(std::uint32_t node, std::uint64_t question) {
  questions_[++last_question_] = {node, question};
  return last_question_;
}

template <typename Answer>
void JobNodes::answer(Answer message) {
  const auto found = questions_.find(message.question);
  if (found == questions_.end()) return;
  message.question = found->second.number;
  tell(found->second.node, std::move(message));
  questions_.erase(found);
}

void JobNodes::give(node::AnswerReach&& message) { answer(message); }
void JobNodes::give(node::AnswerAgreement&& message) { answer(std::move(message)); }
void JobNodes::give(node::AnswerShared&& message) { answer(std::move(message)); }
void JobNodes::give(node::AnswerInject&& message) { answer(std::move(message)); }
void JobNodes::give(node::AnswerSpawn&& message) { answer(std::move(message)); }

void JobNodes::hear(std::uint32_t node, node::Reached&& message) {
  message.question = remember(node, message.question);
  tell_coordinator_(message);
}

void JobNodes::hear(std::uint32_t node, node::InjectWanted&& message) {
  message.question = remember(node, message.question);
  tell_coordinator_(std::move(message));
}

void JobNodes::hear(std::uint32_t node, node::AgreementWanted&& message) {
  message.question.number = remember(node, message.question.number);
  tell_coordinator_(std::move(message));
}

void JobNodes::hear(std::uint32_t node, node::SharedWanted&& message) {
  message.question.number = remember(node, message.question.number);
  tell_coordinator_(std::move(message));
}

// Questions for all nodes, whose answers are put together.

template <typename Answer>
void JobNodes::ask_all(std::map<std::uint32_t, std::optional<Answer>>& answers, const node::ToNode& message) {
  answers.clear();
  for (std::uint32_t node = 0; node < nodes_.size(); ++node)
    if (!nodes_[node].is_lost) answers[node];
  tell_all(message);
}

template <typename Answer>
void JobNodes::take_answer(std::map<std::uint32_t, std::optional<Answer>>& answers, std::uint32_t node,
                           Answer answer) {
  if (const auto asked = answers.find(node); asked != answers.end()) asked->second = std::move(answer);
  look_for_answers();
}

void JobNodes::give(node::Survey&& message) {
  if (surveyed_.empty()) ask_all(surveyed_, message);  // else the answer is on its way
}

void JobNodes::give(node::AskWaits&& message) {
  waits_question_ = message.question;
  ask_all(waits_, message);
}

void JobNodes::give(node::AskStack&& message) {
  const std::uint32_t node = node_of(message.slot);
  if (nodes_[node].is_lost) return tell_coordinator_(node::Stack{message.question, {}});
  stacks_[message.question] = node;
  tell(node, message);
}

void JobNodes::give(node::MakeCut&& message) { ask_all(cut_, message); }

void JobNodes::hear(std::uint32_t node, node::Cut&& message) { take_answer(cut_, node, std::move(message)); }

void JobNodes::hear(std::uint32_t node, node::Surveyed&& message) { take_answer(surveyed_, node, message); }

void JobNodes::hear(std::uint32_t node, node::Waits&& message) {
  if (message.question == waits_question_) take_answer(waits_, node, std::move(message));
}

void JobNodes::hear(std::uint32_t, node::Stack&& message) {
  stacks_.erase(message.question);
  tell_coordinator_(std::move(message));
}

void JobNodes::look_for_answers() {
  const auto is_complete = [](const auto& answers) {
    return !answers.empty() && std::all_of(answers.begin(), answers.end(),
                                           [](const auto& each) { return each.second.has_value(); });
  };
  if (is_complete(surveyed_)) {
    node::Surveyed sum;
    for (const auto& [node, part] : std::exchange(surveyed_, {})) {
      sum.ranks_running += part->ranks_running;
      sum.ranks_in_mpi += part->ranks_in_mpi;
    }
    tell_coordinator_(sum);
  }
  if (is_complete(waits_)) {
    node::Waits sum{waits_question_, {}};
    for (auto& [node, part] : std::exchange(waits_, {}))
      std::move(part->ranks.begin(), part->ranks.end(), std::back_inserter(sum.ranks));
    for (std::uint32_t slot = 0; slot < slots_.size(); ++slot)
      if (nodes_[slots_[slot].node].is_lost)
        sum.ranks.push_back({slot, waits::SurveyedRank::Course::ended, std::nullopt});
    tell_coordinator_(std::move(sum));
  }
  if (is_complete(cut_)) {
    node::Cut whole;
    for (auto& [node, part] : std::exchange(cut_, {})) {
      std::move(part->pieces.begin(), part->pieces.end(), std::back_inserter(whole.pieces));
      if (whole.error.empty() && !part->error.empty()) whole.error = text_of(node, part->error);
    }
    tell_coordinator_(std::move(whole));
  }
}

// The ends of ranks and of nodes.

void JobNodes::hear(std::uint32_t node, node::CannotStart&& message) {
  message.why = text_of(node, message.why);
  tell_coordinator_(std::move(message));
}

void JobNodes::hear(std::uint32_t, node::Ended&& message) {
  const RankState state = message.view.state;
  const bool was_in_mpi = state != RankState::none && state != RankState::finalized;
  if (was_in_mpi && message.slot < slots_.size()) tell_others(message.slot, RemoteState::dead);
  tell_coordinator_(std::move(message));
}

void JobNodes::hear(std::uint32_t, node::Done&& message) {
  if (message.slot < slots_.size() && !std::exchange(slots_[message.slot].is_done, true))
    tell_others(message.slot, RemoteState::done);
  tell_coordinator_(std::move(message));
}

void JobNodes::hear(std::uint32_t node, node::NodeFailed&& message) {
  tell_coordinator_(node::NodeFailed{text_of(node, message.why)});
}

void JobNodes::lost(std::uint32_t node, const std::string& why) {
  if (stage_ == Stage::over || std::exchange(nodes_[node].is_lost, true)) return;
  if (is_starting() && starts_again_) {
    stage_ = Stage::over;
    return tell_coordinator_(node::NodeLost{node, nodes_[node].title, why});
  }
  if (is_starting()) return refuse(node, why);
  cut_.clear();  // without the node's part, what the others have may not be whole
  tell_coordinator_(node::NodeLost{node, nodes_[node].title, why});
  surveyed_.erase(node);
  waits_.erase(node);
  look_for_answers();
  std::erase_if(stacks_, [&](const auto& asked) {
    if (asked.second == node) tell_coordinator_(node::Stack{asked.first, {}});
    return asked.second == node;
  });
  while (!adding_.empty()) give_up_adding(adding_.begin()->first, text_of(node, "it is lost"));
  for (std::uint32_t slot = 0; slot < slots_.size(); ++slot) {
    if (slots_[slot].node != node || std::exchange(slots_[slot].is_done, true)) continue;
    tell_coordinator_(node::Done{slot, {}});
  }
}

}  // namespace llamada::launcher
