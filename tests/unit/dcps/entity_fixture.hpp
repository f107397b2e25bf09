#pragma once

#include "dcps_support.hpp"
#include "llamada/topics/loopback.hpp"
#include "test.hpp"

namespace llamada::dcps::test {

/// A domain in this process, and two applications in it.
class Domain {
 public:
  Domain()
      : factory([this](DomainId) { return loopback.attach(); }, clock),
        here(join("here")),
        there(join("there")) {}
  ~Domain() {
    for (const auto& participant : {here, there}) {
      if (participant->is_deleted()) continue;
      const Status emptied = participant->delete_contained_entities();
      CHECK(emptied);
      CHECK(factory.delete_participant(participant));
    }
  }

  std::shared_ptr<DomainParticipant> join(std::string name, DomainId domain = 0) {
    auto participant = factory.create_participant(domain, {.name = std::move(name)});
    REQUIRE(participant);
    return *participant;
  }

  std::shared_ptr<Topic> topic(const std::shared_ptr<DomainParticipant>& participant,
                               const std::string& name = "readings") {
    auto topic = participant->create_topic(name, type, {});
    REQUIRE(topic);
    return *topic;
  }
  std::shared_ptr<Publisher> publisher(const qos::PublisherQos& qos = {}) {
    auto publisher = here->create_publisher(qos);
    REQUIRE(publisher);
    return *publisher;
  }
  std::shared_ptr<Subscriber> subscriber(const qos::SubscriberQos& qos = {}) {
    auto subscriber = there->create_subscriber(qos);
    REQUIRE(subscriber);
    return *subscriber;
  }
  std::shared_ptr<DataWriter> writer(const qos::DataWriterQos& qos = reliable_writer(),
                                     std::shared_ptr<Publisher> publisher = nullptr,
                                     const std::string& topic_name = "readings") {
    if (!publisher) publisher = this->publisher();
    auto writer = publisher->create_datawriter(topic(here, topic_name), qos);
    REQUIRE(writer);
    return *writer;
  }
  std::shared_ptr<DataReader> reader(const qos::DataReaderQos& qos = reliable_reader(),
                                     std::shared_ptr<Subscriber> subscriber = nullptr,
                                     const std::string& topic_name = "readings") {
    if (!subscriber) subscriber = this->subscriber();
    auto reader = subscriber->create_datareader(topic(there, topic_name), qos);
    REQUIRE(reader);
    return *reader;
  }

  SystemClock clock;
  topics::Loopback loopback;
  DomainParticipantFactory factory;
  std::shared_ptr<const types::TypeSupport> type = type_of<Reading>();
  std::shared_ptr<DomainParticipant> here;
  std::shared_ptr<DomainParticipant> there;
};

inline void await_match(DataWriter& writer, std::size_t count = 1) {
  REQUIRE(eventually([&] { return writer.matched_subscriptions().size() == count; }));
}
inline void await_match(DataReader& reader, std::size_t count = 1) {
  REQUIRE(eventually([&] { return reader.matched_publications().size() == count; }));
}

}  // namespace llamada::dcps::test
