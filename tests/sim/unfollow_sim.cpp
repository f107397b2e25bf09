// Two processes follow and unfollow many logs of each other over a network with faults: aliases, entries of
// the arenas' directories and cursors are used again and again, and no record is ever taken for one of
// another log. LLAMADA_SIM_SEED=N replays one seed; LLAMADA_SIM_SEEDS=N runs so many.

#include <fmt/format.h>

#include <algorithm>
#include <list>
#include <memory>
#include <optional>
#include <vector>

#include "llamada/links/fake_link.hpp"
#include "llamada/log/log_reader.hpp"
#include "llamada/replication/carrier.hpp"
#include "replication_node.hpp"
#include "replication_seeds.hpp"

using namespace llamada;
using namespace llamada::sim;
using namespace std::chrono_literals;
using replication::Time;

namespace {

constexpr std::uint64_t rounds = 80;       // logs of each process, one after the other
constexpr std::size_t open_max = 5;        // at a time
constexpr std::size_t aliases_max = 8;     // fewer than rounds: they must be used again
constexpr std::uint32_t entries_max = 40;  // of each directory: the same
constexpr std::uint64_t eager_bytes_max = 2000;

/// What follows from a round for both processes: how many records each of them writes, and which.
struct Round {
  std::uint64_t number = 0;
  std::uint64_t seed = 0;
  SimLog log(std::uint32_t writer) const {
    Random random(seed + writer);
    return {.name = {writer, {2, number}},
            .keeps_all = random.chance(1, 4),
            .record_count = random.below(random.chance(1, 4) ? 40 : 4),
            .seed = random.next()};
  }
};

/// One end: opens the rounds in order, and leaves each when it has written and read all, at some time.
class End {
 public:
  End(std::uint32_t own, std::uint32_t peer, links::FakeNetwork& network)
      : own_(own),
        peer_(peer),
        small_(network.make_link({.datagram_bytes_max = 700})),
        bulk_(network.make_link({.datagram_bytes_max = 700, .train_max = 8})),
        memory_(16 << 20) {
    log::ArenaOptions options;
    options.log_count_max = options.cursor_count_max = entries_max;
    options.endpoint_count_max = options.match_count_max = options.grant_count_max = 1;
    options.extent_bytes = 64 << 10;
    arena_ = std::move(*log::ArenaWriter::open(memory_.bytes(), options));
    carrier_ = std::make_unique<replication::Carrier>(
        replication::CarrierOptions{.identity = {.job = 7, .endpoint = own, .incarnation = 1, .key = {1, 2}},
                                    .eager_bytes_max = eager_bytes_max,
                                    .pull_bytes_max = 1000,
                                    .follows_max = aliases_max},
        *small_, *bulk_, *arena_);
    carrier_->set_waiting(true);
  }

  replication::PeerState state() const { return {.small = small_->address(), .bulk = bulk_->address()}; }
  void meet(const replication::PeerState& peer) { REQUIRE(carrier_->meet(peer_, peer).has_value()); }
  Time due() const { return carrier_->due(); }

  std::string step(Random& random, std::uint64_t seed, Time now) {
    if (opened_ < rounds && open_.size() + left_.size() < open_max && random.chance(1, 6))
      if (std::string wrong = open({++opened_, seed + opened_ * 1000}); !wrong.empty()) return wrong;
    for (Open& each : open_) {
      if (random.chance(1, 2)) publish(each);
      if (std::string wrong = read(each, random); !wrong.empty()) return wrong;
    }
    carrier_->push(peer_, now);
    carrier_->work(now);
    for (auto each = open_.begin(); each != open_.end();) {
      const auto here = each++;
      if (has_all(*here) && random.chance(1, 5)) leave(here);
    }
    std::erase_if(left_, [this](Open& each) { return give_back(each); });
    if (carrier_->faults(replication::FrameFault::malformed) != 0) return "a frame was malformed";
    return {};
  }

  bool is_done() const { return opened_ == rounds && open_.empty() && left_.empty() && carrier_->is_idle(); }
  std::string describe() const {
    return fmt::format("endpoint {}: {} opened, {} open, {} left, idle {}", own_, opened_, open_.size(),
                       left_.size(), carrier_->is_idle());
  }

 private:
  struct Open {
    SimLog own, other;
    log::LogWriter writer;
    std::optional<log::LogReader> reader;
    std::uint64_t read = 0;
    struct Fetch {
      std::uint64_t record = 0;
      std::vector<std::byte> bytes;
      bool is_over = false;
    };
    std::unique_ptr<Fetch> fetch;
  };

  std::string open(const Round& round) {
    Open& each = open_.emplace_back();
    each.own = round.log(own_);
    each.other = round.log(peer_);
    auto writer = log::LogWriter::open(
        *arena_, each.own.name.key,
        {.retention = each.own.keeps_all ? log::Retention::keep_all : log::Retention::recycle,
         .live_bytes_max = 1 << 20});
    if (!writer) return writer.error().text();
    each.writer = std::move(*writer);
    if (auto published = carrier_->publish_to(each.writer, each.own.name.key, peer_); !published)
      return published.error().text();
    return {};
  }

