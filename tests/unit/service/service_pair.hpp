#pragma once

// Two services of one domain with a store each, in one process with the applications that they serve.

#include <fmt/ranges.h>

#include <cstdlib>
#include <fstream>
#include <functional>

#include "failing_files.hpp"
#include "llamada/base/random.hpp"
#include "llamada/service/service.hpp"
#include "llamada/store/segment_store.hpp"
#include "llamada/topics/loopback.hpp"
#include "temporary_folder.hpp"
#include "test.hpp"

struct TransportFixture {
  explicit TransportFixture(std::uint64_t arena_bytes = std::uint64_t{256} << 20) : domain(arena_bytes) {}
  llamada::topics::Loopback domain;
  std::unique_ptr<llamada::topics::Transport> attach() {
    auto transport = domain.attach();
    REQUIRE(transport);
    return std::move(*transport);
  }
};

#include "../../conformance/conformance_peers.hpp"

namespace llamada::service {
namespace {

using namespace topics;
using namespace topics::conformance;

/// A service and its store, which outlives it.
struct KeptHere {
  explicit KeptHere(TransportFixture& fixture) : fixture(fixture) {}
  ~KeptHere() { end(); }

  TransportFixture& fixture;
  test::TemporaryFolder folder;
  test::Failures failures;
  SystemClock clock;
  std::vector<std::string> said;
  bool is_stopped = false;  // as by SIGSTOP
  std::unique_ptr<store::Store> store;
  std::unique_ptr<Transport> transport;
  std::unique_ptr<Service> service;

  void start() {
    auto files = store::open_files(folder / "store", true);
    REQUIRE(files);
    auto opened = store::open_segment_store(std::make_unique<test::FailingFiles>(std::move(*files), failures),
                                            {.batch_bytes_max = 64 << 10});
    REQUIRE(opened);
    store = std::move(*opened);
    transport = fixture.attach();
    auto made = Service::open({.say = [this](const std::string& sentence) { said.push_back(sentence); }},
                              *transport, clock, *store);
    REQUIRE(made);
    service = std::move(*made);
  }
  void end() {
    service.reset();
    transport.reset();
    store.reset();
  }
  bool has_said(const std::string& part) const {
    return std::any_of(said.begin(), said.end(),
                       [&](const std::string& each) { return each.find(part) != std::string::npos; });
  }
  ServiceRole role() const { return service->figures().role; }
  /// Changes a byte of each sample whose data are all this byte. The service must have ended.
  void damage(std::byte data) const {
    for (const auto& file : std::filesystem::directory_iterator(folder / "store")) {
      if (file.path().extension() != ".seg") continue;
      std::fstream bytes(file.path(), std::ios::in | std::ios::out | std::ios::binary);
      const std::string all((std::istreambuf_iterator<char>(bytes)), std::istreambuf_iterator<char>());
      const std::string sought(100, static_cast<char>(data));
      for (auto at = all.find(sought); at != std::string::npos; at = all.find(sought, at + 1)) {
        bytes.clear();
        bytes.seekp(static_cast<std::streamoff>(at));
        bytes.put(static_cast<char>(~data));
      }
    }
  }
};

/// A writer in an application of its own, which publishes samples of 100 bytes with their numbers.
struct Application {
  Application(TransportFixture& fixture, const EndpointSpec& spec) : peer(fixture) {
    open(peer, writer, spec);
  }
  void publish(std::uint64_t count, std::uint64_t instance = 1, ChangeKind kind = ChangeKind::alive) {
    for (std::uint64_t k = 0; k < count; ++k) {
      SampleHeader header;
      header.instance = instance;
      header.kind = kind;
      header.source_timestamp_ns = peer.clock.realtime().count();
      const std::vector<std::byte> data(100, std::byte(writer.endpoint->published() + 1));
      REQUIRE(writer.endpoint->publish(data, header));
    }
  }
  Peer peer;
  Writer writer;
};

struct Domain {
  Domain() = default;
  explicit Domain(std::uint64_t arena_bytes) : fixture(arena_bytes) {}
  TransportFixture fixture;
  KeptHere one{fixture}, other{fixture};
  std::vector<std::unique_ptr<Application>> applications;

