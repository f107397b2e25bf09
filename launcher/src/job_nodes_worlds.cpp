#include <algorithm>
#include <utility>

#include "job_nodes.hpp"

// Ranks that are added to a job on several nodes (MPI_Comm_spawn). Slots are numbered through the job, so
// this class gives them out, in order: each node adds the same slots. Numbers of ranks that could not be
// added are not used again.

namespace llamada::launcher {

std::string JobNodes::text_of(std::uint32_t node, const std::string& error) const {
  return fmt::format("the node {}: {}", nodes_[node].title, error);
}

void JobNodes::hear(std::uint32_t node, node::SpawnWanted&& message) {
  message.question.number = remember(node, message.question.number);
  tell_coordinator_(std::move(message));
}

void JobNodes::give(node::AddRanks&& message) {
  const auto first = static_cast<std::uint32_t>(slots_.size());
  if (stage_ != Stage::running)
    return tell_coordinator_(node::RanksAdded{message.question, 0, "the job does not run", {}});
  if (const std::uint32_t added = first - slots_at_start_; message.count > spawned_count_max - added)
    return tell_coordinator_(node::RanksAdded{
        message.question,
        0,
        fmt::format("a job on several nodes may start {} processes by MPI_Comm_spawn, and this one has "
                    "started {}",
                    spawned_count_max, added),
        {}});
  Adding& adding = adding_[message.question];
  adding.first = first;
  adding.count = message.count;
  for (const std::uint32_t node : message.nodes) slots_.push_back({node});
  for (std::uint32_t node = 0; node < nodes_.size(); ++node)
    if (!nodes_[node].is_lost) adding.added[node];
  tell_all(message);
}

void JobNodes::hear(std::uint32_t node, node::RanksAdded&& message) {
  const auto adding = adding_.find(message.question);
  if (adding == adding_.end()) return;
  const auto asked = adding->second.added.find(node);
  if (asked == adding->second.added.end()) return;
  asked->second = std::move(message.endpoints);
  if (adding->second.error.empty() && !message.error.empty())
    adding->second.error = text_of(node, message.error);
  look_at_adding(message.question);
}

void JobNodes::hear(std::uint32_t node, node::RanksMet&& message) {
  const auto adding = adding_.find(message.question);
  if (adding == adding_.end()) return;
  adding->second.met[node] = true;
  if (adding->second.error.empty() && !message.error.empty())
    adding->second.error = text_of(node, message.error);
  look_at_adding(message.question);
}

void JobNodes::look_at_adding(std::uint64_t question) {
  Adding& adding = adding_.at(question);
  const auto is_answered = [](const auto& each) { return each.second.has_value(); };
  if (!std::all_of(adding.added.begin(), adding.added.end(), is_answered)) return;
  const auto has_met = [](const auto& each) { return each.second; };
  if (!std::all_of(adding.met.begin(), adding.met.end(), has_met)) return;
  if (!adding.error.empty()) return give_up_adding(question, std::string(adding.error));
  if (adding.met.empty()) {
    node::MeetRanks meet{question, std::vector<std::string>(nodes_.size())};
    for (const auto& [node, endpoints] : adding.added) {
      meet.endpoints[node] = *endpoints;
      adding.met[node] = false;
    }
    return tell_all(meet);
  }
  const std::uint32_t first = adding.first;
  adding_.erase(question);
  tell_coordinator_(node::RanksAdded{question, first, {}, {}});
}

void JobNodes::give_up_adding(std::uint64_t question, const std::string& why) {
  const auto adding = adding_.extract(question);
  const auto& [first, count, error, added, met] = adding.mapped();
  for (std::uint32_t slot = first; slot < first + count; ++slot) slots_[slot].is_done = true;
  tell_all(node::DropRanks{first, count});
  tell_coordinator_(node::RanksAdded{question, 0, why, {}});
}

/// A rank that waits at the end of MPI_Finalize for ranks of other worlds, which may wait for it.
void JobNodes::hear(std::uint32_t, node::Said&& message) {
  if (message.kind != ArenaEventKind::finalized) return tell_coordinator_(std::move(message));
  if (message.slot < slots_.size()) tell_others(message.slot, RemoteState::finalized);
}

}  // namespace llamada::launcher
