#include <atomic>

#include "support.hpp"

using namespace dds_test;
using namespace dds::core;
using dds::core::cond::WaitSet;
using dds::sub::status::DataState;

TEST_CASE("dds: a wait set wakes for samples, for a query, and for a guard", "[dds]") {
  Pair<Reading> pair;
  int samples = 0, large = 0;
  dds::sub::cond::ReadCondition any(pair.reader, DataState::new_data(), [&] { samples++; });
  dds::sub::cond::QueryCondition query(dds::sub::Query(pair.reader, "value > %0", {"10"}), DataState::any(),
                                       [&] { large++; });
  WaitSet waits;
  waits += any;
  waits += query;
  CHECK(waits.conditions().size() == 2);
  CHECK_THROWS_AS(waits.wait(Duration::zero()), TimeoutError);
  pair.writer << Reading{1, 5};
  waits.dispatch(Duration(100));
  CHECK(samples == 1);
  CHECK(large == 0);
  CHECK(pair.reader.select().condition(any).take().length() == 1);
  query.parameters({"3"});
  CHECK(query.parameters() == StringSeq{"3"});
  pair.writer << Reading{1, 5};
  const auto triggered = waits.wait(Duration(100));
  CHECK(triggered.size() >= 1);
  CHECK(eventually([&] { return query.trigger_value(); }));

  dds::core::cond::GuardCondition guard;
  WaitSet other;
  other += guard;
  std::thread setter([&] { guard.trigger_value(true); });
  CHECK(other.wait(Duration(100)).front() == guard);
  setter.join();
  other -= guard;
  CHECK(other.conditions().empty());
}

TEST_CASE("dds: a status condition tells of a match", "[dds]") {
  dds::domain::DomainParticipant here(0), there(0);
  const std::string name = unique("match");
  dds::topic::Topic<Reading> topic_here(here, name), topic_there(there, name);
  dds::pub::DataWriter<Reading> writer(dds::pub::Publisher(here), topic_here,
                                       durable(dds::pub::qos::DataWriterQos()));
  dds::core::cond::StatusCondition condition(writer);
  condition.enabled_statuses(status::StatusMask::publication_matched());
  WaitSet waits;
  waits += condition;
  dds::sub::DataReader<Reading> reader(dds::sub::Subscriber(there), topic_there);
  CHECK(waits.wait(Duration(100)).front() == condition);
  const auto matched = writer.publication_matched_status();
  CHECK(matched.current_count() == 1);
  CHECK(matched.last_subscription_handle() == reader.instance_handle());
  CHECK_FALSE(condition.trigger_value());
}

namespace {

struct Listener : dds::sub::NoOpDataReaderListener<Reading> {
  void on_data_available(dds::sub::DataReader<Reading>& reader) override {
    for (const auto& each : reader.take())
      if (each.info().valid()) sum += static_cast<int>(each.data().value);
  }
  void on_subscription_matched(dds::sub::DataReader<Reading>&,
                               const status::SubscriptionMatchedStatus& status) override {
    matched = status.current_count();
  }
  std::atomic<int> sum{0};
  std::atomic<int> matched{0};
};

struct WriterListener : dds::pub::NoOpDataWriterListener<Reading> {
  void on_publication_matched(dds::pub::DataWriter<Reading>& writer,
                              const status::PublicationMatchedStatus& status) override {
    matched = status.current_count();
    same_topic = writer.topic_name() == topic_name;
  }
  std::string topic_name;
  std::atomic<int> matched{0};
  std::atomic<bool> same_topic{false};
};

}  // namespace

TEST_CASE("dds: listeners hear of samples and matches until they are taken off", "[dds]") {
  dds::domain::DomainParticipant here(0), there(0);
  const std::string name = unique("heard");
  dds::topic::Topic<Reading> topic_here(here, name), topic_there(there, name);
  Listener listener;
  WriterListener writer_listener;
  writer_listener.topic_name = name;
  dds::pub::Publisher publisher(here);
  dds::sub::Subscriber subscriber(there);
  dds::pub::DataWriter<Reading> writer(publisher, topic_here, durable(publisher.default_datawriter_qos()),
                                       &writer_listener);
  dds::sub::DataReader<Reading> reader(subscriber, topic_there, durable(subscriber.default_datareader_qos()),
                                       &listener);
  for (int i = 1; i <= 10; i++) writer << Reading{i, i * 1.0};
  CHECK(eventually([&] { return listener.sum == 55; }));
  CHECK(eventually([&] { return listener.matched == 1 && writer_listener.matched == 1; }));
  CHECK(writer_listener.same_topic);
  reader.listener(nullptr, status::StatusMask::none());
  writer << Reading{1, 1000};
  CHECK(eventually([&] { return reader.read().length() == 1; }));
  CHECK(listener.sum == 55);
}
