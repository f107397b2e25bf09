#include <thread>

#include "llamada/topics/loopback.hpp"
#include "test.hpp"

// Slots that are written again, and logs that do not wait, while readers in other threads look at them.

struct TransportFixture {
  llamada::topics::Loopback domain;
  std::unique_ptr<llamada::topics::Transport> attach() {
    auto transport = domain.attach();
    REQUIRE(transport.has_value());
    return std::move(*transport);
  }
};

#include "../../conformance/conformance_peers.hpp"

namespace llamada::topics::conformance {
namespace {

constexpr std::uint64_t instance_count = 5;

enum class Size { many, large };

std::size_t size_of(std::uint64_t number, Size size) {
  if (size == Size::large) return 60000 + number % 7 * 100;
  constexpr std::size_t sizes[] = {20, 500, 48, 5000, 49};
  return sizes[number % 7 % std::size(sizes)];
}

/// Takes what comes, keeps some of it for a while, and counts what is wrong.
struct Taker {
  Taker(TransportFixture& fixture, Size size) : peer(fixture), size(size) {}

  bool is_whole(const Sample& sample) const {
    const std::uint64_t number = sample.header().sequence_number;
    if (sample.data().size() != size_of(number, size)) return false;
    return std::ranges::all_of(sample.data(),
                               [&](std::byte b) { return b == static_cast<std::byte>(number); });
  }
  void run(std::uint64_t sample_count) {
    const auto begin = std::chrono::steady_clock::now();
    while (last < sample_count && std::chrono::steady_clock::now() - begin < 200s) {
      const auto come = [&] { return !peer.participant.poll() || !reader.samples.empty(); };
      if (!come() && !peer.participant.wait(come, 100ms)) ++wrong;
      for (; !reader.samples.empty(); let_go_of_first()) {
        Sample& sample = reader.samples.front().second;
        wrong += !is_whole(sample) || sample.header().sequence_number <= last;
        const std::uint64_t before = std::exchange(last, sample.header().sequence_number);
        const std::byte* const place_before = std::exchange(place, sample.data().data());
        // Who has missed some may find a later one in the slot of the last that it took.
        again += place == place_before && last == before + 1;
        last_of[sample.header().instance] = last;
        ++taken;
        if (last % (size == Size::large ? 50 : 3) == 0) kept.push_back(std::move(sample));
        if (kept.size() > 24 || (size == Size::large && last % 50 == 10 && !kept.empty())) {
          wrong += !is_whole(kept.front());
          kept.pop_front();
        }
      }
    }
    kept.clear();
  }

  void let_go_of_first() {
    reader.samples.pop_front();
    let_go.store(last, std::memory_order_relaxed);  // orders nothing: that is what the test is to see
  }

  Peer peer;
  const Size size;
  Reader reader;
  std::deque<Sample> kept;
  std::atomic<std::uint64_t> let_go{0};
  const std::byte* place = nullptr;
  std::uint64_t last = 0, taken = 0, wrong = 0, again = 0;
  std::map<std::uint64_t, std::uint64_t> last_of;
};

/// Publishes beside three takers; whether all has arrived is said by each.
void run(const EndpointSpec& offered, const EndpointSpec& requested, std::uint64_t sample_count,
         bool waits_for_room, Size size = Size::many) {
  TransportFixture fixture;
  Peer sender(fixture);
  Writer writer;
  open(sender, writer, offered);
  std::vector<std::unique_ptr<Taker>> takers;
  for (int i = 0; i < 3; ++i) {
    takers.push_back(std::make_unique<Taker>(fixture, size));
    open(takers.back()->peer, takers.back()->reader, requested);
  }
  settle({&sender, &takers[0]->peer, &takers[1]->peer, &takers[2]->peer}, [&] {
    return writer.endpoint->matched_count() == 3 && std::ranges::all_of(takers, [](auto& taker) {
             return taker->reader.endpoint->matched_count() == 1;
           });
  });
  std::vector<std::thread> threads;
  for (auto& taker : takers) threads.emplace_back([&] { taker->run(sample_count); });
  std::uint64_t failures = 0;
  for (std::uint64_t number = 1; number <= sample_count && failures == 0;) {
    const std::vector<std::byte> data(size_of(number, size), static_cast<std::byte>(number));
    const auto is_behind = [&](const auto& taker) {
      return taker->let_go.load(std::memory_order_relaxed) + 1 < number;
    };
    while (size == Size::large && number % 4 != 0 && std::ranges::any_of(takers, is_behind))
      std::this_thread::yield();
    const auto published = writer.endpoint->publish(data, header_of(number % instance_count));
    if (published)
      ++number;
    else if (waits_for_room)
      std::this_thread::yield();
    else
      ++failures;
    if (number % 16 == 0 && !sender.participant.poll()) ++failures;
  }
  for (auto& thread : threads) thread.join();
  CHECK(failures == 0);
  for (auto& taker : takers) {
    CHECK(taker->wrong == 0);
    CHECK(taker->last == sample_count);
    if (requested.qos.datareader.reliability.kind == qos::ReliabilityKind::best_effort) {
      CHECK(taker->taken + taker->reader.lost == sample_count);
      continue;
    }
    CHECK(taker->reader.lost == 0);
    CHECK((taker->again > 0) == (size == Size::large));
    for (std::uint64_t i = 0; i < instance_count; ++i)
      CHECK(taker->last_of[i] == sample_count - (sample_count - i) % instance_count);
  }
}

TEST_CASE("threads: slots of a RELIABLE KEEP_LAST writer", "[topics][threads]") {
  run(keep_last(writer_spec(), 2), reader_spec(), 30000, false);
}

TEST_CASE("threads: slots of a BEST_EFFORT writer", "[topics][threads]") {
  run(keep_last(best_effort(writer_spec()), 1), best_effort(reader_spec()), 30000, false);
}

TEST_CASE("threads: BEST_EFFORT readers of a log that does not wait for them", "[topics][threads]") {
  run(writer_spec(), best_effort(reader_spec()), 30000, false);
}

TEST_CASE("threads: RELIABLE readers of a log", "[topics][threads]") {
  run(writer_spec(), reader_spec(), 30000, true);
}

TEST_CASE("threads: large samples of a log, written where readers have let go of others",
          "[topics][threads]") {
  run(writer_spec(), reader_spec(), 1000, true, Size::large);
}

}  // namespace
}  // namespace llamada::topics::conformance
