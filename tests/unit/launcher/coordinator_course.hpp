#pragma once

#include <string>
#include <utility>
#include <vector>

#include "job_coordinator.hpp"
#include "llamada/qos/serialization.hpp"
#include "profiles.hpp"
#include "test.hpp"

// A job that outlives its nodes, decided without a process: what nodes would say is told, and what they are
// told is looked at.

namespace llamada::launcher::two_nodes {

/// Ranks 0 and 1 on mpirun's own node, 2 and 3 on b; c is a spare.
inline control::Start job_on_two_nodes() {
  qos::Profile profile = fault_tolerant();
  profile.datawriter_qos.durability.kind = profile.datareader_qos.durability.kind =
      qos::DurabilityKind::transient;
  control::Start job;
  job.rank_count = 4;
  job.job_number = 0xabc;
  job.program = "/bin/program";
  job.profile = qos::serialize(profile);
  job.profile_label = "node-fault-tolerant";
  job.nodes = {{"a", {}, 2}, {"b", {"ssh", "b"}, 2}};
  job.node_of_rank = {0, 0, 1, 1};
  job.spares = {{"c", {"ssh", "c"}, 2}};
  return job;
}

/// The coordinator of such a job.
struct Course {
  Course()
      : coordinator(
            loop, [this](control::Message message) { to_mpirun.push_back(std::move(message)); },
            [this](node::ToNode message) { to_nodes.push_back(std::move(message)); }) {}

  /// `checkpoints`: the directory for them.
  void begin(const std::string& checkpoints = {}) {
    control::Start job = job_on_two_nodes();
    job.storing.checkpoints = checkpoints;
    coordinator.take(control::Message(std::move(job)));
    run();
  }
  /// All ranks have been started and have attached.
  void run() {
    coordinator.take(node::Ready{"a", {}, {}});
    coordinator.take(node::Ready{"b", {}, {}});
    for (std::uint32_t slot = 0; slot < 4; ++slot) {
      coordinator.take(node::Started{slot, 100 + static_cast<std::int32_t>(slot)});
      coordinator.take(node::Attached{slot, 100 + static_cast<std::int32_t>(slot)});
    }
  }
  template <typename Condition>
  void wait_until(const Condition& condition) {
    for (int i = 0; i < 1000 && !condition(); ++i) {
      loop.after(std::chrono::milliseconds(5), [] {});
      REQUIRE(loop.run_once());
    }
    REQUIRE(condition());
  }
  void all_end() {
    for (std::uint32_t slot = 0; slot < 4; ++slot) coordinator.take(node::Done{slot, {}});
    coordinator.look_for_the_end();
  }
  template <typename Wanted>
  std::vector<Wanted> told() const {
    std::vector<Wanted> found;
    for (const auto& message : to_nodes)
      if (const auto* each = std::get_if<Wanted>(&message)) found.push_back(*each);
    return found;
  }
  std::string shown() const {
    std::string text;
    for (const auto& message : to_mpirun)
      if (const auto* output = std::get_if<control::Output>(&message)) text += output->bytes;
    return text;
  }
  std::string notices() const {
    std::string text;
    for (const auto& message : to_mpirun)
      if (const auto* notice = std::get_if<control::Notice>(&message)) text += notice->text;
    return text;
  }

  EventLoop loop;
  std::vector<control::Message> to_mpirun;
  std::vector<node::ToNode> to_nodes;
  JobCoordinator coordinator;
};

inline const log::JournalEntry an_outcome{1, 2, 3};

inline bool contains(const std::string& text, const std::string& part) {
  return text.find(part) != std::string::npos;
}

}  // namespace llamada::launcher::two_nodes
