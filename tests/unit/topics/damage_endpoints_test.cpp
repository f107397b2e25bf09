#include <sys/mman.h>

#include <cstring>
#include <memory>

#include "llamada/base/random.hpp"
#include "llamada/topics/loopback.hpp"
#include "llamada/topics/observe.hpp"
#include "test.hpp"

// A wild pointer of one application writes over its arena; the other one, which reads its samples or writes
// to its readers, polls on.

struct TransportFixture {
  llamada::topics::Loopback domain{64 << 20};
  std::unique_ptr<llamada::topics::Transport> attach() {
    auto transport = domain.attach();
    REQUIRE(transport.has_value());
    return std::move(*transport);
  }
};

#include "../../conformance/conformance_peers.hpp"

namespace llamada::topics::conformance {
namespace {

constexpr std::size_t page_bytes = 4096;

/// The arena of an application whose memory ends, as a file's, behind what is in use.
class Culprit {
 public:
  explicit Culprit(Peer& peer) : arena_(peer.transport->arena()) {
    used_ = (arena_.pool() + arena_.pool_used() + page_bytes - 1) / page_bytes * page_bytes;
    before_.assign(arena_.base(), arena_.base() + used_);
    protect(PROT_NONE);
  }
  Culprit(const Culprit&) = delete;
  Culprit& operator=(const Culprit&) = delete;
  /// As it was, for the application to end.
  ~Culprit() {
    protect(PROT_READ | PROT_WRITE);
    std::memcpy(arena_.base(), before_.data(), used_);
  }

  void store_wildly(Random& random) {
    const std::uint64_t size = arena_.reading().size_bytes;
    const std::uint64_t choices[] = {used_ + random.below((size - used_) / 64) * 64,
                                     random.below(used_ / 64) * 64,
                                     random.next(),
                                     random.below(64),
                                     1ull << random.below(64),
                                     ~0ull,
                                     0};
    const std::uint64_t value = choices[random.below(std::size(choices))];
    std::memcpy(arena_.base() + some_place(random), &value, random.chance(1, 2) ? 8 : 4);
  }

 private:
  log::Offset some_place(Random& random) const {
    const log::ArenaWriter::Notes& notes = arena_.notes();
    switch (random.below(7)) {
      case 0:
        return random.below(64) * 8;
      case 1:
        return notes.endpoint_directory + random.below(8) * 256 + random.below(32) * 8;
      case 2:
        return notes.match_directory + random.below(8) * 256 + random.below(32) * 8;
      case 3:
        return notes.grant_directory + random.below(8) * 64 + random.below(8) * 8;
      case 4:
        return notes.log_directory + random.below(8) * 64 + random.below(8) * 8;
      default:
        return notes.pool + random.below((used_ - notes.pool) / 8) * 8;
    }
  }
  void protect(int rights) {
    REQUIRE(::mprotect(arena_.base() + used_, arena_.reading().size_bytes - used_, rights) == 0);
  }

  log::ArenaWriter& arena_;
  std::size_t used_ = 0;
  std::vector<std::byte> before_;
};

/// Two applications with a reader and a writer each of a log and of slots, RELIABLE and BEST_EFFORT.
struct Both {
  explicit Both(std::size_t seed) {
    const auto spec = [](auto made, const char* topic, bool lossy) {
      made.topic = topic;
      return lossy ? best_effort(made) : made;
    };
    const char* const topics[] = {"Kept", "Latest", "Lossy"};
    for (std::size_t i = 0; i < 3; ++i) {
      auto writer = spec(writer_spec(), topics[i], false);
      if (i == 1) writer = keep_last(writer, 5);
      open(sender, writers[i], writer);
      open(receiver, readers[i], spec(reader_spec(), topics[i], i == 2));
    }
    settle({&sender, &receiver}, [&] {
      return std::ranges::all_of(readers, [](auto& r) { return r.endpoint->matched_count() == 1; }) &&
             std::ranges::all_of(writers, [](auto& w) { return w.endpoint->matched_count() == 1; });
    });
    publish(20);
    REQUIRE(receiver.participant.poll().has_value());
    if (seed % 2 == 0) forget();
    publish(20);
  }
  void publish(std::uint64_t count) {
    for (std::uint64_t number = 0; number < count; ++number)
      for (Writer& writer : writers) (void)write(writer, number, number % 4 == 3 ? 3000 : 20);
  }
  std::size_t forget() {
    std::size_t bytes = 0;
    for (Reader& reader : readers) {
      for (const auto& [writer, sample] : reader.samples)
        for (std::byte byte : sample.data()) bytes += byte != std::byte{0};
      reader.samples.clear();
    }
    return bytes;
  }

  TransportFixture fixture;
  Peer sender{fixture}, receiver{fixture};
  Writer writers[3];
  Reader readers[3];
};

TEST_CASE("damage: a participant survives any bytes in the arena of another one", "[topics]") {
  constexpr int polls = 10;
  for (std::uint64_t seed = 1; seed <= 300; ++seed) {
    INFO("seed " << seed);
    Random random(seed);
    Both both(seed);
    const bool is_writers = random.chance(2, 3);
    Peer& culprit = is_writers ? both.sender : both.receiver;
    Peer& innocent = is_writers ? both.receiver : both.sender;
    {
      Culprit arena(culprit);
      for (auto stores = 1 + random.below(40); stores > 0; --stores) arena.store_wildly(random);
      (void)observe(innocent.transport->peer(culprit.transport->slot()).arena, 1, 0);
      for (int poll = 0; poll < polls; ++poll) {
        if (is_writers)
          both.forget();
        else
          both.publish(1);
        CHECK(innocent.participant.poll().has_value());
      }
      both.forget();
    }
    for (Reader& reader : both.readers) reader.samples.clear();
  }
}

}  // namespace
}  // namespace llamada::topics::conformance
