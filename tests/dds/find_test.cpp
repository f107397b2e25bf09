// Entities by name, and the built-in topics.

#include "support.hpp"

using namespace dds_test;
using namespace dds::core;
using namespace dds::core::policy;

namespace {

template <typename Data>
dds::sub::DataReader<Data> builtin_reader(const dds::domain::DomainParticipant& participant,
                                          const std::string& topic_name) {
  std::vector<dds::sub::DataReader<Data>> readers;
  dds::sub::find<dds::sub::DataReader<Data>>(dds::sub::builtin_subscriber(participant), topic_name,
                                             std::back_inserter(readers));
  REQUIRE(readers.size() == 1);
  return readers[0];
}

/// Of what the built-in topic tells, the first that is `wanted`; waits for it.
template <typename Data, typename Predicate>
Data await(dds::sub::DataReader<Data>& reader, Predicate wanted) {
  std::optional<Data> found;
  CHECK(eventually([&] {
    for (const auto& each : reader.read())
      if (each.info().valid() && wanted(each.data())) found = each.data();
    return found.has_value();
  }));
  return found.value_or(Data());
}

}  // namespace

TEST_CASE("dds: topics, writers and readers are found by name", "[dds]") {
  Pair<Reading> pair;
  using Topic = dds::topic::Topic<Reading>;
  using Writer = dds::pub::DataWriter<Reading>;
  CHECK(dds::topic::find<Topic>(pair.here, pair.name) == pair.topic_here);
  CHECK(dds::topic::find<dds::topic::AnyTopic>(pair.here, pair.name).get<Reading>() == pair.topic_here);
  CHECK(dds::topic::find<Topic>(pair.here, "nowhere").is_nil());
  CHECK_THROWS_AS(dds::topic::find<dds::topic::Topic<Note>>(pair.here, pair.name), InvalidDowncastError);

  CHECK(dds::pub::find<Writer>(pair.publisher, pair.name) == pair.writer);
  CHECK(dds::pub::find<Writer>(pair.publisher, "nowhere") == null);
  CHECK_THROWS_AS(dds::pub::find<dds::pub::DataWriter<Note>>(pair.publisher, pair.name),
                  InvalidDowncastError);

  std::vector<dds::sub::AnyDataReader> readers;
  CHECK(dds::sub::find<dds::sub::AnyDataReader>(pair.subscriber, pair.name, std::back_inserter(readers)) ==
        1);
  CHECK(readers.at(0).get<Reading>() == pair.reader);
  CHECK_THROWS_AS(readers.at(0).get<Note>(), InvalidDowncastError);
  readers.clear();
  const auto out = std::back_inserter(readers);
  const auto news = dds::sub::status::DataState::new_data();
  CHECK(dds::sub::find<dds::sub::AnyDataReader>(pair.subscriber, news, out) == 0);
  pair.writer << Reading{1, 1};
  CHECK(eventually([&] { return dds::sub::find<dds::sub::AnyDataReader>(pair.subscriber, news, out) == 1; }));
  CHECK(dds::sub::find<dds::sub::AnyDataReader>(pair.subscriber, pair.name, out, 0) == 0);
}

TEST_CASE("dds: the built-in topics tell of another participant's writer, reader and topic", "[dds]") {
  const std::string name = unique("told");
  dds::domain::DomainParticipant here(0);
  dds::domain::qos::DomainParticipantQos participant_qos;
  participant_qos << UserData(ByteSeq{7, 8, 9});
  dds::domain::DomainParticipant there(0, participant_qos);
  auto participants =
      builtin_reader<dds::topic::ParticipantBuiltinTopicData>(here, dds::topic::participant_topic_name());
  const auto participant = await(participants, [](const auto& data) {
    return data.user_data().value() == ByteSeq{7, 8, 9};
  });
  CHECK(participant.pid() == static_cast<std::uint32_t>(::getpid()));

  dds::topic::Topic<Reading> topic(there, name);
  dds::pub::qos::PublisherQos publisher_qos;
  publisher_qos << Partition("part");
  dds::pub::Publisher publisher(there, publisher_qos);
  auto writer_qos = durable(publisher.default_datawriter_qos());
  writer_qos << OwnershipStrength(5) << Ownership::Exclusive();
  dds::pub::DataWriter<Reading> writer(publisher, topic, writer_qos);
  auto publications =
      builtin_reader<dds::topic::PublicationBuiltinTopicData>(here, dds::topic::publication_topic_name());
  const auto publication = await(publications, [&](const auto& data) { return data.topic_name() == name; });
  CHECK(publication.participant_key() == participant.key());
  CHECK(publication.key().instance_handle() == writer.instance_handle());
  CHECK(publication.type_name() == dds::topic::topic_type_name<Reading>::value());
  CHECK(publication.ownership_strength().value() == 5);
  CHECK(publication.reliability().kind() == ReliabilityKind::RELIABLE);
  CHECK(publication.partition().name() == StringSeq{"part"});

  dds::sub::Subscriber subscriber(there);
  dds::sub::DataReader<Reading> reader(subscriber, topic);
  auto subscriptions =
      builtin_reader<dds::topic::SubscriptionBuiltinTopicData>(here, dds::topic::subscription_topic_name());
  const auto subscription = await(subscriptions, [&](const auto& data) { return data.topic_name() == name; });
  CHECK(subscription.key().instance_handle() == reader.instance_handle());
  CHECK(subscription.durability().kind() == DurabilityKind::VOLATILE);

  auto topics = builtin_reader<dds::topic::TopicBuiltinTopicData>(here, dds::topic::topic_topic_name());
  const auto told = await(topics, [&](const auto& data) { return data.name() == name; });
  CHECK(told.type_name() == dds::topic::topic_type_name<Reading>::value());

  const auto instance = publications.lookup_instance(publication);
  CHECK_FALSE(instance.is_nil());
  writer.close();
  CHECK(eventually([&] {
    bool gone = false;
    for (const auto& each : publications.select().instance(instance).read())
      gone |= each.info().state().instance_state() != dds::sub::status::InstanceState::alive();
    return gone;
  }));
  CHECK_THROWS_AS(publications.close(), PreconditionNotMetError);
  CHECK_THROWS_AS(dds::sub::builtin_subscriber(here).close(), PreconditionNotMetError);
}

TEST_CASE("dds: who is matched is told with its policies, and can be ignored", "[dds]") {
  Pair<Reading> pair;
  CHECK(eventually([&] { return dds::sub::matched_publications(pair.reader).size() == 1; }));
  CHECK(eventually([&] { return dds::pub::matched_subscriptions(pair.writer).size() == 1; }));
  const auto writer = dds::sub::matched_publications(pair.reader).at(0);
  CHECK(writer == pair.writer.instance_handle());
  CHECK(dds::sub::matched_publication_data(pair.reader, writer).topic_name() == pair.name);
  const auto reader = dds::pub::matched_subscriptions(pair.writer).at(0);
  CHECK(dds::pub::matched_subscription_data(pair.writer, reader).durability().kind() ==
        DurabilityKind::TRANSIENT_LOCAL);
  dds::pub::ignore(pair.there, writer);
  CHECK(eventually([&] { return dds::sub::matched_publications(pair.reader).empty(); }));
}
