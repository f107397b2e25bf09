#include "support.hpp"

using namespace dds_test;
using namespace dds::core;
using namespace dds::core::policy;
using dds::sub::status::DataState;

TEST_CASE("dds: a plain sample is read where it lies, a serialised one as it was", "[dds]") {
  Pair<Reading> plain;
  plain.writer << Reading{1, 2.5};
  const auto readings = take(plain.reader, 1);
  CHECK(readings[0].data().value == 2.5);
  CHECK(readings[0].info().valid());
  CHECK(readings[0].info().sequence_number() == 1);

  Pair<Note> notes;
  notes.writer.write(Note{"ada", std::string(5000, 'x'), {1, 2, 3}});
  const auto taken = take(notes.reader, 1);
  CHECK(taken[0].data().author == "ada");
  CHECK(taken[0].data().text.size() == 5000);
  CHECK(taken[0].data().numbers == std::vector<std::int32_t>{1, 2, 3});
  CHECK_THROWS_AS(notes.writer.write(Note{"ada", "", {1, 2, 3, 4, 5}}), InvalidArgumentError);
}

TEST_CASE("dds: a sample that is filled in place", "[dds]") {
  Pair<Reading> pair;
  auto loan = pair.writer.loan_sample();
  loan->sensor = 3;
  loan->value = 7;
  pair.writer.write(std::move(loan));
  CHECK(take(pair.reader, 1)[0].data().value == 7);
}

TEST_CASE("dds: a late joiner gets the history", "[dds]") {
  dds::domain::DomainParticipant here(0), there(0);
  const std::string name = unique("late");
  dds::topic::Topic<Reading> topic_here(here, name), topic_there(there, name);
  dds::pub::Publisher publisher(here);
  dds::pub::DataWriter<Reading> writer(publisher, topic_here, durable(publisher.default_datawriter_qos()));
  for (int i = 0; i < 20; i++) writer << Reading{i, i * 0.5};
  dds::sub::Subscriber subscriber(there);
  dds::sub::DataReader<Reading> reader(subscriber, topic_there, durable(subscriber.default_datareader_qos()));
  const auto samples = take(reader, 20);
  for (int i = 0; i < 20; i++) CHECK(samples[static_cast<std::size_t>(i)].data().sensor == i);
  writer.wait_for_acknowledgments(Duration(100));
}

TEST_CASE("dds: instances are disposed of and looked up", "[dds]") {
  Pair<Reading> pair;
  const auto instance = pair.writer.register_instance(Reading{5, 0});
  pair.writer.write(Reading{5, 1}, instance);
  pair.writer.dispose_instance(instance);
  const auto samples = take(pair.reader, 2);
  CHECK(samples[0].data().value == 1);
  CHECK_FALSE(samples[1].info().valid());
  CHECK(samples[1].info().state().instance_state() == dds::sub::status::InstanceState::not_alive_disposed());
  CHECK(pair.reader.lookup_instance(Reading{5, 0}) == samples[0].info().instance_handle());
  Reading key;
  CHECK(pair.writer.key_value(key, instance).sensor == 5);
  CHECK_THROWS_AS(pair.writer.write(Reading{6, 1}, instance), PreconditionNotMetError);
}

TEST_CASE("dds: selections by state, number, instance and content", "[dds]") {
  Pair<Reading> pair;
  for (int i = 0; i < 10; i++) pair.writer << Reading{i % 2, i * 1.0};
  CHECK(eventually([&] { return pair.reader.read().length() == 10; }));
  CHECK(pair.reader.select().state(DataState::new_data()).read().length() == 0);
  CHECK(pair.reader.select().max_samples(3).read().length() == 3);
  const auto odd = pair.reader.lookup_instance(Reading{1, 0});
  CHECK(pair.reader.select().instance(odd).read().length() == 5);
  const auto large = pair.reader.select().content(dds::sub::Query(pair.reader, "value >= %0", {"7"})).read();
  CHECK(large.length() == 3);
  CHECK(pair.reader.select().content(dds::sub::Query(pair.reader, "value >= 7")).take().length() == 3);
  CHECK(pair.reader.take().length() == 7);
  CHECK_THROWS_AS(pair.reader.select().content(dds::sub::Query(pair.reader, "value >")).read(),
                  InvalidArgumentError);
}

