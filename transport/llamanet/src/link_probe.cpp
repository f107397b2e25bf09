#include "link_probe.hpp"

#include <algorithm>
#include <utility>

#include "llamada/links/ethernet_link.hpp"

namespace llamada::llamanet {
namespace {

using replication::Address;
using replication::Link;
using replication::Time;

/// So many answers by another link, or in another size, and none by this one: this one does not get through.
constexpr std::uint32_t answers_enough = 8;
/// The same for UDP, without which there may be no job.
constexpr std::uint32_t many_answers = 40;
/// The first tries follow each other at once; a peer that is not there yet is asked less often.
constexpr std::uint32_t quick_tries = 24;
constexpr Time quick_pause = std::chrono::milliseconds(2), slow_pause = std::chrono::milliseconds(25);

constexpr std::uint32_t mtu_max = links::ethernet_mtu_max;
constexpr std::uint32_t ip_and_udp_bytes = 28, ipv6_and_udp_bytes = 48;
/// UDP datagrams for a path whose MTU is that of Ethernet, of a tunnel in it, the least of IPv6.
constexpr std::array<std::uint32_t, 3> usual_udp_bytes{1472, 1400, 1200};
constexpr std::array<std::uint32_t, 2> usual_mtus{1496, 1400};
constexpr std::uint32_t unit_bytes = 8;

std::uint32_t rounded_down(std::uint32_t bytes) { return bytes / unit_bytes * unit_bytes; }

/// `longest`, and what is usual below it.
template <typename Usual>
std::vector<std::uint32_t> sizes_up_to(std::uint32_t longest, const Usual& usual) {
  std::vector<std::uint32_t> sizes{longest};
  std::ranges::copy_if(usual, std::back_inserter(sizes), [&](std::uint32_t size) { return size < longest; });
  return sizes;
}

std::vector<std::uint32_t> udp_sizes(const BookNode& one, const BookNode& other) {
  const std::uint32_t mtu = std::min<std::uint32_t>({one.mtu, other.mtu, mtu_max});
  const bool is_ipv4 = other.small.family == Address::Family::ipv4;
  const std::uint32_t heads = is_ipv4 ? ip_and_udp_bytes : ipv6_and_udp_bytes;
  // A loopback says more, and nodes of one host do not need it.
  const std::uint32_t longest = mtu < 576 ? usual_udp_bytes[0] : rounded_down(mtu - heads);
  return sizes_up_to(longest, usual_udp_bytes);
}

std::vector<std::uint32_t> ethernet_sizes(const BookNode& one, const BookNode& other) {
  auto sizes = sizes_up_to(std::min<std::uint32_t>(one.ethernet_mtu, other.ethernet_mtu), usual_mtus);
  for (std::uint32_t& size : sizes) size -= links::ethernet_own_head_bytes;
  return sizes;
}

}  // namespace

std::uint16_t LinkProbe::probe_lane(std::uint32_t node) {
  return static_cast<std::uint16_t>(0xC000U + node % 0x4000U);
}

LinkProbe::LinkProbe(Options options, std::unique_ptr<Link> udp, std::unique_ptr<Link> ethernet)
    : options_(std::move(options)), udp_(std::move(udp)), ethernet_(std::move(ethernet)), room_(mtu_max) {
  for (std::uint32_t node = 0; node < options_.nodes.size(); ++node) {
    if (node == options_.own_node) continue;
    peers_.emplace_back().node = node;
    meet(peers_.back());
  }
}

/// Two nodes of one network interface cannot reach each other by it.
void LinkProbe::meet(Peer& peer) {
  const BookNode& own = options_.nodes[options_.own_node];
  const BookNode& of = options_.nodes[peer.node];
  const auto prepare = [&](Lane& lane, Link& link, std::vector<std::uint32_t> sizes, const Address& address) {
    if (!link.meet(replication::driver_endpoint(peer.node), address)) return;
    std::erase_if(sizes, [&](std::uint32_t size) { return size > link.limits().datagram_bytes_max; });
    lane.link = &link;
    lane.answers.resize(sizes.size());
    lane.sizes_bytes = std::move(sizes);
  };
  Address udp = of.small;
  udp.port = of.probe_port;
  prepare(peer.udp, *udp_, udp_sizes(own, of), udp);
  const bool both_have = own.ethernet_mtu != 0 && of.ethernet_mtu != 0;
  if (!ethernet_ || !both_have || own.ethernet.mac == of.ethernet.mac) return;
  Address raw{.family = Address::Family::ethernet, .port = probe_lane(peer.node)};
  std::ranges::copy(of.ethernet.mac, raw.ip.begin());
  prepare(peer.ethernet, *ethernet_, ethernet_sizes(own, of), raw);
}

std::uint32_t LinkProbe::Lane::answers_max() const {
  return answers.empty() ? 0 : *std::ranges::max_element(answers);
}

std::uint32_t LinkProbe::Lane::best_bytes() const {
  const auto found = std::ranges::find_if(answers, [](std::uint32_t count) { return count > 0; });
  return found == answers.end() ? 0 : sizes_bytes[static_cast<std::size_t>(found - answers.begin())];
}

bool LinkProbe::Lane::is_decided() const {
  return answers.empty() || answers.front() > 0 || answers_max() >= answers_enough;
}

void LinkProbe::work(Time now, Time wall) {
  wall_ = wall;
  if (begun_ < Time{0}) begun_ = due_ = now;
  for (Link* const link : {udp_.get(), ethernet_.get()})
    if (link != nullptr) take(*link, now);
  for (Peer& peer : peers_) look(peer, now);
  if (is_over()) {
    due_ = replication::never;
    return;
  }
  if (now < due_) return;
  for (Peer& peer : peers_)
    if (!peer.is_over) ask(peer, now);
  due_ = now + (++round_ < quick_tries ? quick_pause : slow_pause);
}

void LinkProbe::look(Peer& peer, Time now) {
  if (peer.is_over) return;
  const bool raw_is_in_vain = peer.udp.answers_max() >= answers_enough && peer.ethernet.answers_max() == 0;
  const bool udp_is_in_vain = peer.ethernet.answers_max() >= many_answers && peer.udp.answers_max() == 0;
  const bool is_known =
      (peer.udp.is_decided() || udp_is_in_vain) && (peer.ethernet.is_decided() || raw_is_in_vain);
  if (!is_known && now - begun_ < options_.silence_max) return;
  peer.is_over = true;
  ++over_count_;
}

void LinkProbe::ask(Peer& peer, Time now) {
  const std::uint32_t number = ++peer.tries;
  peer.asked_at[number % peer.asked_at.size()] = now;
  for (const Lane* const lane : {&peer.ethernet, &peer.udp})
    for (const std::uint32_t size : lane->sizes_bytes)
      send(*lane->link,
           {false, options_.job_number, options_.own_node, peer.node, number, size, wall_.count()});
}

void LinkProbe::leave_ethernet() {
  for (Peer& peer : peers_) peer.ethernet = {};
  ethernet_.reset();
}

void LinkProbe::ping() {
  for (Peer& peer : peers_)
    if (peer.udp.link != nullptr)
      send(*peer.udp.link, {false, options_.job_number, options_.own_node, peer.node, ++peer.tries,
                            static_cast<std::uint32_t>(probe_head_bytes), wall_.count()});
}

std::vector<std::uint32_t> LinkProbe::take_heard() {
  std::vector<std::uint32_t> heard;
  for (Peer& peer : peers_)
    if (std::exchange(peer.is_heard, false)) heard.push_back(peer.node);
  return heard;
}

/// What a stranger sends once more says nothing.
void LinkProbe::Peer::note(const ProbeFrame& frame) {
  std::uint32_t& last = frame.is_answer ? answered_number : asked_number;
  if (frame.number <= last || (frame.is_answer && frame.number > tries)) return;
  last = frame.number;
  is_heard = true;
}

void LinkProbe::send(Link& link, const ProbeFrame& frame) {
  const auto bytes = std::span(room_).first(frame.size_bytes);
  write_probe(bytes, frame, options_.key);
  const replication::Datagram datagram{bytes, {}};
  (void)link.send(replication::driver_endpoint(frame.to), std::span(&datagram, 1));
}

void LinkProbe::take(Link& link, Time now) {
  constexpr int receives_max = 64;
  auto received = link.receive();
  for (int receives = 0; !received.empty() && receives < receives_max; ++receives, received = link.receive())
    for (const auto& datagram : received) {
      const auto frame = read_probe(datagram, options_.key);
      if (!frame || frame->job != options_.job_number || frame->to != options_.own_node) continue;
      const auto peer = std::ranges::find(peers_, frame->from, &Peer::node);
      if (peer == peers_.end() || frame->size_bytes > room_.size()) continue;
      if (std::ranges::find(not_heard_, peer->node) != not_heard_.end()) continue;
      peer->note(*frame);
      if (frame->is_answer)
        take_answer(&link == udp_.get() ? peer->udp : peer->ethernet, *peer, *frame, now);
      else
        send(link,
             {true, frame->job, frame->to, frame->from, frame->number, frame->size_bytes, wall_.count()});
    }
}

void LinkProbe::take_answer(Lane& lane, Peer& peer, const ProbeFrame& frame, Time now) {
  const auto size = std::ranges::find(lane.sizes_bytes, frame.size_bytes);
  if (size == lane.sizes_bytes.end() || frame.number == 0 || frame.number > peer.tries) return;
  ++lane.answers[static_cast<std::size_t>(size - lane.sizes_bytes.begin())];
  const bool is_remembered = frame.number + peer.asked_at.size() > peer.tries;
  const Time round_trip = now - peer.asked_at[frame.number % peer.asked_at.size()];
  if (&lane != &peer.udp || !is_remembered || round_trip >= peer.round_trip) return;
  peer.round_trip = round_trip;
  // The answer was sent half a round trip ago.
  peer.clock_ahead = Time(frame.clock_ns) - (wall_ - round_trip / 2);
}

std::vector<PairProbe> LinkProbe::results() const {
  std::vector<PairProbe> results(options_.nodes.size());
  for (const Peer& peer : peers_) {
    PairProbe& result = results[peer.node];
    result.udp_bytes = peer.udp.best_bytes();
    const std::uint32_t raw_bytes = peer.ethernet.best_bytes();
    result.ethernet_mtu =
        raw_bytes == 0 ? 0 : raw_bytes + static_cast<std::uint32_t>(links::ethernet_own_head_bytes);
    if (peer.round_trip != replication::never) result.round_trip = peer.round_trip;
    result.clock_ahead = peer.clock_ahead;
  }
  return results;
}

std::vector<int> LinkProbe::descriptors() const {
  std::vector<int> descriptors{udp_->descriptor()};
  if (ethernet_) descriptors.push_back(ethernet_->descriptor());
  return descriptors;
}

}  // namespace llamada::llamanet
