#include "world/remote_logs.hpp"

#include <functional>
#include <memory>
#include <vector>

#include "job_links.hpp"
#include "llamada/base/random.hpp"
#include "p2p/engine.hpp"
#include "runtime/runtime.hpp"
#include "set_clock.hpp"
#include "test.hpp"

using namespace llamada;
using namespace llamada::mpi;

namespace {

std::vector<std::byte> make_bytes(std::size_t size, std::uint64_t seed) {
  Random random(seed);
  std::vector<std::byte> bytes(size);
  for (auto& byte : bytes) byte = static_cast<std::byte>(random.next());
  return bytes;
}

/// Ranks on nodes of their own, all driven by one thread in virtual time. Requests are complete when they say
/// so.
class Cluster {
 public:
  explicit Cluster(int size, const links::FakeFaults& faults = {}, std::uint64_t seed = 1,
                   bool meets_when_named = false)
      : network_(seed, faults) {
    InProcessJob::Options options;
    options.size = size;
    options.ranks_per_node = 1;
    options.links = std::make_shared<FakeJobLinks>(network_, size);
    options.clock = &clock_;
    options.meets_when_named = meets_when_named;
    job_ = std::move(*InProcessJob::create(std::move(options)));
    for (int rank = 0; rank < size; ++rank)
      ranks_.push_back(std::make_unique<Rank>(*job_, rank, size, clock_));
  }

  World& world(int rank) { return *ranks_[static_cast<std::size_t>(rank)]->world; }
  Engine& engine(int rank) { return *ranks_[static_cast<std::size_t>(rank)]->engine; }
  /// The rank has ended.
  void end(int rank) { ranks_[static_cast<std::size_t>(rank)].reset(); }

  void send(Request& request, int from, int to, std::span<const std::byte> bytes, int tag) {
    describe(request, from, Request::Kind::send, const_cast<std::byte*>(bytes.data()), bytes.size(), to, tag);
    engine(from).start_send(request);
  }
  void receive(Request& request, int at, int from, std::vector<std::byte>& bytes, int tag) {
    describe(request, at, Request::Kind::receive, bytes.data(), bytes.size(), from, tag);
    engine(at).start_receive(request);
  }

  /// One look of this rank; time passes.
  void step(int rank) {
    clock_.pass(std::chrono::microseconds(1));
    network_.advance(clock_.monotonic());
    if (ranks_[static_cast<std::size_t>(rank)]) engine(rank).progress();
  }
  /// Steps all ranks in turn until this is true. False: it does not become so.
  bool run_until(const std::function<bool()>& done) {
    for (int i = 0; i < 3'000'000; ++i) {
      if (done()) return true;
      step(i % static_cast<int>(ranks_.size()));
    }
    return false;
  }

 private:
  struct Rank {
    Rank(InProcessJob& job, int rank, int size, const Clock& clock) : world(std::move(*job.attach(rank))) {
      objects.add_world(rank, size, 1, 2);
      Engine::Options options;
      options.hook = world->link();
      engine = std::move(*Engine::create(*world, clock, options));
    }
    std::unique_ptr<World> world;
    Runtime objects;
    std::unique_ptr<Engine> engine;
  };

  void describe(Request& request, int rank, Request::Kind kind, std::byte* bytes, std::size_t count, int peer,
                int tag) {
    Rank& self = *ranks_[static_cast<std::size_t>(rank)];
    request.kind = kind;
    request.buffer = {bytes, count, self.objects.datatypes.find(MPI_BYTE)};
    request.communicator = self.objects.comm_world();
    request.peer = peer;
    request.tag = tag;
  }

  SetClock clock_;
  links::FakeNetwork network_;
  std::unique_ptr<InProcessJob> job_;
  std::vector<std::unique_ptr<Rank>> ranks_;
};

constexpr links::FakeFaults bad_network{.loss = 20, .doubling = 20, .reordering = 50, .corruption = 5};

}  // namespace

TEST_CASE("remote logs: ranks of other nodes are far, and have no arena here") {
  Cluster cluster(2);
  CHECK_FALSE(cluster.world(0).is_local(1));
  CHECK(cluster.world(0).link() != nullptr);
  CHECK(cluster.world(0).sleeping_word(1) == nullptr);
  CHECK_FALSE(cluster.world(0).cursors_of(1).ready());
  const log::LogKey key{1, 0};
  const World::Source source = cluster.world(0).source(1, key);
  CHECK(source.arena.base == cluster.world(0).arena().reading().base);
  CHECK(source.key == replication::copy_key({1, key}));
}

TEST_CASE("remote logs: a log is followed once, however often it is asked for") {
  Cluster cluster(2);
  const auto count = [&] { return cluster.world(0).arena().reading().log_count(); };
  (void)cluster.world(0).source(1, {1, 0});
  const auto before = count();
  (void)cluster.world(0).source(1, {1, 0});
  CHECK(count() == before);
  (void)cluster.world(0).source(1, {3, 0});
  CHECK(count() == before + 1);
}