TEST_CASE("dds: a ContentFilteredTopic lets through what matches", "[dds]") {
  Pair<Reading> pair;
  dds::topic::ContentFilteredTopic<Reading> filtered(pair.topic_there, unique("filtered"),
                                                     dds::topic::Filter("sensor = %0", {"4"}));
  dds::sub::DataReader<Reading> reader(pair.subscriber, filtered,
                                       durable(pair.subscriber.default_datareader_qos()));
  for (int i = 0; i < 12; i++) pair.writer << Reading{i % 6, i * 1.0};
  const auto samples = take(reader, 2);
  CHECK(samples.size() == 2);
  CHECK(samples[0].data().value == 4);
  CHECK(samples[1].data().value == 10);
}

TEST_CASE("dds: a coherent set is seen as a whole", "[dds]") {
  dds::domain::DomainParticipant here(0), there(0);
  const std::string name = unique("coherent");
  dds::topic::Topic<Reading> topic_here(here, name), topic_there(there, name);
  dds::pub::Publisher publisher(here, dds::pub::qos::PublisherQos()
                                          << Presentation::TopicAccessScope(true, true));
  dds::sub::Subscriber subscriber(there, dds::sub::qos::SubscriberQos()
                                             << Presentation::TopicAccessScope(true, true));
  dds::pub::DataWriter<Reading> writer(publisher, topic_here, durable(publisher.default_datawriter_qos()));
  dds::sub::DataReader<Reading> reader(subscriber, topic_there, durable(subscriber.default_datareader_qos()));
  {
    dds::pub::CoherentSet set(publisher);
    writer << Reading{1, 1} << Reading{2, 2};
    set.end();
  }
  const auto samples = take(reader, 2);
  CHECK(samples.size() == 2);
}

TEST_CASE("dds: reading as a stream", "[dds]") {
  Pair<Reading> pair;
  for (int i = 0; i < 10; i++) pair.writer << Reading{i % 2, i * 1.0};
  CHECK(eventually([&] { return pair.reader.read().length() == 10; }));
  dds::sub::LoanedSamples<Reading> samples;
  pair.reader >> samples;
  CHECK(samples.length() == 10);
  pair.reader >> dds::sub::state(DataState::new_data()) >> samples;
  CHECK(samples.empty());
  const auto odd = pair.reader.lookup_instance(Reading{1, 0});
  pair.reader >> dds::sub::read >> dds::sub::instance(odd) >> dds::sub::max_samples(3) >> samples;
  CHECK(samples.length() == 3);
  CHECK(samples[0].data().sensor == 1);
  pair.reader >> dds::sub::take >> dds::sub::content(dds::sub::Query(pair.reader, "value >= 7")) >> samples;
  CHECK(samples.length() == 3);
  const dds::sub::cond::ReadCondition any(pair.reader, DataState::any());
  pair.reader >> dds::sub::take >> dds::sub::condition(any) >> samples;
  CHECK(samples.length() == 7);
  pair.reader >> dds::sub::take >> dds::sub::next_instance(InstanceHandle::nil()) >> samples;
  CHECK(samples.empty());
  dds::sub::qos::DataReaderQos qos;
  pair.reader >> qos;
  CHECK(qos == pair.reader.qos());
}

TEST_CASE("dds: a nil handle selects no instance, and next_instance begins with it", "[dds]") {
  Pair<Reading> pair;
  for (int key = 1; key <= 3; ++key) pair.writer << Reading{key, 10.0 * key};
  REQUIRE(eventually([&] { return pair.reader.read().length() == 3; }));
  const auto unknown = pair.reader.lookup_instance(Reading{99, 0});
  CHECK(unknown.is_nil());
  CHECK_THROWS_AS(pair.reader.select().instance(unknown).take(), InvalidArgumentError);
  Reading key;
  CHECK_THROWS_AS(pair.reader.key_value(key, unknown), InvalidArgumentError);
  CHECK_THROWS_AS(pair.writer.key_value(key, unknown), InvalidArgumentError);
  CHECK(pair.reader.select().next_instance(unknown).take().length() == 1);
  CHECK(pair.reader.take().length() == 2);
}

TEST_CASE("dds: key_value tells which instance died", "[dds]") {
  Pair<Reading> pair;
  pair.writer << Reading{7, 1};
  CHECK(take(pair.reader, 1).size() == 1);
  pair.writer.close();
  dds::sub::LoanedSamples<Reading> samples;
  REQUIRE(eventually([&] { return !(samples = pair.reader.take()).empty(); }));
  CHECK_FALSE(samples[0].info().valid());
  const auto died = samples[0].info().instance_handle();
  Reading key;
  CHECK(pair.reader.key_value(key, died).sensor == 7);
  samples.return_loan();
  CHECK(pair.reader.key_value(key, died).sensor == 7);
}
