// Two sessions over a fake network: every datagram is applied once and in order, whatever the network does.
// LLAMADA_SIM_SEED=N replays one seed; LLAMADA_SIM_SEEDS=N runs so many.

#include <algorithm>
#include <cstdlib>
#include <memory>
#include <vector>

#include "llamada/links/fake_link.hpp"
#include "llamada/replication/held_datagrams.hpp"
#include "llamada/replication/submessages.hpp"
#include "replication_seeds.hpp"
#include "test.hpp"

using namespace llamada;
using namespace llamada::replication;
using namespace std::chrono_literals;
using Arrival = Session::Arrival;
using Delivery = SessionOptions::Delivery;

namespace {

constexpr std::size_t frame_bytes = 256;

/// One end: it sends `to_send` datagrams, each with its number in it, and applies the other's.
class End {
 public:
  End(EndpointNumber own, EndpointNumber peer, Delivery delivery, links::FakeLink& link,
      std::uint64_t to_send)
      : identity_{.job = 1, .endpoint = own, .key = {5, 6}},
        peer_(peer),
        delivery_(delivery),
        link_(link),
        session_({.delivery = delivery}),
        pool_(80, frame_bytes),
        held_(pool_),
        to_send_(to_send) {}

  /// One look at everything; an empty text, or what is wrong.
  std::string work(Time now) {
    for (const auto& datagram : link_.receive())
      if (std::string wrong = take(datagram, now); !wrong.empty()) return wrong;
    while (const auto lost = session_.lost(now)) {
      if (*lost >= session_.next_number() || *lost < session_.first_under_way())
        return "lost what is not under way";
      send(*lost);
      session_.resent(*lost, now);
    }
    while (session_.next_number() <= to_send_ && session_.may_send(frame_bytes)) {
      send(session_.next_number());
      session_.sent(frame_bytes, now);
    }
    if (session_.next_number() - session_.first_under_way() > 1024) return "more are under way than may be";
    if (session_.owes_acknowledgement(now)) send(0);
    return {};
  }
  bool is_done(const End& other) const {
    return session_.first_under_way() > to_send_ && applied_ == other.to_send_ && pool_.free_count() == 80;
  }
  Time due() const { return session_.due(); }

 private:
  void send(std::uint64_t number) {
    std::vector<std::byte> room(frame_bytes);
    FrameWriter writer(room, room.size());
    if (number != 0) writer.put(0, Credit{number * 3});
    const Datagram datagram = writer.seal({.flags = frame_answers_at_once,
                                           .job = 1,
                                           .from = identity_.endpoint,
                                           .to = peer_,
                                           .number = number,
                                           .seen = session_.seen()},
                                          identity_.key);
    link_.send(peer_, std::span(&datagram, 1));
    session_.acknowledgement_sent();
  }

  std::string take(std::span<const std::byte> datagram, Time now) {
    const CheckedFrame frame = check_frame(datagram, identity_);
    if (frame.fault != FrameFault::none) return {};
    const auto seen = session_.acknowledged(frame.head.seen, true, now);
    if (seen.first <= seen.last && seen.first != acknowledged_ + 1) return "acknowledgements have a gap";
    acknowledged_ = std::max(acknowledged_, seen.last);
    if (frame.head.number == 0) return {};
    switch (session_.arrives(frame.head.number, now)) {
      case Arrival::next:
        return apply_next(datagram, now);
      case Arrival::ahead:
        if (delivery_ == Delivery::as_they_come) {
          session_.came(frame.head.number, now);
          return apply(datagram);
        }
        if (held_.hold(frame.head.number, session_.seen().all, datagram))
          session_.came(frame.head.number, now);
        return {};
      default:
        return {};
    }
  }

  std::string apply_next(std::span<const std::byte> datagram, Time now) {
    std::string wrong = apply(datagram);
    session_.applied(now);
    for (std::uint64_t next = session_.seen().all + 1; wrong.empty();) {
      const auto held = held_.find(next);
      if (!held) break;
      wrong = apply(*held);
      session_.applied(now);
      held_.give_back(next++);
    }
    return wrong;
  }

  std::string apply(std::span<const std::byte> datagram) {
    const CheckedFrame frame = check_frame(datagram, identity_);
    SubmessageReader reader(frame.body);
    const auto credit = read_credit(reader.next()->body);
    if (credit->bytes != frame.head.number * 3) return "a datagram bears another number";
    if (delivery_ == Delivery::in_order && frame.head.number != applied_ + 1) return "applied out of order";
    if (come_.size() <= frame.head.number) come_.resize(frame.head.number + 1);
    if (come_[frame.head.number]) return "applied twice";
    come_[frame.head.number] = true;
    ++applied_;
    return {};
  }

  Identity identity_;
  EndpointNumber peer_;
  Delivery delivery_;
  links::FakeLink& link_;
  Session session_;
  DatagramPool pool_;
  HeldDatagrams held_;
  std::uint64_t to_send_;
  std::uint64_t applied_ = 0;
  std::uint64_t acknowledged_ = 0;
  std::vector<bool> come_;
};

/// What is wrong with this seed, or an empty text.
std::string run(std::uint64_t seed) {
  Random random(seed);
  const auto rate = [&](std::uint64_t most) {
    return random.chance(1, 3) ? 0U : static_cast<std::uint32_t>(random.below(most));
  };
  const links::FakeFaults faults{
      .loss = rate(300), .doubling = rate(300), .reordering = rate(500), .corruption = rate(200)};
  links::FakeNetwork network(seed * 77 + 1, faults);
  const auto one_link = network.make_link({.datagram_bytes_max = frame_bytes});
  const auto other_link = network.make_link({.datagram_bytes_max = frame_bytes});
  if (!one_link->meet(2, other_link->address()) || !other_link->meet(1, one_link->address()))
    return "no address";
  const auto delivery = random.chance(1, 2) ? Delivery::in_order : Delivery::as_they_come;
  End one(1, 2, delivery, *one_link, 1 + random.below(400));
  End other(2, 1, delivery, *other_link, random.below(100));
  Time now{}, calm_at = 50ms, pause_until{};
  for (int step = 0; step < 100000; ++step) {
    if (now >= calm_at) {
      network.set_faults({});
      network.heal_all();
    } else if (random.chance(1, 200)) {
      if (random.chance(1, 2))
        network.heal_all();
      else
        network.cut(static_cast<std::uint16_t>(random.below(2)), static_cast<std::uint16_t>(random.below(2)));
    }
    if (now < calm_at && random.chance(1, 300)) pause_until = now + Time(random.below(20'000'000));
    if (std::string wrong = one.work(now); !wrong.empty()) return wrong;
    if (now >= pause_until) {
      if (std::string wrong = other.work(now); !wrong.empty()) return wrong;
    }
    if (one.is_done(other) && other.is_done(one)) return {};
    if (now > calm_at + 5s) return "not all has come 5 s after the last fault";
    const Time due_of_other = std::max(other.due(), pause_until);
    const Time next = std::min({network.due(), one.due(), due_of_other, now + 1ms});
    now = std::max(next, now + 100ns);
    network.advance(now);
  }
  return "it does not end";
}

}  // namespace

TEST_CASE("session: each datagram is applied once, whatever the network does", "[sim]") {
  sim::run_seeds(run, 1500);
}
