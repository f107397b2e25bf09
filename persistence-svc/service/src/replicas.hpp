#pragma once

#include <functional>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "replica.hpp"

namespace llamada::service {

/// The services that follow this one, which serves. While it exists others know whom to join.
///
/// Threads: the Participant's.
class Replicas final : private topics::ReaderEvents {
 public:
  /// Errors: as Participant::create_reader().
  static Result<std::unique_ptr<Replicas>> open(topics::Participant& participant, Topics& topics, Feed& feed,
                                                const Clock& clock, TopicKeeper::Say say);
  ~Replicas() override;

  /// Another service has a reader for what this one tells.
  void add(const topics::EndpointInfo& reader);
  void gone(const topics::EndpointId& reader);
  /// Does what is to be done, not from within poll(). It freezes the feed while topics are compared.
  /// Errors: precondition_not_met (Store::sync()).
  Status work(const std::vector<std::unique_ptr<Intake>>& writers);
  /// All that follow have all that was published.
  bool have_all() const;
  void publish(const Feed::Messages& messages);
  std::size_t follower_count() const;

 private:
  Replicas(topics::Participant& participant, Topics& topics, Feed& feed, const Clock& clock,
           TopicKeeper::Say say)
      : participant_(participant), topics_(topics), feed_(feed), clock_(clock), say_(std::move(say)) {}

  bool on_sample(const topics::EndpointId& writer, topics::Sample&& sample) override;
  void on_matched(const topics::EndpointInfo&) override {}
  void on_qos_changed(const topics::EndpointInfo&) override {}
  void on_unmatched(const topics::EndpointId& writer, bool) override { joins_.erase(writer); }
  void on_liveliness_changed(const topics::EndpointId&, bool) override {}
  void on_incompatible(const topics::EndpointInfo&, const std::vector<qos::Incompatibility>&) override {}
  void on_samples_lost(const topics::EndpointId&, std::uint64_t) override {}

  void open_new();
  void join(Replica& replica);
  void end(Replica& replica, const Status& why);

  topics::Participant& participant_;
  Topics& topics_;
  Feed& feed_;
  const Clock& clock_;
  TopicKeeper::Say say_;
  std::unique_ptr<topics::ReaderEndpoint> reader_;
  std::vector<topics::EndpointInfo> new_readers_;
  /// Who has joined by which writer, or why it cannot. Its reader may be found by discovery after that.
  std::map<topics::EndpointId, Status> joins_;
  std::vector<std::unique_ptr<Replica>> replicas_;
};

}  // namespace llamada::service
