#pragma once

// What the conformance suite's test cases have in common. They need, defined before,
//
//   struct TransportFixture { std::unique_ptr<llamada::topics::Transport> attach(); };   // a new domain each
//
// attach() gives a new application of the fixture's domain; they may be destroyed in any order, before the
// fixture. At least 8 applications and 64 MiB for each are needed.

#include <atomic>
#include <chrono>
#include <deque>
#include <initializer_list>
#include <map>
#include <optional>
#include <thread>
#include <vector>

#include "llamada/topics/participant.hpp"
#include "test.hpp"

namespace llamada::topics::conformance {

using namespace std::chrono_literals;

/// An application with a participant.
struct Peer {
  explicit Peer(TransportFixture& fixture, DiscoveryEvents* discovery = nullptr,
                ParticipantOptions options = {})
      : transport(fixture.attach()), participant(*transport, clock, std::move(options), discovery) {}
  SystemClock clock;
  std::unique_ptr<Transport> transport;
  Participant participant;
};

/// A reader's events as they came.
struct Reader final : ReaderEvents {
  bool on_sample(const EndpointId& writer, Sample&& sample) override {
    if (samples.size() >= room) return false;
    sample.let_evacuate(evacuates);
    samples.push_back({writer, std::move(sample)});
    return true;
  }
  void on_matched(const EndpointInfo& writer) override { matched.push_back(writer); }
  void on_qos_changed(const EndpointInfo& writer) override { changed.push_back(writer); }
  void on_unmatched(const EndpointId& writer, bool died) override { unmatched.push_back({writer, died}); }
  void on_liveliness_changed(const EndpointId& writer, bool alive) override {
    liveliness.push_back({writer, alive});
  }
  void on_incompatible(const EndpointInfo&, const std::vector<qos::Incompatibility>& why) override {
    incompatible.push_back(why);
  }
  void on_samples_lost(const EndpointId&, std::uint64_t count) override { lost += count; }

  std::optional<Sample> take() {
    if (samples.empty()) return std::nullopt;
    Sample sample = std::move(samples.front().second);
    samples.pop_front();
    return sample;
  }

  std::size_t room = SIZE_MAX;
  bool evacuates = true;
  std::deque<std::pair<EndpointId, Sample>> samples;
  std::vector<EndpointInfo> matched, changed;
  std::vector<std::pair<EndpointId, bool>> unmatched, liveliness;
  std::vector<std::vector<qos::Incompatibility>> incompatible;
  std::uint64_t lost = 0;
  std::unique_ptr<ReaderEndpoint> endpoint;
};

struct Writer final : WriterEvents {
  void on_matched(const EndpointInfo& reader) override { matched.push_back(reader); }
  void on_qos_changed(const EndpointInfo& reader) override { changed.push_back(reader); }
  void on_unmatched(const EndpointId& reader, bool died) override { unmatched.push_back({reader, died}); }
  void on_incompatible(const EndpointInfo&, const std::vector<qos::Incompatibility>& why) override {
    incompatible.push_back(why);
  }
  void on_liveliness_lost() override { ++liveliness_lost; }

