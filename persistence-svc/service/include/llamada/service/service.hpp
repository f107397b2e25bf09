#pragma once

#include <chrono>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "llamada/base/clock.hpp"
#include "llamada/service/kept_topic.hpp"
#include "llamada/store/store.hpp"
#include "llamada/topics/participant.hpp"

namespace llamada::service {

class Intake;
class Served;
class TopicKeeper;

struct ServiceOptions {
  std::uint32_t domain = 0;
  std::string name = "llamada-persistd";  ///< Of the participant, in `llamada ls`.
  /// Is told, in one sentence each, what people should know. Called from within the Service's calls.
  std::function<void(const std::string&)> say = [](const std::string&) {};
};

struct ServiceFigures {
  std::size_t topics = 0;   ///< That are kept.
  std::size_t samples = 0;  ///< That are kept.
  std::size_t writers = 0;  ///< That are read.
  std::uint64_t served_readers = 0;
  std::uint64_t served_samples = 0;
};

/// Keeps all TRANSIENT and PERSISTENT topics of a domain (DDS 1.4, 2.2.3.4 and 2.2.3.5) in a store, and gives
/// late readers what their writers can no longer give. A TRANSIENT sample is acknowledged once the store has
/// written it, a PERSISTENT one once it is durable.
///
/// Threads: one. The transport, the clock and the store must outlive it.
class Service final : private topics::DiscoveryEvents {
 public:
  /// Loads all that the store has. Errors: the store's, parse_error.
  static Result<std::unique_ptr<Service>> open(ServiceOptions options, topics::Transport& transport,
                                               const Clock& clock, store::Store& store);
  ~Service() override;

  /// One round: takes what came, writes it, acknowledges it, and serves late readers. Errors: closed (the
  /// domain is gone), already_exists (another service keeps the domain's topics).
  Status work();
  /// Sleeps until there may be something for work(), at most so long. Errors: closed.
  Status wait(std::chrono::nanoseconds at_most);
  ServiceFigures figures() const;

 private:
  Service(ServiceOptions options, topics::Transport& transport, const Clock& clock, store::Store& store);

  Status load();
  Result<TopicKeeper*> keeper_of(const topics::EndpointInfo& writer);
  std::vector<const TopicKeeper*> keepers_for(const topics::EndpointInfo& reader) const;
  void open_intakes();
  Status open_intake(const topics::EndpointInfo& writer, bool has_died);
  void open_served();
  bool commit();
  Status write();
  void serve(bool is_complete);
  void drop_writers();
  void drop_new_writers();
  void drop_readers();
  bool is_gone(const topics::EndpointId& endpoint) const;
  void keep_time();
  void say_trouble(const Status& trouble);

  void on_participant(const topics::ParticipantInfo& participant) override;
  void on_participant_gone(std::uint64_t) override {}
  void on_endpoint(const topics::EndpointInfo& endpoint) override;
  void on_endpoint_changed(const topics::EndpointInfo&) override {}
  void on_endpoint_gone(const topics::EndpointId& endpoint) override;
  void on_left_behind(const topics::EndpointInfo& writer) override;

  const ServiceOptions options_;
  const Clock& clock_;
  store::Store& store_;
  std::map<TopicKey, std::unique_ptr<TopicKeeper>> keepers_;
  struct NewWriter {
    topics::EndpointInfo info;
    bool has_died = false;
    bool waits_for_room = false;  // that it is not kept was said
  };
  std::vector<NewWriter> new_writers_;
  std::int64_t retry_new_ns_ = 0;  // when those that wait for room are tried again
  std::vector<topics::EndpointInfo> new_readers_;
  std::vector<topics::EndpointId> gone_;
  Status must_end_;            ///< An error once it must.
  std::int64_t retry_ns_ = 0;  // of a store that does not take samples; 0: it does
  std::int64_t due_ns_ = 0;
  std::uint64_t served_readers_ = 0;
  std::uint64_t served_samples_ = 0;
  topics::Participant participant_;
  std::vector<std::unique_ptr<Intake>> intakes_;  // end before the participant
  std::vector<std::unique_ptr<Served>> served_;
};

}  // namespace llamada::service
