#pragma once

#include <functional>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "interrupt.hpp"
#include "llamada/base/clock.hpp"
#include "llamada/recording/recording_reader.hpp"
#include "llamada/topics/participant.hpp"
#include "replay.hpp"
#include "survey.hpp"

namespace llamada::tools {

/// A participant with the writers of a recording, which do what they did when they were recorded.
///
/// Threads: one. What it borrows must outlive it.
class Player final : private topics::DiscoveryEvents {
 public:
  Player(const ReplayOptions& options, const Survey& survey, topics::Transport& transport, const Clock& clock,
         std::uint32_t domain);
  ~Player() override;

  /// Makes the writers, waits for their readers, replays, waits until the readers have everything, and
  /// deletes the writers. Ends sooner when it is interrupted. Errors: timeout (no reader of a topic came in
  /// time), closed (the driver is gone), and those of writers.
  Status replay();

  bool is_interrupted() const { return interrupted_; }
  std::uint64_t samples() const { return samples_; }  ///< That were replayed.

 private:
  class ReplayedWriter;

  Status make_writers();
  Status wait_for_readers();
  Status play();
  Status wait_for_acknowledgments();

  Status publish(const recording::Sample& sample);
  Status change_qos(const recording::QosChange& change);
  Status end_writer(const recording::WriterGone& gone);
  Status wait_until_due(std::int64_t received_ns);
  std::int64_t source_timestamp_ns(std::int64_t recorded_ns) const;
  ReplayedWriter* writer(std::uint32_t number);

  /// Whether it has come to pass: false when the time is over, or after an interrupt.
  Result<bool> wait_until(const std::function<bool()>& has_come, std::chrono::duration<double> at_most);
  std::vector<std::string> topics_without_reader() const;
  bool all_have_met() const;

  void on_participant(const topics::ParticipantInfo&) override {}
  void on_participant_gone(std::uint64_t) override {}
  void on_endpoint(const topics::EndpointInfo& endpoint) override;
  void on_endpoint_changed(const topics::EndpointInfo& endpoint) override { on_endpoint(endpoint); }
  void on_endpoint_gone(const topics::EndpointId& endpoint) override { readers_.erase(endpoint); }

  const ReplayOptions& options_;
  const Survey& survey_;
  const Clock& clock_;
  const Interrupt interrupt_;
  bool interrupted_ = false;
  std::uint64_t samples_ = 0;
  Clock::Both began_{};  // this pass, with the first sample
  std::map<topics::EndpointId, topics::EndpointInfo> readers_;
  topics::Participant participant_;
  std::map<std::uint32_t, std::unique_ptr<ReplayedWriter>> writers_;  // end before the participant
};

}  // namespace llamada::tools
