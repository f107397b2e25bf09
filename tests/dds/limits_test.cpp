// RESOURCE_LIMITS, and what makes room.
#include "support.hpp"

using namespace dds_test;
using namespace dds::core;
using namespace dds::core::policy;

TEST_CASE("dds: expired samples make room in a TRANSIENT_LOCAL KEEP_ALL writer", "[dds]") {
  dds::domain::DomainParticipant here(0), there(0);
  const std::string name = unique("lifespan");
  dds::topic::Topic<Reading> topic(here, name), topic_there(there, name);
  dds::pub::qos::DataWriterQos qos = durable(dds::pub::qos::DataWriterQos());
  qos << ResourceLimits(3) << Lifespan(Duration::from_millisecs(100));
  dds::pub::DataWriter<Reading> writer(dds::pub::Publisher(here), topic, qos);
  const auto start = std::chrono::steady_clock::now();
  for (int number = 1; number <= 7; ++number) writer << Reading{1, number * 1.0};
  CHECK(std::chrono::steady_clock::now() - start >= std::chrono::milliseconds(200));  // it waited twice
  std::this_thread::sleep_for(std::chrono::milliseconds(150));
  dds::sub::DataReader<Reading> late(dds::sub::Subscriber(there), topic_there,
                                     durable(dds::sub::qos::DataReaderQos()));
  late.wait_for_historical_data(Duration(60));
  CHECK(late.read().empty());
  CHECK(late.sample_lost_status().total_count() == 0);
  writer << Reading{1, 8};
  CHECK(take(late, 1)[0].data().value == 8);
}

TEST_CASE("dds: a TRANSIENT_LOCAL writer without LIFESPAN says at once that it is full", "[dds]") {
  dds::domain::DomainParticipant here(0);
  dds::topic::Topic<Reading> topic(here, unique("full"));
  dds::pub::qos::DataWriterQos qos = durable(dds::pub::qos::DataWriterQos());
  dds::pub::DataWriter<Reading> writer(dds::pub::Publisher(here), topic, qos << ResourceLimits(3));
  for (int number = 1; number <= 3; ++number) writer << Reading{1, number * 1.0};
  CHECK_THROWS_AS(writer << (Reading{1, 4}), OutOfResourcesError);
}

TEST_CASE("dds: with BY_SOURCE_TIMESTAMP a writer's timestamps never go back", "[dds]") {
  dds::domain::DomainParticipant participant(0);
  dds::topic::Topic<Reading> topic(participant, unique("order"));
  dds::pub::qos::DataWriterQos qos = durable(dds::pub::qos::DataWriterQos());
  dds::pub::DataWriter<Reading> writer(dds::pub::Publisher(participant), topic,
                                       qos << DestinationOrder::SourceTimestamp());
  writer.write(Reading{1, 1}, Time(4'000'000'000, 0));  // in the future
  CHECK_THROWS_AS(writer.write(Reading{1, 2}, Time(3'999'999'999, 0)), InvalidArgumentError);
  CHECK_NOTHROW(writer.write(Reading{1, 2}, Time(4'000'000'000, 0)));
  CHECK_NOTHROW(writer.write(Reading{1, 3}));
  dds::sub::DataReader<Reading> reader(dds::sub::Subscriber(participant), topic,
                                       durable(dds::sub::qos::DataReaderQos())
                                           << DestinationOrder::SourceTimestamp());
  const auto samples = take(reader, 3);
  CHECK(samples.back().data().value == 3);
  CHECK(samples.back().info().timestamp() >= Time(4'000'000'000, 0));
}
