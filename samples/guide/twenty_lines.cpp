#include <dds/dds.hpp>
#include <iostream>

struct Reading {
  std::int32_t sensor;
  double value;
};
LLAMADA_TYPE(Reading, LLAMADA_KEY(sensor), value);

int main() {
  using namespace dds::core::policy;
  dds::domain::DomainParticipant participant(0);
  dds::topic::Topic<Reading> topic(participant, "readings");
  auto offered = dds::pub::qos::DataWriterQos() << Durability::TransientLocal() << History::KeepAll();
  auto requested = dds::sub::qos::DataReaderQos() << Durability::TransientLocal() << Reliability::Reliable();
  dds::pub::DataWriter<Reading> writer(dds::pub::Publisher(participant), topic, offered);
  dds::sub::DataReader<Reading> reader(dds::sub::Subscriber(participant), topic, requested);
  writer << Reading{7, 21.5};
  dds::core::cond::WaitSet waits;
  waits += dds::sub::cond::ReadCondition(reader, dds::sub::status::DataState::new_data());
  waits.wait();
  for (const auto& sample : reader.take())
    std::cout << "sensor " << sample.data().sensor << ": " << sample.data().value << "\n";
}