  /// Follows when an alias is free: the other end may not have said so yet.
  std::string follow(Open& each) {
    auto copy = carrier_->follow(peer_, each.other.name, {.window_bytes = 64 << 10});
    if (!copy) return copy.error().code() == Errc::out_of_resources ? std::string() : copy.error().text();
    auto cursor = arena_->cursor(replication::copy_key(each.other.name), own_);
    if (!cursor) return cursor.error().text();
    (*copy)->add_reader(*cursor);
    each.reader = log::LogReader::open(arena_->own(), (*copy)->index(), *cursor);
    return {};
  }

  void publish(Open& each) {
    if (each.writer.published() >= each.own.record_count) return;
    const SimRecord record = record_of(each.own, each.writer.published() + 1);
    log::Reservation room;
    if (!each.writer.reserve(record.payload.size(), room)) return;
    std::ranges::copy(record.payload, room.payload().begin());
    std::ranges::copy(record.extra, room.extra().begin());
    each.writer.commit(std::move(room), record.kind, record.flags, record.label);
  }

  std::string read(Open& each, Random& random) {
    if (!each.reader) {
      if (std::string wrong = follow(each); !wrong.empty() || !each.reader) return wrong;
    }
    if (each.fetch && each.fetch->is_over) {
      if (each.fetch->bytes != record_of(each.other, each.fetch->record).payload)
        return "a pulled payload is another";
      each.fetch.reset();
    }
    const auto record = each.fetch || random.chance(1, 2) ? std::nullopt : each.reader->peek();
    if (!record) return {};
    const SimRecord expected = record_of(each.other, ++each.read);
    if (each.read > each.other.record_count)
      return fmt::format("log {} has too many records", each.other.name.key.low);
    if (record->kind != expected.kind || record->label != expected.label || record->flags != expected.flags)
      return fmt::format("record {} of log {} is another", each.read, each.other.name.key.low);
    if (record->absent_bytes == 0 && !std::ranges::equal(record->payload, expected.payload))
      return fmt::format("record {} of log {} has another payload", each.read, each.other.name.key.low);
    if (record->absent_bytes != 0) {
      each.fetch = std::make_unique<Open::Fetch>();
      each.fetch->record = each.read;
      each.fetch->bytes.resize(record->absent_bytes);
      auto pulled = carrier_->pull(each.other.name, each.read, each.fetch->bytes,
                                   [fetch = each.fetch.get()](bool) { fetch->is_over = true; });
      if (!pulled) return pulled.error().text();
    }
    each.reader->advance();
    each.reader->release(each.reader->position_chunk());
    return {};
  }

  /// Some leave while a payload is still on its way.
  static bool has_all(const Open& each) {
    return each.reader && each.writer.published() == each.own.record_count &&
           each.read == each.other.record_count;
  }

  void leave(std::list<Open>::iterator each) {
    each->reader.reset();
    carrier_->unfollow(each->other.name);
    arena_->remove_cursor(*arena_->cursor(replication::copy_key(each->other.name), own_));
    left_.splice(left_.end(), open_, each);
  }

  bool give_back(Open& each) {
    if (carrier_->is_read_by(each.own.name.key, peer_)) return false;
    each.writer.discard();
    carrier_->withdraw(each.own.name.key);
    return true;
  }

  std::uint32_t own_, peer_;
  std::unique_ptr<links::FakeLink> small_, bulk_;
  SimMemory memory_;
  std::unique_ptr<log::ArenaWriter> arena_;
  std::list<Open> open_, left_;
  std::uint64_t opened_ = 0;
  std::unique_ptr<replication::Carrier> carrier_;
};

std::string run(std::uint64_t seed) {
  Random random(seed);
  const auto rate = [&](std::uint64_t most) {
    return random.chance(1, 3) ? 0U : static_cast<std::uint32_t>(random.below(most));
  };
  links::FakeNetwork network(random.next(),
                             {.loss = rate(200), .doubling = rate(200), .reordering = rate(400)});
  End one(1, 2, network), other(2, 1, network);
  one.meet(other.state());
  other.meet(one.state());
  for (Time now{}; !(one.is_done() && other.is_done());) {
    if (now > 20s) return "not all is given back: " + one.describe() + "; " + other.describe();
    for (End* end : {&one, &other})
      if (std::string wrong = end->step(random, seed, now); !wrong.empty()) return wrong;
    now = std::max(std::min({network.due(), one.due(), other.due(), now + 50us}), now + 200ns);
    network.advance(now);
  }
  return {};
}

}  // namespace

TEST_CASE("unfollow: logs that nobody reads are given back, and their names and aliases used again",
          "[sim]") {
  sim::run_seeds(run, 100);
}
