#pragma once

#include <chrono>
#include <functional>
#include <memory>
#include <string>
#include <thread>

#include "llamada/dcps/domain_participant.hpp"
#include "llamada/dcps/publisher.hpp"
#include "llamada/dcps/subscriber.hpp"
#include "llamada/types/typed_support.hpp"

// What tests of DCPS entities have in common: a keyed type, and waiting for conditions under a watchdog.
namespace llamada::dcps::test {

using namespace std::chrono_literals;

struct Reading {
  std::int32_t sensor = 0;
  std::int32_t value = 0;
  std::string text;
};
LLAMADA_TYPE(Reading, LLAMADA_KEY(sensor), value, text);

/// The same without a key.
struct Note {
  std::int32_t value = 0;
};
LLAMADA_TYPE(Note, value);

/// How long anything may take on the busiest machine.
inline constexpr auto watchdog = 60s;

template <typename T>
std::shared_ptr<const types::TypeSupport> type_of() {
  return std::make_shared<types::TypeSupportOf<T>>();
}

template <typename T>
std::vector<std::byte> sample_of(const T& value) {
  auto bytes = types::serialize(value);
  return bytes ? std::move(*bytes) : std::vector<std::byte>();
}

inline std::vector<std::byte> reading(std::int32_t sensor, std::int32_t value, std::string text = {}) {
  return sample_of(Reading{sensor, value, std::move(text)});
}

/// False: it did not become true before the watchdog.
inline bool eventually(const std::function<bool()>& condition) {
  const auto end = std::chrono::steady_clock::now() + watchdog;
  while (!condition()) {
    if (std::chrono::steady_clock::now() > end) return false;
    std::this_thread::sleep_for(1ms);
  }
  return true;
}

/// "1:10 2:20 1:-D": sensor and value of each sample; without data the instance's state: D disposed, N no
/// writers, A alive.
inline std::string text_of(const LoanedSamples& samples) {
  std::string text;
  for (const LoanedSamples::Sample& each : samples) {
    if (!text.empty()) text += ' ';
    if (!each.info.valid_data) {
      text += each.info.instance_state == instance_state::alive                ? "-A"
              : each.info.instance_state == instance_state::not_alive_disposed ? "-D"
                                                                               : "-N";
      continue;
    }
    auto value = types::deserialize<Reading>(each.data);
    text += value ? fmt::format("{}:{}", value->sensor, value->value) : "?";
  }
  return text;
}

inline std::string take_text(DataReader& reader, const ReadOptions& options = {}) {
  auto samples = reader.take(options);
  return samples ? text_of(*samples) : "error: " + samples.error().text();
}

/// Takes until the texts together are `expected`, or differ from it, or the watchdog barks; gives what was
/// taken.
inline std::string take_until(DataReader& reader, const std::string& expected,
                              const ReadOptions& options = {}) {
  std::string all;
  (void)eventually([&] {
    const std::string more = take_text(reader, options);
    if (!more.empty()) all += (all.empty() ? "" : " ") + more;
    return all.size() >= expected.size();
  });
  return all;
}

inline qos::DataWriterQos reliable_writer() {
  qos::DataWriterQos qos;
  qos.reliability = {qos::ReliabilityKind::reliable, watchdog};
  qos.history.kind = qos::HistoryKind::keep_all;
  return qos;
}

inline qos::DataReaderQos reliable_reader() {
  qos::DataReaderQos qos;
  qos.reliability.kind = qos::ReliabilityKind::reliable;
  qos.history.kind = qos::HistoryKind::keep_all;
  return qos;
}

}  // namespace llamada::dcps::test
