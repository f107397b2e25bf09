#pragma once

#include <unistd.h>

#include <optional>
#include <thread>

#include "dds/dds.hpp"
#include "test.hpp"

namespace dds_test {

/// Plain and keyed; and one that is serialised.
struct Reading {
  std::int32_t sensor = 0;
  double value = 0;
};
LLAMADA_TYPE(Reading, LLAMADA_KEY(sensor), value);

struct Note {
  std::string author;
  std::string text;
  std::vector<std::int32_t> numbers;
};
LLAMADA_TYPE_APPENDABLE(Note, LLAMADA_KEY(author), text, LLAMADA_BOUND(numbers, 4));

/// No upper bound but this watchdog.
template <typename Predicate>
bool eventually(Predicate predicate) {
  const auto deadline = std::chrono::steady_clock::now() + std::chrono::seconds(100);
  while (!predicate()) {
    if (std::chrono::steady_clock::now() > deadline) return false;
    std::this_thread::sleep_for(std::chrono::milliseconds(2));
  }
  return true;
}

/// A name that no other test and no other run has.
inline std::string unique(const std::string& name) {
  static int count = 0;
  return fmt::format("{}-{}-{}", name, ::getpid(), ++count);
}

/// RELIABLE, KEEP_ALL, TRANSIENT_LOCAL at both ends: nothing depends on who comes first.
template <typename Qos>
Qos durable(Qos qos) {
  using namespace dds::core::policy;
  qos << Reliability::Reliable(dds::core::Duration(60)) << History::KeepAll() << Durability::TransientLocal();
  return qos;
}

/// A writer and a reader of one topic, each of a participant of its own.
template <typename T>
struct Pair {
  dds::domain::DomainParticipant here{0}, there{0};
  std::string name = unique("topic");
  dds::topic::Topic<T> topic_here{here, name}, topic_there{there, name};
  dds::pub::Publisher publisher{here};
  dds::sub::Subscriber subscriber{there};
  dds::pub::DataWriter<T> writer{publisher, topic_here, durable(publisher.default_datawriter_qos())};
  dds::sub::DataReader<T> reader{subscriber, topic_there, durable(subscriber.default_datareader_qos())};
};

/// Takes until there are that many.
template <typename T>
std::vector<dds::sub::Sample<T>> take(dds::sub::DataReader<T>& reader, std::size_t count) {
  std::vector<dds::sub::Sample<T>> samples;
  const bool all = eventually([&] {
    for (const auto& each : reader.take()) samples.emplace_back(each);
    return samples.size() >= count;
  });
  CHECK(all);
  return samples;
}

}  // namespace dds_test
