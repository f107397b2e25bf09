#include "entity_fixture.hpp"

namespace llamada::dcps::test {
namespace {

TEST_CASE("entities: what is written is read, with what there is to know of it", "[dcps]") {
  Domain domain;
  auto writer = domain.writer();
  auto reader = domain.reader();
  await_match(*writer);
  await_match(*reader);
  REQUIRE(writer->write(reading(1, 10)));
  REQUIRE(writer->write(reading(2, 20), handle_nil, Timestamp(12345)));
  CHECK(take_until(*reader, "1:10 2:20") == "1:10 2:20");

  REQUIRE(writer->write(reading(1, 11)));
  REQUIRE(eventually([&] { return !reader->read()->empty(); }));
  auto samples = reader->read();
  REQUIRE(samples->size() == 1);
  const SampleInfo info = (*samples)[0].info;
  CHECK(info.sample_state == sample_state::read);
  CHECK(info.publication_handle == writer->instance_handle());
  CHECK(info.instance_handle == *writer->lookup_instance(reading(1, 0)));
  CHECK(info.instance_handle == *reader->lookup_instance(reading(1, 0)));
  CHECK(info.source_timestamp.count() > 0);
  CHECK(info.sequence_number == 3);
  CHECK(types::deserialize<Reading>(*reader->key_value(info.instance_handle))->sensor == 1);
}

TEST_CASE("entities: instances are registered, disposed and unregistered", "[dcps]") {
  Domain domain;
  auto writer_qos = reliable_writer();
  writer_qos.writer_data_lifecycle.autodispose_unregistered_instances = false;
  auto writer = domain.writer(writer_qos);
  auto reader = domain.reader();
  await_match(*writer);
  auto handle = writer->register_instance(reading(1, 0));
  REQUIRE(handle);
  CHECK(!handle->is_nil());
  CHECK(types::deserialize<Reading>(*writer->key_value(*handle))->sensor == 1);
  REQUIRE(writer->write(reading(1, 10), *handle));
  CHECK(writer->write(reading(2, 10), *handle).error().code() == Errc::precondition_not_met);
  REQUIRE(writer->dispose(*handle));
  CHECK(take_until(*reader, "1:10 -D") == "1:10 -D");
  REQUIRE(writer->write(reading(1, 11)));
  REQUIRE(writer->unregister_instance(*handle));
  CHECK(take_until(*reader, "1:11 -N") == "1:11 -N");
  CHECK(writer->lookup_instance(reading(1, 0))->is_nil());
  CHECK(writer->unregister_instance(*handle).error().code() == Errc::precondition_not_met);
  REQUIRE(writer->dispose(reading(3, 0)));
  CHECK(take_until(*reader, "-D") == "-D");
}

TEST_CASE("entities: a writer that is deleted leaves its instances without writers, or disposes them",
          "[dcps]") {
  const auto [autodispose, expected] =
      GENERATE(table<bool, std::string>({{true, "1:10 -D"}, {false, "1:10 -N"}}));
  Domain domain;
  auto qos = reliable_writer();
  qos.writer_data_lifecycle.autodispose_unregistered_instances = autodispose;
  auto publisher = domain.publisher();
  auto writer = domain.writer(qos, publisher);
  auto reader = domain.reader();
  await_match(*writer);
  REQUIRE(writer->write(reading(1, 10)));
  REQUIRE(publisher->delete_datawriter(writer));
  CHECK(take_until(*reader, expected) == expected);
  CHECK(writer->write(reading(1, 11)).error().code() == Errc::closed);
}

TEST_CASE("entities: samples in place are written and read without a copy", "[dcps]") {
  Domain domain;
  auto writer = domain.writer();
  auto reader = domain.reader();
  await_match(*writer);
  const auto sample = reading(1, 10, std::string(1000, 'x'));
  auto loan = writer->loan_sample(sample.size());
  REQUIRE(loan);
  std::copy(sample.begin(), sample.end(), loan->data().begin());
  REQUIRE(writer->write(std::move(*loan)));
  CHECK(!*loan);
  { auto dropped = writer->loan_sample(100); }
  REQUIRE(eventually([&] { return !reader->read()->empty(); }));
  auto samples = reader->take();
  CHECK(text_of(*samples) == "1:10");
  CHECK(reader->loan_count() == 1);
  CHECK(reader->delete_contained_entities().error().code() == Errc::precondition_not_met);
  samples->clear();
  CHECK(reader->loan_count() == 0);
}

TEST_CASE("entities: what is lent takes the place of what was on loan", "[dcps]") {
  Domain domain;
  auto writer = domain.writer();
  auto reader = domain.reader();
  await_match(*writer);
  WriteLoan room;
  REQUIRE(writer->loan_sample(1000, room));
  const auto sample = reading(1, 10);
  REQUIRE(writer->loan_sample(sample.size(), room));
  REQUIRE(room.data().size() == sample.size());
  std::copy(sample.begin(), sample.end(), room.data().begin());
  REQUIRE(writer->write(std::move(room)));
  LoanedSamples samples;
  const auto take = [&] { return reader->take({}, samples) && !samples.empty(); };
  REQUIRE(eventually(take));
  CHECK(text_of(samples) == "1:10");
  REQUIRE(writer->write(reading(2, 20)));
  REQUIRE(eventually(take));
  CHECK(text_of(samples) == "2:20");
  CHECK(reader->loan_count() == 1);
  CHECK(reader->take({.max_samples = -2}, samples).error().code() == Errc::invalid_argument);
  CHECK(samples.empty());
  CHECK(reader->loan_count() == 0);
}

TEST_CASE("entities: room on loan keeps its writer once that is deleted", "[dcps]") {
  Domain domain;
  auto publisher = domain.publisher();
  auto writer = domain.writer(reliable_writer(), publisher);
  const std::weak_ptr<DataWriter> seen = writer;
  auto loan = writer->loan_sample(1000);
  auto second = writer->loan_sample(40);
  REQUIRE(loan);
  REQUIRE(second);
  REQUIRE(publisher->delete_datawriter(writer));
  CHECK(!writer->write(std::move(*second)));
  CHECK(*second);
  writer.reset();
  std::fill(loan->data().begin(), loan->data().end(), std::byte{1});
  WriteLoan moved = std::move(*loan);
  moved = std::move(*second);
  CHECK(moved.data().size() == 40);
  CHECK(!seen.expired());
  moved = WriteLoan();
  CHECK(seen.expired());
}

TEST_CASE("entities: loans outlive their participant", "[dcps]") {
  Domain domain;
  auto writer = domain.writer();
  auto third = domain.join("third");
  auto subscriber = *third->create_subscriber({});
  auto reader = *subscriber->create_datareader(domain.topic(third), reliable_reader());
  await_match(*writer);
  REQUIRE(writer->write(reading(1, 10, std::string(1000, 'x'))));
  REQUIRE(eventually([&] { return !reader->read()->empty(); }));
  auto samples = reader->take();
  REQUIRE(samples->size() == 1);
  CHECK(third->delete_contained_entities().error().code() == Errc::precondition_not_met);
  CHECK(domain.factory.delete_participant(third).error().code() == Errc::precondition_not_met);
  samples->clear();
  REQUIRE(third->delete_contained_entities());
  REQUIRE(domain.factory.delete_participant(third));
}

TEST_CASE("entities: a write waits for room up to max_blocking_time", "[dcps]") {
  Domain domain;
  auto qos = reliable_writer();
  qos.resource_limits.max_samples = 4;
  qos.reliability.max_blocking_time = 10ms;
  auto writer = domain.writer(qos);
  auto reader_qos = reliable_reader();
  reader_qos.resource_limits.max_samples = 1;
  auto reader = domain.reader(reader_qos);
  await_match(*writer);
  std::int32_t written = 0;
  Status status;
  while (written < 1000 && (status = writer->write(reading(1, written)))) ++written;
  REQUIRE(!status);
  CHECK(status.error().code() == Errc::timeout);
  CHECK(written >= 1);
  CHECK(reader->sample_rejected_status().last_reason == SampleRejectedKind::rejected_by_samples_limit);

  std::string taken;
  std::thread taker([&] {
    (void)eventually([&] {
      const std::string text = take_text(*reader);
      taken += text.empty() ? "" : text + " ";
      return taken.find("1:2000") != taken.npos;
    });
  });
  CHECK(eventually([&] { return writer->write(reading(1, 2000)).has_value(); }));
  taker.join();
  std::string expected;
  for (std::int32_t value = 0; value < written; ++value) expected += fmt::format("1:{} ", value);
  CHECK(taken == expected + "1:2000 ");
  CHECK(writer->wait_for_acknowledgments(watchdog));
}

TEST_CASE("entities: what is not enabled does nothing, and what made it decides", "[dcps]") {
  Domain domain;
  qos::PublisherQos qos;
  qos.entity_factory.autoenable_created_entities = false;
  auto publisher = domain.publisher(qos);
  auto writer = domain.writer(reliable_writer(), publisher);
  CHECK(!writer->is_enabled());
  CHECK(writer->write(reading(1, 1)).error().code() == Errc::not_enabled);
  CHECK(writer->instance_handle().is_nil());
  auto changed = reliable_writer();
  changed.ownership.kind = qos::OwnershipKind::exclusive;  // may still be changed
  CHECK(writer->set_qos(changed));
  REQUIRE(writer->enable());
  CHECK(!writer->instance_handle().is_nil());
  CHECK(writer->set_qos(reliable_writer()).error().code() == Errc::immutable_policy);
}

TEST_CASE("entities: enabling a participant enables what it has made", "[dcps]") {
  Domain domain;
  domain.factory.set_qos({.autoenable_created_entities = false});
  auto late = domain.join("late");
  auto publisher = *late->create_publisher({});
  auto topic = domain.topic(late);
  auto writer = *publisher->create_datawriter(topic, reliable_writer());
  CHECK(!writer->is_enabled());
  CHECK(writer->enable().error().code() == Errc::precondition_not_met);
  REQUIRE(late->enable());
  CHECK(writer->is_enabled());
  auto reader = domain.reader();
  await_match(*writer);
  REQUIRE(late->delete_contained_entities());
  REQUIRE(domain.factory.delete_participant(late));
}

TEST_CASE("entities: inconsistent and immutable policies are refused", "[dcps]") {
  Domain domain;
  auto publisher = domain.publisher();
  auto bad = reliable_writer();
  bad.deadline.period = -1s;
  CHECK(publisher->create_datawriter(domain.topic(domain.here), bad).error().code() ==
        Errc::inconsistent_policy);
  auto writer = domain.writer(reliable_writer(), publisher);
  CHECK(writer->set_qos(bad).error().code() == Errc::inconsistent_policy);
  auto other = reliable_writer();
  other.latency_budget.duration = 5ms;
  other.ownership_strength.value = 7;
  REQUIRE(writer->set_qos(other));
  CHECK(writer->qos() == other);
  auto presentation = qos::PublisherQos{};
  presentation.presentation.ordered_access = true;
  CHECK(publisher->set_qos(presentation).error().code() == Errc::immutable_policy);
}

TEST_CASE("entities: things are deleted in the order of their use", "[dcps]") {
  Domain domain;
  auto publisher = domain.publisher();
  auto topic = domain.topic(domain.here);
  auto writer = *publisher->create_datawriter(topic, reliable_writer());
  CHECK(domain.here->delete_topic(topic).error().code() == Errc::precondition_not_met);
  CHECK(domain.here->delete_publisher(publisher).error().code() == Errc::precondition_not_met);
  CHECK(domain.there->delete_publisher(publisher).error().code() == Errc::precondition_not_met);
  REQUIRE(publisher->delete_datawriter(writer));
  CHECK(publisher->delete_datawriter(writer).error().code() == Errc::precondition_not_met);
  CHECK(domain.here->delete_topic(topic));
  CHECK(domain.here->delete_publisher(publisher));
  CHECK(publisher->is_deleted());
}

TEST_CASE("entities: topics are found, shared and told apart", "[dcps]") {
  Domain domain;
  auto topic = domain.topic(domain.here);
  CHECK(domain.topic(domain.here) == topic);
  CHECK(*domain.here->find_topic("readings", 0s) == topic);
  CHECK(domain.here->find_topic("other", 1ms).error().code() == Errc::timeout);
  CHECK(domain.here->create_topic("readings", type_of<Note>(), {}).error().code() == Errc::already_exists);
  CHECK(domain.here->lookup_topicdescription("readings") == topic);
  CHECK(domain.here->lookup_topicdescription("other") == nullptr);
  CHECK(domain.here->create_multitopic("m", "t", "e", {}).error().code() == Errc::unsupported);
}

TEST_CASE("entities: a topic of another type with the same name is inconsistent", "[dcps]") {
  Domain domain;
  auto reader = domain.reader();
  auto note = *domain.here->create_topic("readings", type_of<Note>(), {});
  auto writer = *domain.publisher()->create_datawriter(note, reliable_writer());
  auto topic = reader->topicdescription()->topic();
  CHECK(eventually([&] { return topic->inconsistent_topic_status().total_count > 0; }));
  CHECK(reader->matched_publications().empty());
}

TEST_CASE("entities: a topic that comes after another one's endpoints is inconsistent, too", "[dcps]") {
  Domain domain;
  auto note = *domain.here->create_topic("readings", type_of<Note>(), {});
  auto writer = *domain.publisher()->create_datawriter(note, reliable_writer());
  REQUIRE(eventually([&] { return domain.there->discovered_topics().size() == 1; }));
  CHECK(domain.topic(domain.there)->inconsistent_topic_status().total_count == 1);
  CHECK(domain.topic(domain.there, "others")->inconsistent_topic_status().total_count == 0);
}

/// The instances of a built-in topic, alive or not, that have been told.
std::size_t told_count(DomainParticipant& participant, const char* topic) {
  return participant.builtin_subscriber()->lookup_datareader(topic)->read()->size();
}

TEST_CASE("entities: built-in topics tell nothing of the participant's own entities", "[dcps]") {
  Domain domain;
  auto own = *(*domain.there->create_publisher({}))->create_datawriter(domain.topic(domain.there), {});
  auto own_reader = domain.reader();
  await_match(*own_reader);
  CHECK(told_count(*domain.there, builtin_publication_topic) == 0);
  CHECK(told_count(*domain.there, builtin_subscription_topic) == 0);
  CHECK(told_count(*domain.there, builtin_topic_topic) == 0);
  CHECK(eventually([&] { return told_count(*domain.here, builtin_publication_topic) == 1; }));
  CHECK(eventually([&] { return told_count(*domain.here, builtin_subscription_topic) == 1; }));
  CHECK(eventually([&] { return told_count(*domain.here, builtin_participant_topic) == 1; }));
  auto writer = domain.writer();
  CHECK(eventually([&] { return told_count(*domain.there, builtin_publication_topic) == 1; }));
  CHECK(told_count(*domain.there, builtin_topic_topic) == 1);  // the other participant has it, too
}

TEST_CASE("entities: a discovered topic goes with its last endpoint", "[dcps]") {
  Domain domain;
  auto publisher = domain.publisher();
  auto writer = domain.writer(reliable_writer(), publisher, "passing");
  REQUIRE(eventually([&] { return domain.there->discovered_topics().size() == 1; }));
  auto topics = domain.there->builtin_subscriber()->lookup_datareader(builtin_topic_topic);
  REQUIRE(eventually([&] { return !topics->take()->empty(); }));
  REQUIRE(publisher->delete_datawriter(writer));
  CHECK(eventually([&] { return domain.there->discovered_topics().empty(); }));
  const auto gone = topics->take();
  REQUIRE(gone->size() == 1);
  CHECK(gone->begin()->info.instance_state == instance_state::not_alive_disposed);
}

TEST_CASE("entities: without a persistence service only what must be kept is not acknowledged", "[dcps]") {
  Domain domain;
  for (const auto kind : {qos::DurabilityKind::transient, qos::DurabilityKind::persistent}) {
    auto offered = reliable_writer();
    offered.durability.kind = kind;
    const auto writer = *domain.publisher()->create_datawriter(domain.topic(domain.here), offered);
    auto requested = reliable_reader();
    requested.durability.kind = kind;
    REQUIRE(writer->write(reading(1, 1)));
    const auto reader = *domain.subscriber()->create_datareader(domain.topic(domain.there), requested);
    REQUIRE(reader->wait_for_historical_data(watchdog));
    CHECK(take_text(*reader) == "1:1");
    const Status acknowledged = writer->wait_for_acknowledgments(200ms);
    REQUIRE(acknowledged.has_value() == (kind == qos::DurabilityKind::transient));
    if (acknowledged) continue;
    CHECK(acknowledged.error().code() == Errc::timeout);
    CHECK(acknowledged.error().text().find("no persistence service keeps this topic") != std::string::npos);
  }
}

TEST_CASE("entities: a content-filtered topic gives what its expression and parameters say", "[dcps]") {
  Domain domain;
  auto topic = domain.topic(domain.there);
  CHECK(domain.there->create_contentfilteredtopic("bad", topic, "nothing > 1", {}).error().code() ==
        Errc::parse_error);
  auto filtered = *domain.there->create_contentfilteredtopic("large", topic, "value > %0", {"10"});
  auto reader = *domain.subscriber()->create_datareader(filtered, reliable_reader());
  auto writer = domain.writer();
  await_match(*writer);
  for (std::int32_t value : {5, 15, 20}) REQUIRE(writer->write(reading(1, value)));
  CHECK(take_until(*reader, "1:15 1:20") == "1:15 1:20");
  REQUIRE(filtered->set_expression_parameters({"17"}));
  CHECK(filtered->expression_parameters() == std::vector<std::string>{"17"});
  for (std::int32_t value : {5, 15, 20}) REQUIRE(writer->write(reading(1, value)));
  CHECK(take_until(*reader, "1:20") == "1:20");
  CHECK(domain.there->delete_contentfilteredtopic(filtered).error().code() == Errc::precondition_not_met);
}

TEST_CASE("entities: built-in topics tell of participants, topics, publications and subscriptions",
          "[dcps]") {
  Domain domain;
  auto qos = reliable_writer();
  qos.user_data.value = {std::byte{7}};
  auto writer = domain.writer(qos);
  auto builtin = domain.there->builtin_subscriber();
  auto publications = builtin->lookup_datareader(builtin_publication_topic);
  REQUIRE(publications);
  InstanceHandle instance;
  REQUIRE(eventually([&] {
    const auto samples = publications->read();
    for (const auto& each : *samples) {
      auto data = deserialize_builtin<PublicationBuiltinTopicData>(each.data);
      if (!data || data->key != writer->instance_handle()) continue;
      CHECK(data->topic_name == "readings");
      CHECK(data->type_name == domain.type->name());
      CHECK(data->qos == qos);
      CHECK(data->participant_key == domain.here->instance_handle());
      instance = each.info.instance_handle;
      return true;
    }
    return false;
  }));
  CHECK(domain.there->discovered_participants().size() == 2);
  CHECK(domain.there->discovered_participant_data(domain.here->instance_handle())->name == "here");
  REQUIRE(domain.there->discovered_topics().size() == 1);
  CHECK(domain.there->discovered_topic_data(domain.there->discovered_topics()[0])->name == "readings");
  REQUIRE(writer->publisher()->delete_contained_entities());
  CHECK(eventually([&] {
    const auto samples = publications->read({.instance = instance});
    return samples && !samples->empty() &&
           (*samples)[samples->size() - 1].info.instance_state == instance_state::not_alive_disposed;
  }));
}

TEST_CASE("entities: what is ignored is not there", "[dcps]") {
  Domain domain;
  auto reader = domain.reader();
  auto writer = domain.writer();
  await_match(*reader);
  await_match(*writer);
  SECTION("a publication") { REQUIRE(domain.there->ignore_publication(writer->instance_handle())); }
  SECTION("a participant") { REQUIRE(domain.there->ignore_participant(domain.here->instance_handle())); }
  SECTION("a topic") { REQUIRE(domain.there->ignore_topic(domain.there->discovered_topics()[0])); }
  CHECK(reader->matched_publications().empty());
  REQUIRE(writer->write(reading(1, 1)));
  REQUIRE(writer->wait_for_acknowledgments(watchdog));
  CHECK(take_text(*reader) == "");
  CHECK(domain.there->ignore_publication({999, 2}).error().code() == Errc::not_found);
}

}  // namespace
}  // namespace llamada::dcps::test
