#pragma once

#include <cstdint>
#include <functional>
#include <memory>

#include "llamada/topics/participant.hpp"
#include "topic_keeper.hpp"

namespace llamada::service {

/// Reads one writer of a topic that is kept, by a reader that only this writer matches, and acknowledges its
/// samples once the store has them.
///
/// Threads: the Participant's.
class Intake final : private topics::ReaderEvents {
 public:
  /// The keeper must outlive it. Errors: as Participant::create_reader().
  static Result<std::unique_ptr<Intake>> open(topics::Participant& participant,
                                              const topics::EndpointInfo& writer, TopicKeeper& keeper);
  ~Intake() override = default;

  const topics::EndpointId& writer() const { return writer_.id; }
  /// True if acknowledged samples must be durable: DURABILITY PERSISTENT.
  bool is_persistent() const {
    return writer_.qos.datawriter.durability.kind == qos::DurabilityKind::persistent;
  }
  bool has_unacknowledged() const { return taken_ != acknowledged_; }
  /// Not from within Participant::poll(): all that was taken is kept.
  void acknowledge();
  /// Discovery says that the writer has gone. The next poll() may still read what it has left.
  void writer_has_gone() { writer_has_gone_ = true; }
  /// Nothing more comes: all its samples were taken and acknowledged, or it has gone and left nothing.
  bool is_over() const { return is_matched_ ? has_ended_ && !has_unacknowledged() : writer_has_gone_; }

 private:
  Intake(topics::EndpointInfo writer, TopicKeeper& keeper) : writer_(std::move(writer)), keeper_(keeper) {}

  bool on_sample(const topics::EndpointId& writer, topics::Sample&& sample) override;
  void on_matched(const topics::EndpointInfo& writer) override;
  void on_qos_changed(const topics::EndpointInfo& writer) override;
  void on_unmatched(const topics::EndpointId& writer, bool died) override;
  void on_liveliness_changed(const topics::EndpointId&, bool) override {}
  void on_incompatible(const topics::EndpointInfo&, const std::vector<qos::Incompatibility>&) override {}
  void on_samples_lost(const topics::EndpointId&, std::uint64_t) override {}

  topics::EndpointInfo writer_;
  TopicKeeper& keeper_;
  std::unique_ptr<topics::ReaderEndpoint> reader_;
  std::uint64_t taken_ = 0;
  std::uint64_t acknowledged_ = 0;
  bool is_matched_ = false;
  bool has_ended_ = false;
  bool writer_has_gone_ = false;
};

}  // namespace llamada::service
