#pragma once

// Discovery, LIVELINESS, order of arrival and waiting.

#include "conformance_peers.hpp"

namespace llamada::topics::conformance {

/// All that is there, as it was told.
struct Discovered final : DiscoveryEvents {
  void on_participant(const ParticipantInfo& info) override { participants[info.id] = info; }
  void on_participant_gone(std::uint64_t id) override { participants.erase(id); }
  void on_endpoint(const EndpointInfo& info) override { endpoints[info.id] = info; }
  void on_endpoint_changed(const EndpointInfo& info) override {
    changed += endpoints.contains(info.id) ? 1 : 0;
    endpoints[info.id] = info;
  }
  void on_endpoint_gone(const EndpointId& id) override { endpoints.erase(id); }
  std::map<std::uint64_t, ParticipantInfo> participants;
  std::map<EndpointId, EndpointInfo> endpoints;
  int changed = 0;
};

TEST_CASE("topics: discovery tells of all participants and endpoints, with their QoS", "[conformance]") {
  TransportFixture fixture;
  Discovered seen;
  Peer observer(fixture, &seen, {.domain = 3, .name = "observer"});
  auto other = std::make_unique<Peer>(
      fixture, nullptr,
      ParticipantOptions{.domain = 3, .name = std::string(300, 'n'), .user_data = bytes_of(1, 2000)});
  auto spec = writer_spec(transient_local, std::string(200, 't'));
  spec.qos.datawriter.user_data.value = bytes_of(9, 700);
  spec.publisher = 12;
  Writer writer;
  open(*other, writer, spec);
  settle({&observer, other.get()},
         [&] { return seen.participants.size() == 2 && seen.endpoints.size() == 1; });
  const ParticipantInfo& participant = seen.participants.at(other->participant.id());
  CHECK(participant.name == std::string(300, 'n'));
  CHECK(participant.user_data == bytes_of(1, 2000));
  CHECK(participant.domain == 3);
  CHECK(participant.slot == other->transport->slot());
  const EndpointInfo& endpoint = seen.endpoints.at(writer.endpoint->id());
  CHECK(endpoint.topic == spec.topic);
  CHECK(endpoint.type == spec.type);
  CHECK(endpoint.type_hash == 7);
  CHECK(endpoint.keyed);
  CHECK(endpoint.writer);
  CHECK(endpoint.qos == spec.qos);
  CHECK(endpoint.publisher == 12);
  spec.qos.topic_data.value = bytes_of(4, 9);
  REQUIRE(writer.endpoint->set_qos(spec.qos).has_value());
  settle({&observer}, [&] { return seen.changed == 1; });
  CHECK(seen.endpoints.at(writer.endpoint->id()).qos == spec.qos);
  writer.endpoint.reset();
  settle({&observer}, [&] { return seen.endpoints.empty(); });
  other.reset();
  settle({&observer}, [&] { return seen.participants.size() == 1; });
}

TEST_CASE("topics: LIVELINESS by its three kinds", "[conformance]") {
  TransportFixture fixture;
  Peer sender(fixture), receiver(fixture);
  for (auto kind : {qos::LivelinessKind::automatic, qos::LivelinessKind::manual_by_participant,
                    qos::LivelinessKind::manual_by_topic}) {
    Writer writer;
    Reader reader;
    auto spec = writer_spec();
    spec.qos.datawriter.liveliness = {kind, 300ms};
    open(sender, writer, spec);
    open(receiver, reader);
    settle_match(sender, writer, receiver, reader);
    // Nobody asserts: AUTOMATIC would, in poll().
    settle({&receiver}, [&] { return !reader.liveliness.empty(); });
    CHECK(reader.liveliness.back() == std::pair(writer.endpoint->id(), false));
    const bool manual = kind != qos::LivelinessKind::automatic;
    settle({&sender, &receiver}, [&] {
      if (kind == qos::LivelinessKind::manual_by_topic) writer.endpoint->assert_liveliness();
      if (kind == qos::LivelinessKind::manual_by_participant) sender.participant.assert_liveliness();
      return reader.liveliness.back().second;
    });
    if (manual) settle({&sender, &receiver}, [&] { return writer.liveliness_lost > 0; });
    reader.endpoint.reset();
  }
}

TEST_CASE("topics: what waits is taken by TRANSPORT_PRIORITY", "[conformance]") {
  TransportFixture fixture;
  Peer sender(fixture), receiver(fixture);
  Writer low, high;
  Reader reader;
  auto spec = writer_spec();
  open(sender, low, spec);
  spec.qos.datawriter.transport_priority.value = 5;
  open(sender, high, spec);
  open(receiver, reader);
  settle({&sender, &receiver}, [&] { return reader.endpoint->matched_count() == 2; });
  for (std::uint64_t number = 0; number < 10; ++number) REQUIRE((write(low, number) && write(high, number)));
  REQUIRE(receiver.participant.poll().has_value());
  REQUIRE(reader.samples.size() == 20);
  for (std::size_t i = 0; i < 20; ++i) CHECK(reader.samples[i].first == (i < 10 ? high : low).endpoint->id());
}

TEST_CASE("topics: a writer and a reader in two threads, blocked and woken", "[conformance]") {
  TransportFixture fixture;
  Peer sender(fixture), receiver(fixture);
  Writer writer;
  Reader reader;
  auto spec = writer_spec();
  auto reading = reader_spec();
  reading.qos.datareader.latency_budget.duration = 1ms;
  SECTION("at once") {}
  SECTION("within LATENCY_BUDGET") { spec.qos.datawriter.latency_budget.duration = 1ms; }
  SECTION("with a small SEND_WINDOW") { spec.qos.datawriter.send_window = {.min = 8, .max = 8}; }
  open(sender, writer, spec);
  open(receiver, reader, reading);
  settle_match(sender, writer, receiver, reader);
  constexpr std::uint64_t sample_count = 20000;
  const auto size_of = [](std::uint64_t number) -> std::size_t { return number % 7 == 0 ? 6000 : 24; };
  std::atomic<bool> failed{false};
  std::thread thread([&] {
    for (std::uint64_t number = 0; number < sample_count && !failed;) {
      if (write(writer, number, size_of(number))) {
        ++number;
        continue;
      }
      bool written = false;
      const auto again = [&] {
        if (!sender.participant.poll()) failed = true;
        return written = written || write(writer, number, size_of(number));
      };
      if (!sender.participant.wait(again, 10s)) failed = true;
      number += written ? 1 : 0;
    }
    while (!failed && !writer.endpoint->all_acknowledged()) {
      const auto done = [&] { return !sender.participant.poll() || writer.endpoint->all_acknowledged(); };
      if (!sender.participant.wait(done, 10s)) failed = true;
    }
  });
  std::uint64_t wrong = 0;
  const auto begin = std::chrono::steady_clock::now();
  for (std::uint64_t number = 0; number < sample_count && wrong == 0;) {
    if (reader.samples.empty()) {
      const auto come = [&] { return !receiver.participant.poll() || !reader.samples.empty(); };
      if (!receiver.participant.poll() || !receiver.participant.wait(come, 10s)) ++wrong;
      if (std::chrono::steady_clock::now() - begin > 120s) ++wrong;
      continue;
    }
    const auto sample = reader.take();
    wrong += !is(sample, number, size_of(number)) || sample->header().instance != number;
    ++number;
  }
  if (wrong > 0) failed = true;
  thread.join();
  CHECK(wrong == 0);
  CHECK_FALSE(failed);
}

}  // namespace llamada::topics::conformance
