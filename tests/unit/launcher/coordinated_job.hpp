#pragma once

#include <signal.h>

#include <optional>
#include <string>
#include <vector>

#include "job_coordinator.hpp"
#include "llamada/qos/serialization.hpp"
#include "profiles.hpp"
#include "test.hpp"

// A job's coordinator without a process: what the node would say is told, and what it is told is looked at.

namespace llamada::launcher {

inline control::Start job_of(std::uint32_t rank_count, qos::RankReplacementKind kind) {
  qos::Profile profile;
  if (kind == qos::RankReplacementKind::rebuild) profile = fault_tolerant();
  profile.rank_replacement.kind = kind;
  control::Start job;
  job.rank_count = rank_count;
  job.job_number = 0xabc;
  job.program = "/bin/program";
  job.profile = qos::serialize(profile);
  job.profile_label = "a profile";
  return job;
}

/// A coordinator between an mpirun and a node that only remember what they were told.
struct Job {
  explicit Job(const control::Start& job)
      : coordinator(
            loop, [this](control::Message message) { to_mpirun.push_back(std::move(message)); },
            [this](node::ToNode message) { to_node.push_back(std::move(message)); }) {
    coordinator.take(control::Message(job));
  }

  void says(node::FromNode message) { coordinator.take(std::move(message)); }
  /// The node starts what it was told to start.
  node::StartRanks runs() {
    auto start = last<node::StartRanks>(to_node);
    REQUIRE(start);
    for (const node::RankStart& rank : start->ranks)
      says(node::Started{rank.slot, static_cast<std::int32_t>(100 * rank.incarnation + rank.slot)});
    return *start;
  }
  void ends(std::uint32_t slot, int status, RankState state = RankState::in_program, std::uint64_t call = 7) {
    node::Ended end;
    end.slot = slot;
    end.root_status = status;
    end.view.state = state;
    end.view.call_index = call;
    says(end);
  }
  void is_done(std::uint32_t slot) { says(node::Done{slot, {}}); }

  /// The last message of a kind.
  template <typename Wanted, typename Messages>
  static std::optional<Wanted> last(const Messages& messages) {
    for (auto at = messages.rbegin(); at != messages.rend(); ++at)
      if (const auto* found = std::get_if<Wanted>(&*at)) return *found;
    return std::nullopt;
  }
  template <typename Wanted>
  std::size_t count_to_node() const {
    std::size_t count = 0;
    for (const auto& message : to_node) count += std::holds_alternative<Wanted>(message);
    return count;
  }
  std::string output_of(std::uint32_t slot) const {
    std::string all;
    for (const auto& message : to_mpirun)
      if (const auto* output = std::get_if<control::Output>(&message))
        if (output->rank == slot && output->stream == 1) all += output->bytes;
    return all;
  }
  std::string notices() const {
    std::string all;
    for (const auto& message : to_mpirun)
      if (const auto* notice = std::get_if<control::Notice>(&message)) all += notice->text;
    return all;
  }
  std::optional<control::Finished> finish() {
    coordinator.look_for_the_end();
    return last<control::Finished>(to_mpirun);
  }

  EventLoop loop;
  std::vector<control::Message> to_mpirun;
  std::vector<node::ToNode> to_node;
  JobCoordinator coordinator;
};

constexpr int killed = SIGKILL;
constexpr int exited(int code) { return code << 8; }

}  // namespace llamada::launcher
