// The whole service, in one process with the applications that it serves.
#include "llamada/service/service.hpp"

#include "failing_files.hpp"
#include "llamada/store/memory_store.hpp"
#include "llamada/store/segment_store.hpp"
#include "llamada/topics/loopback.hpp"
#include "temporary_folder.hpp"
#include "test.hpp"

struct TransportFixture {
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

EndpointSpec durable(EndpointSpec spec, qos::DurabilityKind kind) {
  auto& qos = spec.qos;
  (qos.writer ? qos.datawriter.durability : qos.datareader.durability).kind = kind;
  qos.datawriter.durability_service.history_kind =
      qos.writer ? qos::HistoryKind::keep_all : qos::HistoryKind::keep_last;
  return spec;
}

/// A store of which a sync loses for good what it was to make durable.
class LosingStore final : public store::Store {
 public:
  LosingStore(std::unique_ptr<Store> store, const bool& loses) : store_(std::move(store)), loses_(loses) {}

  Status sync(store::BatchNumber batch) override {
    if (loses_) return failure(Errc::precondition_not_met, "a batch is lost");
    return store_->sync(batch);
  }
  Result<store::StreamId> stream(std::string_view name, std::span<const std::byte> text) override {
    return store_->stream(name, text);
  }
  Status append(const store::Item& item) override { return store_->append(item); }
  Status drop_below(store::StreamId id, std::uint64_t number) override {
    return store_->drop_below(id, number);
  }
  Status drop(store::StreamId id, std::uint64_t number) override { return store_->drop(id, number); }
  Status end(store::StreamId id) override { return store_->end(id); }
  Result<store::BatchNumber> write() override { return store_->write(); }
  Status read(store::StreamId id, std::uint64_t from, const OnItem& item,
              const OnDamaged& damaged) const override {
    return store_->read(id, from, item, damaged);
  }
  Status newest(store::StreamId id, std::uint64_t group, std::size_t count, const OnItem& item,
                const OnDamaged& damaged) const override {
    return store_->newest(id, group, count, item, damaged);
  }
  std::vector<store::StreamInfo> streams() const override { return store_->streams(); }
  store::StoreFigures figures() const override { return store_->figures(); }

 private:
  std::unique_ptr<Store> store_;
  const bool& loses_;
};

/// A domain with a service on a disk that fails when it is told to.
struct KeptDomain {
  TransportFixture fixture;
  test::TemporaryFolder folder;
  test::Failures failures;
  bool loses = false;
  SystemClock clock;
  std::vector<std::string> said;
  std::unique_ptr<store::Store> store;
  std::unique_ptr<Transport> transport;
  std::unique_ptr<Service> service;

