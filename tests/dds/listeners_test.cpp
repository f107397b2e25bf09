// Listeners of what is not typed, and which of several hears what.

#include "support.hpp"

using namespace dds_test;
using namespace dds::core;
using status::StatusMask;

namespace {

struct OfPublisher : dds::pub::NoOpPublisherListener {
  void on_publication_matched(dds::pub::AnyDataWriter& writer,
                              const status::PublicationMatchedStatus& status) override {
    if (writer.topic_name() == topic_name) matched = status.current_count();
  }
  std::string topic_name;
  std::atomic<int> matched{0};
};

struct OfSubscriber : dds::sub::NoOpSubscriberListener {
  void on_data_on_readers(dds::sub::Subscriber& subscriber) override {
    ++told;
    if (hands_on) subscriber.notify_datareaders();
  }
  void on_data_available(dds::sub::AnyDataReader&) override { ++data; }
  void on_subscription_matched(dds::sub::AnyDataReader&,
                               const status::SubscriptionMatchedStatus& status) override {
    matched = status.current_count();
  }
  std::atomic<bool> hands_on{false};
  std::atomic<int> told{0}, data{0}, matched{0};
};

struct OfReader : dds::sub::NoOpDataReaderListener<Reading> {
  void on_data_available(dds::sub::DataReader<Reading>& reader) override {
    for (const auto& each : reader.take())
      if (each.info().valid()) sum += static_cast<int>(each.data().value);
  }
  std::atomic<int> sum{0};
};

struct OfParticipant : dds::domain::NoOpDomainParticipantListener {
  void on_inconsistent_topic(dds::topic::AnyTopic& topic,
                             const status::InconsistentTopicStatus& status) override {
    if (topic.name() == topic_name) inconsistent = status.total_count();
  }
  void on_publication_matched(dds::pub::AnyDataWriter&,
                              const status::PublicationMatchedStatus& status) override {
    writer_matched = status.current_count();
  }
  void on_subscription_matched(dds::sub::AnyDataReader&,
                               const status::SubscriptionMatchedStatus& status) override {
    reader_matched = status.current_count();
  }
  void on_data_available(dds::sub::AnyDataReader& reader) override {
    if (reader.topic_name() == topic_name) ++data;
  }
  std::string topic_name;
  std::atomic<int> inconsistent{0}, writer_matched{0}, reader_matched{0}, data{0};
};

struct OfTopic : dds::topic::NoOpTopicListener<Reading> {
  void on_inconsistent_topic(dds::topic::Topic<Reading>&,
                             const status::InconsistentTopicStatus& status) override {
    inconsistent = status.total_count();
  }
  std::atomic<int> inconsistent{0};
};

}  // namespace

TEST_CASE("dds: a subscriber's listener is told of data first, and a reader's when it says so", "[dds]") {
  OfReader of_reader;
  OfSubscriber of_subscriber;
  Pair<Reading> pair;
  pair.reader.listener(&of_reader, StatusMask::data_available());
  CHECK(pair.reader.listener() == &of_reader);
  pair.subscriber.listener(&of_subscriber, StatusMask::data_on_readers());
  CHECK(pair.subscriber.listener() == &of_subscriber);
  pair.writer << Reading{1, 1};
  CHECK(eventually([&] { return of_subscriber.told >= 1; }));
  CHECK(of_reader.sum == 0);
  of_subscriber.hands_on = true;
  pair.writer << Reading{1, 2};
  CHECK(eventually([&] { return of_reader.sum == 3; }));
  CHECK(of_subscriber.data == 0);
  pair.subscriber.listener(nullptr, StatusMask::none());
  CHECK(pair.subscriber.listener() == nullptr);
  const int told = of_subscriber.told;
  pair.writer << Reading{1, 4};
  CHECK(eventually([&] { return of_reader.sum == 7; }));
  CHECK(of_subscriber.told == told);
}

TEST_CASE("dds: what a listener's mask has not goes to the publisher's, the subscriber's, the participant's",
          "[dds]") {
  const std::string name = unique("cascade");
  OfPublisher of_publisher;
  OfSubscriber of_subscriber;
  OfReader of_reader;
  OfParticipant of_writers, of_readers;
  of_publisher.topic_name = of_writers.topic_name = of_readers.topic_name = name;
  dds::domain::DomainParticipant here(0, {}, &of_writers), there(0, {}, &of_readers);
  CHECK(here.listener() == &of_writers);
  dds::topic::Topic<Reading> topic_here(here, name), topic_there(there, name);
  dds::pub::Publisher publisher(here, {}, &of_publisher, StatusMask::publication_matched());
  dds::sub::Subscriber subscriber(there, {}, &of_subscriber, StatusMask::data_available());
  dds::pub::DataWriter<Reading> writer(publisher, topic_here, durable(publisher.default_datawriter_qos()));
  there.listener(&of_readers, StatusMask::subscription_matched());
  dds::sub::DataReader<Reading> reader(subscriber, topic_there, durable(subscriber.default_datareader_qos()),
                                       &of_reader, StatusMask::sample_lost());
  writer << Reading{1, 1};
  CHECK(eventually([&] { return of_publisher.matched == 1 && of_readers.reader_matched == 1; }));
  CHECK(eventually([&] { return of_subscriber.data >= 1; }));
  CHECK(of_writers.writer_matched == 0);
  CHECK(of_subscriber.matched == 0);
  CHECK(of_readers.data == 0);
  CHECK(of_reader.sum == 0);
}

TEST_CASE("dds: a participant's listener hears of data that nobody nearer wants to hear of", "[dds]") {
  OfParticipant listener;
  Pair<Reading> pair;
  listener.topic_name = pair.name;
  pair.there.listener(&listener, StatusMask::data_available());
  pair.writer << Reading{1, 1};
  CHECK(eventually([&] { return listener.data >= 1; }));
  pair.there.listener(nullptr, StatusMask::none());
}

TEST_CASE("dds: a topic of another type is told to the topic's listener, else the participant's", "[dds]") {
  const std::string name = unique("inconsistent");
  OfTopic of_topic;
  OfParticipant of_participant;
  of_participant.topic_name = name;
  dds::domain::DomainParticipant here(0, {}, &of_participant), there(0);
  dds::topic::Topic<Reading> topic(here, name, {}, &of_topic);
  CHECK(topic.listener() == &of_topic);
  dds::topic::Topic<Note> other(there, name);
  dds::pub::Publisher publisher(there);
  dds::pub::DataWriter<Note> first(publisher, other);
  CHECK(eventually([&] { return of_topic.inconsistent >= 1; }));
  CHECK(of_participant.inconsistent == 0);
  topic.listener(nullptr, StatusMask::none());
  dds::pub::DataWriter<Note> second(publisher, other);
  CHECK(eventually([&] { return of_participant.inconsistent >= 2; }));
}

TEST_CASE("dds: a topic that is made twice is one, and goes with the last reference", "[dds]") {
  dds::domain::DomainParticipant participant(0);
  const std::string name = unique("twice");
  {
    dds::topic::Topic<Reading> first(participant, name), second(participant, name);
    CHECK(first == second);
  }
  CHECK_NOTHROW(dds::topic::Topic<Note>(participant, name));
}
