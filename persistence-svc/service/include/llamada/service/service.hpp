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
#include "llamada/topics/service_role.hpp"

namespace llamada::service {

class Arrivals;
class Feed;
class Follower;
class Intake;
class LateReaders;
class Replicas;
class Topics;

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
  topics::ServiceRole role = topics::ServiceRole::joins;
  std::size_t followers = 0;  ///< Other services that have all that this one has, while it serves.
};

/// Keeps all TRANSIENT and PERSISTENT topics of a domain (DDS 1.4, 2.2.3.4 and 2.2.3.5) in a store, and gives
/// late readers what their writers can no longer give. A TRANSIENT sample is acknowledged once the store has
/// written it, a PERSISTENT one once it is durable.
///
/// Of several services in a domain one serves. The others follow it: they get all that it has, each sample is
/// acknowledged once they have it, too, and one of them takes its place when it ends.
///
/// Threads: one. The transport, the clock and the store must outlive it.
class Service final : private topics::DiscoveryEvents {
 public:
  /// Loads all that the store has. Errors: the store's, parse_error.
  static Result<std::unique_ptr<Service>> open(ServiceOptions options, topics::Transport& transport,
                                               const Clock& clock, store::Store& store);
  ~Service() override;

  /// One round: takes what came, writes it, acknowledges it, and serves late readers. Errors: closed (the
  /// domain is gone).
  Status work();
  /// Calls work(), and sleeps until there may be something more for it, at most so long. Errors: closed, and
  /// those of work().
  Status wait(std::chrono::nanoseconds at_most);
  ServiceFigures figures() const;

 private:
  Service(ServiceOptions options, topics::Transport& transport, const Clock& clock, store::Store& store);

  // The two roles.
  Status serve_round();
  void follow_round();
  Status decide();
  const topics::ParticipantInfo* serving_one() const;
  bool is_next() const;
  Status begin_serving();
  Status end_serving();
  void join(const topics::ParticipantInfo& serving);
  void end_following(bool tries_again);
  Status take_role(topics::ServiceRole role);

  bool open_intakes();
  Status open_intake(const topics::EndpointInfo& writer, bool has_died);
  bool commit();
  /// Whether a store says so. What this process knows of its items is wrong then, and it must end.
  bool has_lost_batches(const Status& trouble);
  Status write();
  void pass_on();
  void drop_writers();
  void drop_new_writers();
  bool is_gone(const topics::EndpointId& endpoint) const;
  bool is_here(const topics::Guid& writer) const;
  void keep_time();
  void say_trouble(const Status& trouble);

  void on_participant(const topics::ParticipantInfo& participant) override;
  void on_participant_gone(std::uint64_t participant) override { services_.erase(participant); }
  void on_endpoint(const topics::EndpointInfo& endpoint) override;
  void on_endpoint_changed(const topics::EndpointInfo&) override {}
  void on_endpoint_gone(const topics::EndpointId& endpoint) override;
  void on_left_behind(const topics::EndpointInfo& writer) override;

  const ServiceOptions options_;
  const Clock& clock_;
  store::Store& store_;
  std::unique_ptr<Topics> topics_;
  std::unique_ptr<Feed> feed_;
  struct NewWriter {
    topics::EndpointInfo info;
    bool has_died = false;
    bool waits_for_room = false;  // that it is not kept was said
  };
  // Applications' endpoints, which one that begins to serve needs, and those of other services.
  std::map<topics::EndpointId, NewWriter> known_writers_;
  std::map<topics::EndpointId, topics::EndpointInfo> known_readers_;
  std::map<topics::EndpointId, topics::EndpointInfo> link_readers_;
  std::map<std::uint64_t, topics::ParticipantInfo> services_;  // the others
  std::vector<NewWriter> new_writers_;
  std::int64_t retry_new_ns_ = 0;  // when those that wait for room are tried again
  std::vector<topics::EndpointId> gone_;
  topics::ServiceRole role_ = topics::ServiceRole::joins;
  /// Of one that does not serve.
  struct Joining {
    std::int64_t retry_ns = 0;           ///< When it tries to join again.
    std::int64_t unserved_since_ns = 0;  ///< Since when nobody serves; 0: somebody does.
    std::uint32_t lacks_of = 0;          ///< The process of a service that has what this one lacks; 0: none.
  } joining_;
  Status must_end_;            // an error once it must
  std::int64_t retry_ns_ = 0;  // of a store that does not take samples; 0: it does
  std::int64_t due_ns_ = 0;
  topics::Participant participant_;  // all that follows ends before it
  std::unique_ptr<Arrivals> arrivals_;
  std::vector<std::unique_ptr<Intake>> intakes_;
  std::unique_ptr<LateReaders> late_readers_;
  std::unique_ptr<Replicas> replicas_;  // of one that serves
  std::unique_ptr<Follower> follower_;  // of one that follows
};

}  // namespace llamada::service