TEST_CASE("remote logs: messages of all lengths cross a network that loses, doubles, reorders and damages") {
  for (const std::uint64_t seed : {1, 2, 3}) {
    Cluster cluster(2, bad_network, seed);
    constexpr int rounds = 40;
    const std::array<std::size_t, 8> sizes{0, 8, 48, 49, 1000, 5000, 65536, 200'000};
    std::vector<std::vector<std::byte>> sent, received;
    std::vector<std::unique_ptr<Request>> requests;
    for (int i = 0; i < rounds; ++i) {
      const std::size_t bytes = sizes[static_cast<std::size_t>(i) % sizes.size()];
      sent.push_back(make_bytes(bytes, seed * 100 + static_cast<std::uint64_t>(i)));
      received.emplace_back(bytes);
    }
    for (int i = 0; i < rounds; ++i) {
      const auto index = static_cast<std::size_t>(i);
      const int from = i % 3 == 0 ? 1 : 0;
      requests.push_back(std::make_unique<Request>());
      cluster.receive(*requests.back(), 1 - from, from, received[index], i);
      requests.push_back(std::make_unique<Request>());
      cluster.send(*requests.back(), from, 1 - from, sent[index], i);
    }
    REQUIRE(cluster.run_until([&] {
      return std::ranges::all_of(requests, [](const auto& request) { return request->complete; });
    }));
    CHECK(received == sent);
    CHECK(cluster.run_until([&] { return cluster.world(0).has_delivered(); }));
    CHECK(cluster.run_until([&] { return cluster.world(1).has_delivered(); }));
  }
}

TEST_CASE("remote logs: what is received in another order than sent stays as it was sent") {
  Cluster cluster(2);
  const auto large = make_bytes(8 << 20, 1), small = make_bytes(8, 2), middle = make_bytes(60'000, 3);
  Request send_large, send_small, send_middle;
  cluster.send(send_large, 0, 1, large, 1);
  cluster.send(send_middle, 0, 1, middle, 3);
  cluster.send(send_small, 0, 1, small, 2);
  std::vector<std::byte> got_large(large.size()), got_small(small.size()), got_middle(middle.size());
  Request receive_large, receive_small, receive_middle;
  cluster.receive(receive_small, 1, 0, got_small, 2);
  REQUIRE(cluster.run_until([&] { return receive_small.complete; }));
  CHECK_FALSE(send_large.complete);
  // By now the copy has been used again several times: unexpected messages are elsewhere.
  for (int i = 0; i < 200; ++i) {
    Request request;
    const auto filler = make_bytes(10'000, static_cast<std::uint64_t>(i));
    std::vector<std::byte> got(filler.size());
    cluster.send(request, 0, 1, filler, 4);
    Request receive;
    cluster.receive(receive, 1, 0, got, 4);
    REQUIRE(cluster.run_until([&] { return receive.complete && request.complete; }));
    REQUIRE(got == filler);
  }
  cluster.receive(receive_middle, 1, 0, got_middle, 3);
  cluster.receive(receive_large, 1, 0, got_large, 1);
  REQUIRE(cluster.run_until([&] { return receive_large.complete && receive_middle.complete; }));
  CHECK(got_small == small);
  CHECK(got_middle == middle);
  CHECK(got_large == large);
  CHECK(cluster.run_until([&] { return send_large.complete; }));
}

TEST_CASE("remote logs: all send to one rank first") {
  constexpr int size = 4;
  Cluster cluster(size, bad_network);
  std::vector<std::vector<std::byte>> sent, received;
  std::vector<std::unique_ptr<Request>> requests;
  for (int from = 1; from < size; ++from)
    sent.push_back(make_bytes(2 << 20, static_cast<std::uint64_t>(from)));
  for (int from = 1; from < size; ++from) {
    requests.push_back(std::make_unique<Request>());
    cluster.send(*requests.back(), from, 0, sent[static_cast<std::size_t>(from - 1)], 0);
  }
  // Announcements come, and nothing of the messages: the receiver holds no more than windows.
  CHECK(cluster.run_until([&] { return cluster.engine(0).unexpected_count() == size - 1; }));
  for (int from = 1; from < size; ++from) {
    received.emplace_back(sent[static_cast<std::size_t>(from - 1)].size());
    requests.push_back(std::make_unique<Request>());
  }
  for (int from = 1; from < size; ++from)
    cluster.receive(*requests[static_cast<std::size_t>(size - 2 + from)], 0, from,
                    received[static_cast<std::size_t>(from - 1)], 0);
  REQUIRE(cluster.run_until(
      [&] { return std::ranges::all_of(requests, [](const auto& request) { return request->complete; }); }));
  CHECK(received == sent);
}

TEST_CASE("remote logs: a reader that computes holds the writer at its bound, and loses nothing") {
  Cluster cluster(2);
  constexpr int messages = 200;
  std::vector<std::vector<std::byte>> sent;  // all different, so that the log has each of them
  for (int i = 0; i < messages; ++i) sent.push_back(make_bytes(16'000, static_cast<std::uint64_t>(i)));
  std::vector<std::unique_ptr<Request>> sends;
  for (int i = 0; i < messages; ++i) {
    sends.push_back(std::make_unique<Request>());
    cluster.send(*sends.back(), 0, 1, sent[static_cast<std::size_t>(i)], i);
  }
  for (int i = 0; i < 200'000; ++i) cluster.step(0);
  const auto left = std::ranges::count_if(sends, [](const auto& send) { return !send->complete; });
  CHECK(left > messages / 2);
  CHECK_FALSE(cluster.world(0).has_delivered());
  for (int i = 0; i < messages; ++i) {
    std::vector<std::byte> got(16'000);
    Request receive;
    cluster.receive(receive, 1, 0, got, i);
    REQUIRE(cluster.run_until([&] { return receive.complete; }));
    REQUIRE(got == sent[static_cast<std::size_t>(i)]);
  }
  CHECK(cluster.run_until([&] { return cluster.world(0).has_delivered(); }));
}

TEST_CASE("remote logs: a rank that has ended needs nothing any more") {
  Cluster cluster(2);
  const auto bytes = make_bytes(1000, 1);
  Request send;
  cluster.send(send, 0, 1, bytes, 0);
  for (int i = 0; i < 1000; ++i) cluster.step(0);
  CHECK_FALSE(cluster.world(0).has_delivered());
  cluster.end(1);
  CHECK(cluster.run_until([&] { return cluster.world(0).has_delivered(); }));
  // Its cursor no longer holds the log.
  std::vector<std::unique_ptr<Request>> sends;
  std::vector<std::vector<std::byte>> more;
  for (int i = 0; i < 200; ++i) more.push_back(make_bytes(16'000, static_cast<std::uint64_t>(i)));
  for (int i = 0; i < 200; ++i) {
    sends.push_back(std::make_unique<Request>());
    cluster.send(*sends.back(), 0, 1, more[static_cast<std::size_t>(i)], i);
  }
  CHECK(cluster.run_until(
      [&] { return std::ranges::all_of(sends, [](const auto& request) { return request->complete; }); }));
}

TEST_CASE(
    "remote logs: ranks of other worlds are met when they are named, and nobody waits for them at the end") {
  for (const std::uint64_t seed : {1, 2, 3, 4, 5}) {
    Cluster cluster(3, bad_network, seed, true);
    const auto bytes = make_bytes(100'000, seed);
    std::vector<std::byte> there(bytes.size()), back(bytes.size());
    Request send, receive, answer, answered;
    // What comes before rank 1 has met rank 0 is lost, and comes again.
    cluster.send(send, 0, 1, bytes, 1);
    for (int i = 0; i < 1000; ++i) cluster.step(0);
    cluster.receive(receive, 1, 0, there, 1);
    REQUIRE(cluster.run_until([&] { return receive.complete; }));
    CHECK(there == bytes);
    cluster.send(answer, 1, 0, bytes, 2);
    cluster.receive(answered, 0, 1, back, 2);
    REQUIRE(cluster.run_until([&] { return answered.complete && send.complete; }));
    CHECK(back == bytes);
    // Rank 1 computes from now on.
    Request last;
    cluster.send(last, 0, 1, bytes, 3);
    CHECK(cluster.world(0).has_delivered());
  }
}

TEST_CASE(
    "remote logs: nothing is left of a rank of another world that has ended when this one parts from it") {
  Cluster cluster(2, {}, 1, true);
  const auto bytes = make_bytes(100'000, 1);
  std::vector<std::byte> there(bytes.size()), back(bytes.size());
  Request send, receive, answer, answered;
  cluster.send(send, 0, 1, bytes, 1);
  cluster.receive(receive, 1, 0, there, 1);
  cluster.send(answer, 1, 0, bytes, 2);
  cluster.receive(answered, 0, 1, back, 2);
  REQUIRE(cluster.run_until([&] { return receive.complete && answered.complete; }));
  const auto has_log = [&](log::LogKey key) {
    std::uint32_t scanned = 0;
    return log::find_log(cluster.world(0).arena().reading(), key, scanned).has_value();
  };
  const log::LogKey copy = replication::copy_key({1, message_log_key(0)});
  CHECK(has_log(copy));
  CHECK(has_log(message_log_key(1)));
  cluster.end(1);
  for (int i = 0; i < 100; ++i) cluster.step(0);
  REQUIRE(cluster.engine(0).part(1));
  cluster.world(0).part(1);
  CHECK_FALSE(has_log(copy));
  CHECK_FALSE(has_log(message_log_key(1)));
  CHECK(cluster.world(0).has_delivered());
  for (int i = 0; i < 100; ++i) cluster.step(0);
}
