#pragma once

#include <map>
#include <memory>
#include <string>
#include <vector>

#include "llamada/base/clock.hpp"
#include "llamada/topics/participant.hpp"

namespace llamada::tools {

struct TapOptions {
  std::uint32_t domain = 0;
  std::string name;                 ///< Of the participant: "llamada spy".
  std::vector<std::string> topics;  ///< Empty: all.
  bool with_history = false;        ///< Readers request TRANSIENT_LOCAL.
  /// Readers request the RELIABILITY and DURABILITY that each writer offers. Else they are BEST_EFFORT, and
  /// no writer waits for them.
  bool as_offered = false;
};

/// What a TopicTap tells, from within poll().
class TapEvents {
 public:
  virtual ~TapEvents() = default;
  /// Before the writer's samples. `participant`: "sensor (pid 17)".
  virtual void on_writer(const topics::EndpointInfo& writer, const std::string& participant) = 0;
  virtual void on_writer_changed(const topics::EndpointInfo& writer) = 0;
  virtual void on_sample(const topics::EndpointId& writer, const topics::Sample& sample) = 0;
  virtual void on_samples_lost(const topics::EndpointId& writer, std::uint64_t count) = 0;
  /// After the writer's samples. `died`: its process has; else the writer was deleted or changed its
  /// policies.
  virtual void on_writer_gone(const topics::EndpointId& writer, bool died) = 0;
};

/// Reads topics of any type, without knowing it: makes a reader for each kind of writer that it finds, each
/// of which requests the least of every policy, in all partitions. A writer that no such reader can match
/// (its partition is a pattern) is named on standard error.
///
/// Threads: one. The transport, the clock and the events must outlive it.
class TopicTap final : private topics::DiscoveryEvents {
 public:
  TopicTap(TapOptions options, topics::Transport& transport, const Clock& clock, TapEvents& events);
  ~TopicTap() override;

  /// Tells what has happened. Errors: as Participant::poll() and create_reader().
  Status poll();
  /// Sleeps until there may be something for poll(), at most so long. Errors: closed.
  Status wait(std::chrono::nanoseconds at_most);
  /// "sensor (pid 17)": the participant of a writer.
  std::string participant_of(const topics::EndpointId& writer) const;

 private:
  class KindReader;

  /// What a reader must share with a writer.
  struct Kind {
    std::string topic;
    std::string type;
    bool keyed = false;
    qos::OwnershipKind ownership = qos::OwnershipKind::shared;
    qos::ReliabilityKind reliability = qos::ReliabilityKind::best_effort;
    qos::DurabilityKind durability = qos::DurabilityKind::volatile_;

    auto operator<=>(const Kind&) const = default;
  };

  Kind kind_of(const topics::EndpointInfo& writer) const;
  bool is_wanted(const std::string& topic) const;
  Status open_reader(const Kind& kind);

  void on_participant(const topics::ParticipantInfo& participant) override;
  void on_participant_gone(std::uint64_t) override {}
  void on_endpoint(const topics::EndpointInfo& endpoint) override;
  void on_endpoint_changed(const topics::EndpointInfo& endpoint) override;
  void on_endpoint_gone(const topics::EndpointId&) override {}

  TapOptions options_;
  TapEvents& events_;
  std::map<std::uint64_t, std::string> names_;
  std::vector<Kind> wanted_;
  topics::Participant participant_;
  std::map<Kind, std::unique_ptr<KindReader>> readers_;  // end before the participant
};

}  // namespace llamada::tools