  std::vector<EndpointInfo> matched, changed;
  std::vector<std::pair<EndpointId, bool>> unmatched;
  std::vector<std::vector<qos::Incompatibility>> incompatible;
  int liveliness_lost = 0;
  std::unique_ptr<WriterEndpoint> endpoint;
};

inline constexpr auto transient_local = qos::DurabilityKind::transient_local;
inline constexpr auto volatile_ = qos::DurabilityKind::volatile_;

/// RELIABLE KEEP_ALL.
inline EndpointSpec writer_spec(qos::DurabilityKind durability = volatile_, std::string topic = "Square") {
  qos::DataWriterQos qos;
  qos.history.kind = qos::HistoryKind::keep_all;
  qos.durability.kind = durability;
  return {std::move(topic), "ShapeType", 7, true, qos::endpoint_qos(qos, {}), 0};
}

inline EndpointSpec reader_spec(qos::DurabilityKind durability = volatile_, std::string topic = "Square") {
  qos::DataReaderQos qos;
  qos.reliability.kind = qos::ReliabilityKind::reliable;
  qos.history.kind = qos::HistoryKind::keep_all;
  qos.durability.kind = durability;
  return {std::move(topic), "ShapeType", 7, true, qos::endpoint_qos(qos, {}), 0};
}

inline EndpointSpec best_effort(EndpointSpec spec) {
  spec.qos.datareader.reliability.kind = qos::ReliabilityKind::best_effort;
  spec.qos.datawriter.reliability.kind = qos::ReliabilityKind::best_effort;
  return spec;
}

inline EndpointSpec keep_last(EndpointSpec spec, std::int32_t depth) {
  spec.qos.datawriter.history = {.kind = qos::HistoryKind::keep_last, .depth = depth};
  return spec;
}

inline void open(Peer& peer, Writer& writer, const EndpointSpec& spec = writer_spec()) {
  auto made = peer.participant.create_writer(spec, writer);
  if (!made) FAIL(made.error().text());
  writer.endpoint = std::move(*made);
}

inline void open(Peer& peer, Reader& reader, const EndpointSpec& spec = reader_spec()) {
  auto made = peer.participant.create_reader(spec, reader);
  if (!made) FAIL(made.error().text());
  reader.endpoint = std::move(*made);
}

/// Polls all until it holds; a watchdog of a minute.
template <typename Condition>
void settle(std::initializer_list<Peer*> peers, Condition condition) {
  const auto begin = std::chrono::steady_clock::now();
  while (!condition()) {
    for (Peer* peer : peers) REQUIRE(peer->participant.poll().has_value());
    if (condition()) return;
    if (std::chrono::steady_clock::now() - begin > 60s) FAIL("nothing happened for a minute");
    std::this_thread::sleep_for(100us);
  }
}

inline void settle_match(Peer& one, Writer& writer, Peer& other, Reader& reader, std::size_t count = 1) {
  settle({&one, &other},
         [&] { return writer.endpoint->matched_count() >= count && reader.endpoint->matched_count() >= 1; });
}

/// A writer and a reader, each in an application of its own, that have met.
struct MatchedPair {
  MatchedPair() {
    open(sender, writer);
    open(receiver, reader);
    settle_match(sender, writer, receiver, reader);
  }
  TransportFixture fixture;
  Peer sender{fixture}, receiver{fixture};
  Writer writer;
  Reader reader;
};

inline std::vector<std::byte> bytes_of(std::uint64_t number, std::size_t size = 8) {
  std::vector<std::byte> bytes(size);
  for (std::size_t i = 0; i < size; ++i) bytes[i] = static_cast<std::byte>((number >> (i % 8 * 8)) + i / 8);
  return bytes;
}

inline bool is(const Sample& sample, std::uint64_t number, std::size_t size = 8) {
  return std::ranges::equal(sample.data(), bytes_of(number, size));
}
inline bool is(const std::optional<Sample>& sample, std::uint64_t number, std::size_t size = 8) {
  return sample && is(*sample, number, size);
}

inline SampleHeader header_of(std::uint64_t number) {
  SampleHeader header;
  header.source_timestamp_ns = static_cast<std::int64_t>(number * 1000);
  header.instance = number;
  return header;
}

inline bool write(Writer& writer, std::uint64_t number, std::size_t size = 8) {
  return writer.endpoint->publish(bytes_of(number, size), header_of(number)).has_value();
}

inline std::uint64_t counted(Peer& peer, log::Counter counter) {
  return peer.transport->arena().counted(counter);
}

/// The next sample, which is to be there once all is absorbed.
inline std::optional<Sample> take(Peer& peer, Reader& reader) {
  if (reader.samples.empty()) REQUIRE(peer.participant.poll().has_value());
  return reader.take();
}

}  // namespace llamada::topics::conformance
