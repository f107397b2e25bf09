#pragma once

#include <cstdint>
#include <functional>
#include <memory>

#include "arrivals.hpp"
#include "feed.hpp"
#include "llamada/topics/participant.hpp"
#include "topic_keeper.hpp"

namespace llamada::service {

/// Reads one writer of a topic that is kept, by a reader that only this writer matches, and acknowledges its
/// samples once the store has them.
///
/// Threads: the Participant's.
class Intake final : private topics::ReaderEvents {
 public:
  /// Keeper, feed and arrivals must outlive it. Errors: as Participant::create_reader().
  static Result<std::unique_ptr<Intake>> open(topics::Participant& participant,
                                              const topics::EndpointInfo& writer, TopicKeeper& keeper,
                                              Feed& feed, Arrivals& arrivals);
  ~Intake() override = default;

  const topics::EndpointId& writer() const { return writer_.id; }
  const topics::EndpointInfo& info() const { return writer_; }
  TopicKeeper& keeper() const { return keeper_; }
  bool is_matched() const { return is_matched_; }
  /// Arrivals gives it what is next. False: the sample is to come again.
  bool take(const topics::Sample& sample);
  void end(bool died);
  /// The writer is matched and has not ended.
  bool is_here() const { return is_matched_ && !has_ended_; }
  /// True if acknowledged samples must be durable: DURABILITY PERSISTENT.
  bool is_persistent() const {
    return writer_.qos.datawriter.durability.kind == qos::DurabilityKind::persistent;
  }
  bool has_unacknowledged() const { return taken_ != acknowledged_; }
  /// Not from within Participant::poll(): all that was taken is kept.
  void acknowledge() {
    offer();
    acknowledge_offered();
  }
  /// The same in two steps: all that was taken is on its way to the services that follow, and they have it.
  void offer() { offered_ = taken_; }
  void acknowledge_offered();
  /// Discovery says that the writer has gone. The next poll() may still read what it has left.
  void writer_has_gone() { writer_has_gone_ = true; }
  /// Nothing more comes: all its samples were taken and acknowledged, or it has gone and left nothing.
  bool is_over() const { return is_matched_ ? has_ended_ && !has_unacknowledged() : writer_has_gone_; }

 private:
  Intake(topics::EndpointInfo writer, TopicKeeper& keeper, Feed& feed, Arrivals& arrivals)
      : writer_(std::move(writer)), keeper_(keeper), feed_(feed), arrivals_(arrivals) {}
  bool on_sample(const topics::EndpointId& writer, topics::Sample&& sample) override;
  void on_matched(const topics::EndpointInfo& writer) override;
  void on_qos_changed(const topics::EndpointInfo& writer) override;
  void on_unmatched(const topics::EndpointId& writer, bool died) override;
  void on_liveliness_changed(const topics::EndpointId&, bool alive) override {
    if (is_exclusive(writer_.qos) && !alive) arrivals_.lapsed(*this);
  }
  void on_incompatible(const topics::EndpointInfo&, const std::vector<qos::Incompatibility>&) override {}
  void on_samples_lost(const topics::EndpointId& writer, std::uint64_t count) override;

  topics::EndpointInfo writer_;
  TopicKeeper& keeper_;
  Feed& feed_;
  Arrivals& arrivals_;
  std::unique_ptr<topics::ReaderEndpoint> reader_;
  std::uint64_t taken_ = 0;
  std::uint64_t offered_ = 0;
  std::uint64_t acknowledged_ = 0;
  bool is_matched_ = false;
  bool has_ended_ = false;
  bool writer_has_gone_ = false;
};

}  // namespace llamada::service
