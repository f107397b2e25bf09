#pragma once

#include <sys/types.h>

#include <string>
#include <string_view>

#include "../unit/llamanet/node.hpp"
#include "hex.hpp"
#include "llamanet_factory.hpp"

namespace llamada::dcps::test {

/// The policies of a writer and its publisher, of a reader and its subscriber.
struct Policies {
  qos::DataWriterQos writer = reliable_writer();
  qos::PublisherQos publisher;
  qos::DataReaderQos reader = reliable_reader();
  qos::SubscriberQos subscriber;
  qos::TopicData topic_data;
};

/// Another process with a participant of its own, which does what it is told: dcps_peer. Ends with this.
class Peer {
 public:
  /// Started, and joined to the node.
  Peer(const std::string& socket_name, const std::string& name = "peer", const std::string& user_data = "-");
  ~Peer();
  Peer(const Peer&) = delete;
  Peer& operator=(const Peer&) = delete;

  /// The answer without its "ok"; a test failure if it is an error.
  std::string ask(const std::string& line);
  /// The whole answer, "ok ..." or "error ...".
  std::string try_asking(const std::string& line);
  void tell(const std::string& line);
  std::string answer();

  /// A publisher and a writer of `topic` in it, both with this name.
  void make_writer(const std::string& name, const Policies& policies, const std::string& topic = "readings");
  void make_reader(const std::string& name, const Policies& policies, const std::string& topic = "readings");
  /// One more writer of a publisher that is there.
  void add_writer(const std::string& name, const std::string& publisher, const Policies& policies,
                  const std::string& topic);
  void write(const std::string& writer, std::int32_t sensor, std::int32_t first, std::int32_t count = 1,
             std::int64_t timestamp_ns = -1);
  /// A number of a writer's statuses: "deadline", "incompatible", "policy", "liveliness", "matched",
  /// "current".
  std::int64_t status(const std::string& writer, std::string_view which);
  void await_status(const std::string& writer, std::string_view which, std::int64_t at_least);
  void await_matched(const std::string& writer, std::int64_t count = 1);
  /// Takes until the texts together are as long as `expected`.
  std::string take_until(const std::string& reader, const std::string& expected);

  void stop();
  void go_on();
  /// By SIGKILL; returns when it is gone.
  void kill();

 private:
  pid_t pid_ = -1;
  int to_peer_ = -1;
  FILE* from_peer_ = nullptr;
};

std::string publisher_words(const Policies& policies);
std::string writer_words(const Policies& policies);

/// A node with a driver of its own, and this process's participant in it.
class World {
 public:
  /// Each application has so much memory for its writers.
  explicit World(std::uint64_t arena_bytes = std::uint64_t{256} << 20);
  ~World();

  const std::string& socket_name() const { return node_.socket_name(); }
  std::shared_ptr<DataReader> reader(const Policies& policies = {}, const std::string& topic = "readings");
  std::shared_ptr<DataReader> reader_of(const std::shared_ptr<Subscriber>& subscriber,
                                        const Policies& policies, const std::string& topic);
  std::shared_ptr<DataWriter> writer(const Policies& policies = {}, const std::string& topic = "readings");
  std::shared_ptr<Subscriber> subscriber(const Policies& policies);
  std::shared_ptr<Topic> topic(const std::string& name);
  DomainParticipant& participant() { return *participant_; }

 private:
  static llamanet::DriverOptions driver_options(std::uint64_t arena_bytes);
  SystemClock clock_;
  llamanet::Node node_;
  DomainParticipantFactory factory_;
  std::shared_ptr<DomainParticipant> participant_;
};

inline void await_matched(DataReader& reader, std::size_t count = 1) {
  REQUIRE(eventually([&] { return reader.matched_publications().size() == count; }));
}
inline void await_matched(DataWriter& writer, std::size_t count = 1) {
  REQUIRE(eventually([&] { return writer.matched_subscriptions().size() == count; }));
}

}  // namespace llamada::dcps::test
