#pragma once

// A domain whose arenas are small beside what its writers write.

#include <cstring>
#include <set>

#include "service_pair.hpp"

namespace llamada::service {
namespace {

constexpr std::uint64_t arena_bytes = 16 << 20;
constexpr std::size_t sample_bytes = 100'000;
constexpr std::uint64_t more_than_fits = 400;

/// Notes the samples, and which instances writers are known to write.
struct KnowingReader final : ReaderEvents {
  bool on_sample(const EndpointId&, Sample&& sample) override {
    sample.let_evacuate(true);
    samples.push_back(std::move(sample));
    return true;
  }
  void on_known_sample(const EndpointId&, const SampleHeader& header) override {
    const bool ends = header.kind == ChangeKind::unregistered;
    ends ? void(known.erase(header.instance)) : void(known.insert(header.instance));
  }
  void on_samples_lost(const EndpointId&, std::uint64_t count) override { lost += count; }
  void on_matched(const EndpointInfo&) override {}
  void on_qos_changed(const EndpointInfo&) override {}
  void on_unmatched(const EndpointId&, bool) override {}
  void on_liveliness_changed(const EndpointId&, bool) override {}
  void on_incompatible(const EndpointInfo&, const std::vector<qos::Incompatibility>&) override {}

  std::deque<Sample> samples;
  std::set<std::uint64_t> known;
  std::uint64_t lost = 0;
  std::unique_ptr<ReaderEndpoint> endpoint;
};

SampleHeader header_of(std::uint64_t instance, ChangeKind kind = ChangeKind::alive) {
  SampleHeader header;
  header.instance = instance;
  header.kind = kind;
  header.source_timestamp_ns = SystemClock().realtime().count();
  return header;
}

EndpointSpec kept(EndpointSpec spec, qos::DurabilityKind kind = qos::DurabilityKind::transient) {
  spec = kept_all(spec);
  spec.qos.datawriter.durability.kind = spec.qos.datareader.durability.kind = kind;
  return spec;
}

/// A domain whose arenas are small, with a writer of large samples that begin with their numbers.
struct SmallDomain : Domain {
  SmallDomain() : Domain(arena_bytes) {}

  Application& add_kept(const EndpointSpec& spec = kept(writer_spec())) {
    Application& application = add(spec);
    go_on(5);
    return application;
  }
  static Status try_publishing(Application& application, std::uint64_t instance) {
    std::vector<std::byte> data(sample_bytes);
    const std::uint64_t number = application.writer.endpoint->published() + 1;
    std::memcpy(data.data(), &number, sizeof(number));
    auto published = application.writer.endpoint->publish(data, header_of(instance));
    return published ? Status() : propagate(published);
  }
  /// Large ones. Whoever is in `works` goes on meanwhile.
  void write(Application& application, std::uint64_t count, const std::function<void()>& works,
             std::uint64_t instance = 1) {
    for (std::uint64_t k = 0; k < count; ++k) {
      const bool is_done = until_of(works, [&] {
        const Status tried = try_publishing(application, instance);
        if (!tried) REQUIRE(tried.error().code() == Errc::would_block);
        return tried.has_value();
      });
      REQUIRE(is_done);
    }
  }
  void write(Application& application, std::uint64_t count, std::uint64_t instance = 1) {
    write(
        application, count, [this] { work_all(); }, instance);
  }
  void work_all() {
    work();
    for (Peer* peer : readers) REQUIRE(peer->participant.poll());
  }
  std::vector<Peer*> readers;
  static bool until_of(const std::function<void()>& works, const std::function<bool()>& holds) {
    const auto end = std::chrono::steady_clock::now() + 60s;
    while (!holds()) {
      if (std::chrono::steady_clock::now() > end) return false;
      works();
    }
    return true;
  }
};

struct Late {
  Late(SmallDomain& domain, const EndpointSpec& spec) : domain(domain), peer(domain.fixture) {
    auto made = peer.participant.create_reader(spec, reader);
    REQUIRE(made);
    reader.endpoint = std::move(*made);
    domain.readers.push_back(&peer);
  }
  ~Late() { std::erase(domain.readers, &peer); }
  void poll() { REQUIRE(peer.participant.poll()); }
  /// Takes the samples from `taken` + 1 to `last`, in order. False: one was missing, or came twice.
  bool takes(std::uint64_t last) {
    bool is_right = true;
    const bool has_all = SmallDomain::until_of([&] { domain.work_all(); },
                                               [&] {
                                                 for (; !reader.samples.empty(); reader.samples.pop_front()) {
                                                   const auto data = reader.samples.front().data();
                                                   if (data.size() < sizeof(taken)) continue;
                                                   std::uint64_t number = 0;
                                                   std::memcpy(&number, data.data(), sizeof(number));
                                                   is_right = is_right && number == ++taken;
                                                 }
                                                 return taken >= last;
                                               });
    return has_all && is_right && taken == last;
  }

  SmallDomain& domain;
  Peer peer;
  KnowingReader reader;
  std::uint64_t taken = 0;
};

}  // namespace
}  // namespace llamada::service
