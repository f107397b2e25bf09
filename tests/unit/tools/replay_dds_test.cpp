// What DataWriters do, recorded and replayed for a DataReader.

#include <signal.h>

#include <algorithm>

#include "command.hpp"
#include "support.hpp"
#include "temporary_folder.hpp"

using namespace dds_test;
using llamada::test::Running;

namespace {

using dds::sub::status::InstanceState;

/// What a reader can see of a sample.
struct Seen {
  std::int32_t sensor = 0;
  double value = 0;
  bool valid = false;
  bool is_disposed = false;

  bool operator==(const Seen&) const = default;
};

std::vector<Seen> take_all(dds::sub::DataReader<Reading>& reader, std::size_t count) {
  std::vector<Seen> seen;
  for (const auto& sample : take(reader, count)) {
    const bool valid = sample.info().valid();
    Reading key;
    reader.key_value(key, sample.info().instance_handle());
    seen.push_back({key.sensor, valid ? sample.data().value : 0, valid,
                    sample.info().state().instance_state() == InstanceState::not_alive_disposed()});
  }
  return seen;
}

}  // namespace

TEST_CASE("llamada replay: a DataReader sees what it would have seen of the recorded writer", "[tools]") {
  const llamada::test::TemporaryFolder folder;
  const std::string file = folder / "readings.rec";
  dds::domain::DomainParticipant participant(0);
  dds::topic::Topic<Reading> topic(participant, unique("readings"));
  dds::pub::Publisher publisher(participant);
  dds::sub::Subscriber subscriber(participant);
  Running record({LLAMADA_COMMAND, "record", "-o", file});
  std::vector<Seen> original;
  dds::core::Time written_at;
  {
    dds::pub::DataWriter<Reading> writer(publisher, topic, durable(publisher.default_datawriter_qos()));
    dds::sub::DataReader<Reading> reader(subscriber, topic, durable(subscriber.default_datareader_qos()));
    CHECK(eventually([&] { return writer.publication_matched_status().current_count() == 2; }));
    writer << Reading{1, 0.5} << Reading{2, 1.5};
    original = take_all(reader, 2);
    writer.dispose_instance(writer.lookup_instance({1, 0}));
    for (const Seen& each : take_all(reader, 1)) original.push_back(each);
    writer << Reading{2, 2.5};
    for (const Seen& each : take_all(reader, 1)) original.push_back(each);
    writer.wait_for_acknowledgments(dds::core::Duration(60));
  }
  record.send(SIGINT);
  const auto recorded = record.end();
  INFO(recorded.err);
  CHECK(recorded.exit_code == 0);

  dds::sub::DataReader<Reading> reader(subscriber, topic, durable(subscriber.default_datareader_qos()));
  const auto replayed = llamada::test::run({LLAMADA_COMMAND, "replay", file});
  INFO(replayed.err);
  CHECK(replayed.exit_code == 0);
  // The last one is the end of sensor 2, of which the deleted writer has disposed.
  const auto again = take_all(reader, 5);
  REQUIRE(original.size() == 4);
  REQUIRE(again.size() == 5);
  CHECK(original[2] == Seen{1, 0, false, true});
  // By now all that is known of the instances has come: their states are the last ones.
  const auto values = [](const std::vector<Seen>& seen) {
    std::vector<std::pair<std::int32_t, double>> found;
    for (const Seen& each : seen)
      if (each.valid) found.emplace_back(each.sensor, each.value);
    std::sort(found.begin(), found.end());
    return found;
  };
  CHECK(values(again) == values(original));
  CHECK(std::count_if(again.begin(), again.end(), [](const Seen& each) { return !each.valid; }) == 2);
  CHECK(std::all_of(again.begin(), again.end(), [](const Seen& each) { return each.is_disposed; }));
}

TEST_CASE("llamada replay: a coherent set comes back as a whole", "[tools]") {
  using dds::core::policy::Presentation;
  const llamada::test::TemporaryFolder folder;
  const std::string file = folder / "set.rec";
  dds::domain::DomainParticipant participant(0);
  dds::topic::Topic<Reading> topic(participant, unique("coherent"));
  {
    dds::pub::Publisher publisher(participant, dds::pub::qos::PublisherQos()
                                                   << Presentation::TopicAccessScope(true, true));
    dds::pub::DataWriter<Reading> writer(publisher, topic, durable(publisher.default_datawriter_qos()));
    Running record({LLAMADA_COMMAND, "record", "-o", file});
    CHECK(eventually([&] { return writer.publication_matched_status().current_count() == 1; }));
    dds::pub::CoherentSet set(publisher);
    writer << Reading{1, 1} << Reading{2, 2};
    set.end();
    writer.wait_for_acknowledgments(dds::core::Duration(60));
    record.send(SIGINT);
    CHECK(record.end().exit_code == 0);
  }
  dds::sub::Subscriber subscriber(participant, dds::sub::qos::SubscriberQos()
                                                   << Presentation::TopicAccessScope(true, true));
  dds::sub::DataReader<Reading> reader(subscriber, topic, durable(subscriber.default_datareader_qos()));
  CHECK(llamada::test::run({LLAMADA_COMMAND, "replay", file}).exit_code == 0);
  // The replayed writer is gone: its instances may have told that by now, too.
  const auto seen = take_all(reader, 2);
  CHECK(std::count_if(seen.begin(), seen.end(), [](const Seen& each) { return each.valid; }) == 2);
}