  Application& add(const EndpointSpec& spec) {
    applications.push_back(std::make_unique<Application>(fixture, spec));
    return *applications.back();
  }
  void work() {
    for (KeptHere* each : {&one, &other})
      if (each->service && !each->is_stopped) REQUIRE(each->service->work());
    for (const auto& each : applications) REQUIRE(each->peer.participant.poll());
  }
  /// Lets all go on until it holds; a watchdog of a minute.
  bool until(const std::function<bool()>& holds) {
    const auto end = std::chrono::steady_clock::now() + 60s;
    while (!holds()) {
      if (std::chrono::steady_clock::now() > end) return false;
      work();
    }
    return true;
  }
  void go_on(int rounds = 50) {
    while (rounds-- > 0) work();
  }
  void start(KeptHere& service) {
    service.start();
    go_on(3);
  }
  /// The second one starts, and has all.
  void align(KeptHere& service) {
    service.start();
    const bool is_aligned = until([&] { return service.role() == ServiceRole::aligned; });
    INFO(fmt::format("{}\n{}", fmt::join(one.said, "\n"), fmt::join(other.said, "\n")));
    REQUIRE(is_aligned);
  }
  KeptHere& one_of_both(Random& random) { return random.below(2) == 0 ? one : other; }
  /// There is always one that has all that is acknowledged.
  void begin_or_end(Random& random) {
    KeptHere& chosen = one_of_both(random);
    KeptHere& left = &chosen == &one ? other : one;
    if (!chosen.service)
      chosen.start();
    else if (left.service && left.role() != ServiceRole::joins)
      chosen.end();
  }
  /// Returns when one of the two follows the other one, and has all.
  void await_aligned() {
    const bool is_one =
        until([&] { return one.role() == ServiceRole::aligned || other.role() == ServiceRole::aligned; });
    INFO(fmt::format("{}\n---\n{}", fmt::join(one.said, "\n"), fmt::join(other.said, "\n")));
    REQUIRE(is_one);
  }
  bool await_acknowledged(Application& application) {
    return until([&] {
      return application.writer.endpoint->has_keeper() && application.writer.endpoint->all_acknowledged();
    });
  }
  /// Deletes it in good order, once the services have seen that.
  void end_writers() {
    applications.clear();
    go_on();
  }
  /// What a reader that comes now gets of the past: "A:1 A:2 B:1", the writers in the order of their coming.
  std::string past(EndpointSpec spec = reader_spec()) {
    Peer late(fixture);
    Reader reader;
    spec.qos.datareader.durability.kind = qos::DurabilityKind::persistent;
    open(late, reader, spec);
    REQUIRE(late.participant.poll());
    REQUIRE(until([&] {
      REQUIRE(late.participant.poll());
      return !reader.endpoint->awaits_past();
    }));
    std::string text;
    for (auto sample = reader.take(); sample; sample = reader.take()) {
      if (sample->header().kind == ChangeKind::unregistered) continue;
      const bool disposes = sample->header().kind == ChangeKind::disposed;
      text += fmt::format("{}{}.{}{}", text.empty() ? "" : " ", sample->header().instance,
                          std::to_integer<int>(sample->data()[0]), disposes ? "D" : "");
    }
    return text;
  }
};

inline EndpointSpec kept_all(EndpointSpec spec = writer_spec()) {
  spec.qos.datawriter.durability.kind = qos::DurabilityKind::persistent;
  spec.qos.datawriter.durability_service.history_kind = qos::HistoryKind::keep_all;
  return spec;
}

/// Runs seeds 1 to `count`, or as many as the variable NAME_SEEDS says, or the one that NAME_SEED names.
inline void for_each_seed(const std::string& name, std::uint64_t count,
                          const std::function<void(std::uint64_t seed)>& run) {
  const char* one = std::getenv((name + "_SEED").c_str());
  const char* wanted = std::getenv((name + "_SEEDS").c_str());
  if (one != nullptr) return run(std::strtoull(one, nullptr, 10));
  if (wanted != nullptr) count = std::strtoull(wanted, nullptr, 10);
  for (std::uint64_t seed = 1; seed <= count; ++seed) run(seed);
}

/// "1.1 1.2 ... 1.last", as Domain::past() says it.
inline std::string counted(int last, int first = 1, int instance = 1) {
  std::string text;
  for (int k = first; k <= last; ++k) text += fmt::format("{}{}.{}", k > first ? " " : "", instance, k);
  return text;
}

}  // namespace
}  // namespace llamada::service
