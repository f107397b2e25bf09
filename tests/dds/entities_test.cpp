// References, life cycles, and what is refused.

#include "support.hpp"

using namespace dds_test;
using namespace dds::core;
using namespace dds::core::policy;

TEST_CASE("dds: copies of a reference are the same entity", "[dds]") {
  dds::domain::DomainParticipant participant(0);
  dds::domain::DomainParticipant copy = participant;
  CHECK(copy == participant);
  CHECK_FALSE(participant == dds::core::null);
  CHECK(participant.domain_id() == 0);
  CHECK(dds::domain::find(0) != dds::core::null);
  dds::pub::Publisher publisher(participant);
  CHECK(publisher.participant() == participant);
  dds::pub::Publisher nobody(dds::core::null);
  CHECK(nobody.is_nil());
  CHECK_THROWS_AS(nobody.qos(), NullReferenceError);
}

TEST_CASE("dds: what is closed stays closed, in all copies", "[dds]") {
  dds::domain::DomainParticipant participant(0);
  dds::topic::Topic<Reading> topic(participant, unique("closed"));
  dds::pub::Publisher publisher(participant);
  dds::pub::DataWriter<Reading> writer(publisher, topic, durable(publisher.default_datawriter_qos()));
  auto copy = writer;
  CHECK_THROWS_AS(topic.close(), PreconditionNotMetError);
  writer.close();
  CHECK_THROWS_AS(copy.write(Reading{}), AlreadyClosedError);
  writer.close();
  publisher.close();
  CHECK_THROWS_AS(publisher.qos(), AlreadyClosedError);
}

TEST_CASE("dds: close() closes what was made of the entity, too", "[dds]") {
  Pair<Reading> pair;
  pair.writer << Reading{1, 1};
  REQUIRE(eventually([&] { return !pair.reader.read().empty(); }));
  dds::sub::cond::ReadCondition condition(pair.reader, dds::sub::status::DataState::any());
  {
    const auto loan = pair.reader.read();
    CHECK_THROWS_AS(pair.reader.close(), PreconditionNotMetError);
    CHECK_THROWS_AS(pair.subscriber.close(), PreconditionNotMetError);
    CHECK_THROWS_AS(pair.there.close(), PreconditionNotMetError);
  }
  CHECK(condition.trigger_value());  // nothing was closed
  SECTION("the writers of a publisher") {
    pair.publisher.close();
    CHECK_THROWS_AS(pair.writer.write(Reading{}), AlreadyClosedError);
    CHECK_NOTHROW(pair.writer.close());
    CHECK(eventually([&] { return pair.reader.subscription_matched_status().current_count() == 0; }));
  }
  SECTION("the readers of a subscriber") {
    pair.subscriber.close();
    CHECK_THROWS_AS(pair.reader.take(), AlreadyClosedError);
    CHECK_NOTHROW(pair.reader.close());
    CHECK_FALSE(condition.trigger_value());
  }
  SECTION("the conditions of a reader") {
    pair.reader.close();
    CHECK_FALSE(condition.trigger_value());
    CHECK_THROWS_AS(pair.reader.select().condition(condition).read(), AlreadyClosedError);
  }
  SECTION("all of a participant") {
    pair.there.close();
    CHECK_THROWS_AS(pair.reader.take(), AlreadyClosedError);
    CHECK_NOTHROW(pair.there.close());
    CHECK_NOTHROW(pair.reader.close());
    CHECK_NOTHROW(pair.subscriber.close());
    CHECK_NOTHROW(pair.topic_there.close());
  }
}

TEST_CASE("dds: an entity lives as long as a reference to it or to what is made of it", "[dds]") {
  std::optional<dds::pub::DataWriter<Reading>> writer;
  const std::string name = unique("lives");
  {
    dds::domain::DomainParticipant participant(0);
    dds::topic::Topic<Reading> topic(participant, name);
    writer.emplace(dds::pub::Publisher(participant), topic, durable(dds::pub::qos::DataWriterQos()));
  }
  CHECK_NOTHROW(writer->write(Reading{1, 2}));
  CHECK(writer->topic().name() == name);
  CHECK(writer->publisher().participant().domain_id() == 0);
}

TEST_CASE("dds: what fits not is refused with the policy's name", "[dds]") {
  dds::domain::DomainParticipant participant(0);
  dds::topic::Topic<Reading> topic(participant, unique("refused"));
  dds::pub::Publisher publisher(participant);
  dds::pub::qos::DataWriterQos qos;
  qos << History::KeepLast(0);
  CHECK_THROWS_AS((dds::pub::DataWriter<Reading>(publisher, topic, qos)), InconsistentPolicyError);
  dds::pub::DataWriter<Reading> writer(publisher, topic, durable(publisher.default_datawriter_qos()));
  CHECK_THROWS_AS(writer.qos(dds::pub::qos::DataWriterQos() << History::KeepLast(2)), ImmutablePolicyError);
  CHECK_THROWS_AS((dds::topic::Topic<Note>(participant, topic.name())), PreconditionNotMetError);
  CHECK_THROWS_AS((dds::topic::ContentFilteredTopic<Reading>(topic, unique("f"), "nothing = 1")),
                  InvalidArgumentError);
}

TEST_CASE("dds: entities of a publisher that does not enable are enabled by hand", "[dds]") {
  dds::domain::DomainParticipant participant(0);
  dds::topic::Topic<Reading> topic(participant, unique("disabled"));
  dds::pub::qos::PublisherQos qos;
  qos << EntityFactory::ManuallyEnable();
  dds::pub::Publisher publisher(participant, qos);
  dds::pub::DataWriter<Reading> writer(publisher, topic, durable(publisher.default_datawriter_qos()));
  CHECK_THROWS_AS(writer.write(Reading{}), NotEnabledError);
  writer.enable();
  CHECK_NOTHROW(writer.write(Reading{}));
}

TEST_CASE("dds: QoS that do not match are told with the reason", "[dds]") {
  dds::domain::DomainParticipant here(0), there(0);
  const std::string name = unique("mismatch");
  dds::topic::Topic<Reading> topic_here(here, name), topic_there(there, name);
  dds::pub::qos::DataWriterQos offered;
  offered << History::KeepAll();
  dds::sub::qos::DataReaderQos requested;
  requested << Durability::TransientLocal();
  dds::pub::DataWriter<Reading> writer(dds::pub::Publisher(here), topic_here, offered);
  dds::sub::DataReader<Reading> reader(dds::sub::Subscriber(there), topic_there, requested);
  CHECK(eventually([&] { return writer.offered_incompatible_qos_status().total_count() > 0; }));
  status::RequestedIncompatibleQosStatus seen;
  CHECK(eventually([&] { return (seen = reader.requested_incompatible_qos_status()).total_count() > 0; }));
  CHECK(seen.last_policy_id() == static_cast<QosPolicyId>(llamada::qos::PolicyId::durability));
  CHECK(seen.last_reason().find("TRANSIENT_LOCAL") != std::string::npos);
}