  KeptDomain() { start(); }
  void start() {
    auto files = store::open_files(folder / "store", true);
    REQUIRE(files);
    auto opened =
        store::open_segment_store(std::make_unique<test::FailingFiles>(std::move(*files), failures), {});
    REQUIRE(opened);
    store = std::make_unique<LosingStore>(std::move(*opened), loses);
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
  /// Lets all go on until it holds; a watchdog of a minute.
  bool until(std::initializer_list<Peer*> peers, const std::function<bool()>& holds) {
    const auto end = std::chrono::steady_clock::now() + 60s;
    while (!holds()) {
      if (std::chrono::steady_clock::now() > end) return false;
      REQUIRE(service->work());
      for (Peer* peer : peers) REQUIRE(peer->participant.poll());
    }
    return true;
  }
  void go_on(std::initializer_list<Peer*> peers, int rounds = 50) {
    for (int k = 0; k < rounds; ++k) (void)until(peers, [&, once = 0]() mutable { return once++ > 0; });
  }
};

void publish(Writer& writer, std::uint64_t count, std::size_t size = 100) {
  for (std::uint64_t k = 0; k < count; ++k) {
    SampleHeader header;
    header.instance = 1;
    header.source_timestamp_ns = 1;
    const std::vector<std::byte> data(size, std::byte(writer.endpoint->published() + 1));
    REQUIRE(writer.endpoint->publish(data, header));
  }
}

}  // namespace

TEST_CASE("service: a PERSISTENT sample is acknowledged once the disk has confirmed it", "[service]") {
  KeptDomain served;
  Peer peer(served.fixture);
  Writer persistent, transient;
  open(peer, persistent, durable(writer_spec(), qos::DurabilityKind::persistent));
  open(peer, transient, durable(writer_spec(), qos::DurabilityKind::transient));
  REQUIRE(served.until(
      {&peer}, [&] { return persistent.endpoint->has_keeper() && transient.endpoint->has_keeper(); }));
  served.failures.syncs = INT_MAX;
  publish(persistent, 3);
  publish(transient, 3);
  // A TRANSIENT one is written, and that is enough.
  REQUIRE(served.until({&peer}, [&] { return transient.endpoint->all_acknowledged(); }));
  served.go_on({&peer});
  CHECK_FALSE(persistent.endpoint->all_acknowledged());
  REQUIRE(served.said.size() == 1);
  CHECK(served.said[0].find("the store does not take samples") != std::string::npos);
  served.failures.syncs = 0;
  CHECK(served.until({&peer}, [&] { return persistent.endpoint->all_acknowledged(); }));
}

TEST_CASE("service: a store that has lost batches ends it, and the next one reads them from the writer again",
          "[service]") {
  KeptDomain served;
  Peer peer(served.fixture);
  Writer writer;
  open(peer, writer, durable(writer_spec(), qos::DurabilityKind::persistent));
  REQUIRE(served.until({&peer}, [&] { return writer.endpoint->has_keeper(); }));
  served.loses = true;
  publish(writer, 3);
  Status worked;
  for (int k = 0; k < 10'000 && worked; ++k) {
    worked = served.service->work();
    REQUIRE(peer.participant.poll());
  }
  REQUIRE_FALSE(worked);
  CHECK(worked.error().text().find("start the service again") != std::string::npos);
  served.loses = false;
  CHECK_FALSE(served.service->work());
  CHECK_FALSE(writer.endpoint->all_acknowledged());
  served.end();
  served.start();
  CHECK(served.until({&peer}, [&] { return writer.endpoint->all_acknowledged(); }));
  CHECK(served.service->figures().samples == 3);
}

TEST_CASE("service: what cannot be written is not acknowledged, and nothing is lost", "[service]") {
  KeptDomain served;
  Peer peer(served.fixture);
  Writer writer;
  open(peer, writer, durable(writer_spec(), qos::DurabilityKind::transient));
  REQUIRE(served.until({&peer}, [&] { return writer.endpoint->has_keeper(); }));
  served.failures.writes = INT_MAX;
  publish(writer, 200, 100'000);  // more than a batch
  served.go_on({&peer});
  CHECK_FALSE(writer.endpoint->all_acknowledged());
  served.failures.writes = 0;
  REQUIRE(served.until({&peer}, [&] { return writer.endpoint->all_acknowledged(); }));
  CHECK(served.service->figures().samples == 200);
}

TEST_CASE("service: a writer that comes while the disk is full is kept as soon as there is room",
          "[service]") {
  KeptDomain served;
  served.failures.allocations = INT_MAX;
  Peer peer(served.fixture);
  Writer writer;
  open(peer, writer, durable(writer_spec(), qos::DurabilityKind::persistent));
  publish(writer, 3);
  REQUIRE(served.until({&peer}, [&] { return !served.said.empty(); }));
  served.go_on({&peer});
  CHECK_FALSE(writer.endpoint->has_keeper());
  REQUIRE(served.said.size() == 1);
  CHECK(served.said[0].find("is not kept yet") != std::string::npos);
  served.failures.allocations = 0;
  CHECK(served.until({&peer},
                     [&] { return writer.endpoint->has_keeper() && writer.endpoint->all_acknowledged(); }));
  CHECK(served.said.size() == 1);
}

TEST_CASE("service: a late reader gets more than the memory between them holds, once and in order",
          "[service]") {
  KeptDomain served;
  {
    Peer peer(served.fixture);
    Writer writer;
    open(peer, writer, durable(writer_spec(), qos::DurabilityKind::persistent));
    for (int k = 0; k < 300; ++k) {
      publish(writer, 1, 100'000);
      (void)served.until({&peer}, [&] { return writer.endpoint->all_acknowledged(); });
    }
  }
  served.end();
  served.start();
  Peer late(served.fixture);
  Reader reader;
  reader.evacuates = false;
  const bool is_reliable = GENERATE(true, false);
  open(late, reader,
       durable(is_reliable ? reader_spec() : best_effort(reader_spec()), qos::DurabilityKind::persistent));
  std::uint64_t taken = 0, wrong = 0;
  REQUIRE(served.until({&late}, [&] {
    for (auto sample = reader.take(); sample; sample = reader.take())
      wrong += sample->data().size() != 100'000 || sample->data()[0] != std::byte(taken + 1), ++taken;
    return taken == 300 && !reader.endpoint->awaits_past();
  }));
  CHECK(wrong == 0);
  CHECK(served.service->figures().served_samples == 300);
}

TEST_CASE("service: late readers of topics that nobody has written wait for nothing", "[service]") {
  KeptDomain served;
  served.go_on({});
  Peer late(served.fixture);
  Reader reader;
  open(late, reader, durable(reader_spec(), qos::DurabilityKind::transient));
  REQUIRE(late.participant.poll());
  CHECK(reader.endpoint->awaits_past());
  CHECK(served.until({&late}, [&] { return !reader.endpoint->awaits_past(); }));
  CHECK(served.service->figures().served_readers == 1);
}

TEST_CASE("service: a KEEP_LAST writer is acknowledged though its samples were replaced", "[service]") {
  KeptDomain served;
  Peer peer(served.fixture);
  Writer writer;
  open(peer, writer, durable(keep_last(writer_spec(), 2), qos::DurabilityKind::persistent));
  publish(writer, 1000);
  REQUIRE(served.until({&peer}, [&] { return writer.endpoint->all_acknowledged(); }));
  CHECK(served.service->figures().samples >= 2);
}

}  // namespace llamada::service
