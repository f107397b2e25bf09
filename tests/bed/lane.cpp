#include "lane.hpp"

#include <algorithm>
#include <charconv>
#include <utility>

#include "llamada/base/random.hpp"

namespace llamada::bed {
namespace {

using std::chrono::nanoseconds;

constexpr std::size_t mac_bytes = 6, ethernet_bytes = 14, ip_protocol_at = ethernet_bytes + 9;
constexpr std::uint32_t ethertype_ip = 0x0800;
/// The frames of so many kinds are counted apart; those of further kinds together.
constexpr std::size_t kinds_max = 1024;

std::uint32_t byte_at(std::span<const std::byte> frame, std::size_t at) {
  return std::to_integer<std::uint32_t>(frame[at]);
}

std::uint64_t address_at(std::span<const std::byte> frame, std::size_t at) {
  if (frame.size() < ethernet_bytes) return 0;
  std::uint64_t address = 0;
  for (std::size_t i = 0; i < mac_bytes; ++i) address = address << 8 | byte_at(frame, at + i);
  return address;
}

/// EtherType, and for IP the protocol.
std::uint32_t kind_of(std::span<const std::byte> frame) {
  if (frame.size() < ethernet_bytes) return 0;
  const std::uint32_t ethertype =
      byte_at(frame, ethernet_bytes - 2) << 8 | byte_at(frame, ethernet_bytes - 1);
  if (ethertype != ethertype_ip || frame.size() <= ip_protocol_at) return ethertype << 8;
  return ethertype << 8 | byte_at(frame, ip_protocol_at);
}

/// The decisions on one frame, each drawn whether it matters or not.
struct Draws {
  double loss, duplicate, corrupt, reorder, jitter;
  std::uint64_t bit;
};

Draws draw(std::uint64_t seed, std::uint32_t kind, std::uint64_t number) {
  Random mixed(Random(seed ^ std::uint64_t{kind} << 32).next() + number);
  const auto share = [&] { return static_cast<double>(mixed.next() >> 11) * 0x1p-53; };
  Draws draws{};
  draws.loss = share();
  draws.duplicate = share();
  draws.corrupt = share();
  draws.reorder = share();
  draws.jitter = share();
  draws.bit = mixed.next();
  return draws;
}

/// A number and what follows it.
std::optional<std::pair<double, std::string_view>> number_in(std::string_view text) {
  double value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc() || !(value >= 0)) return std::nullopt;
  return std::pair(value, text.substr(static_cast<std::size_t>(end - text.data())));
}

std::optional<double> share_in(std::string_view text) {
  const auto number = number_in(text);
  if (!number || (!number->second.empty() && number->second != "%")) return std::nullopt;
  const double share = number->second.empty() ? number->first : number->first / 100;
  return share <= 1 ? std::optional(share) : std::nullopt;
}

std::optional<nanoseconds> time_in(std::string_view text) {
  constexpr double seconds_max = 60;
  const auto number = number_in(text);
  if (!number) return std::nullopt;
  const std::string_view unit = number->second;
  const double seconds = unit == "s"    ? number->first
                         : unit == "ms" ? number->first / 1e3
                         : unit == "us" ? number->first / 1e6
                                        : -1;
  if (seconds < 0 || seconds > seconds_max) return std::nullopt;
  return nanoseconds(static_cast<std::int64_t>(seconds * 1e9));
}

}  // namespace

std::uint64_t destination_of(std::span<const std::byte> frame) { return address_at(frame, 0); }
std::uint64_t source_of(std::span<const std::byte> frame) { return address_at(frame, mac_bytes); }

Status Faults::change(std::span<const std::string> words) {
  Faults changed = *this;
  const std::map<std::string_view, double*> shares{{"loss", &changed.loss},
                                                   {"duplicate", &changed.duplicate},
                                                   {"corrupt", &changed.corrupt},
                                                   {"reorder", &changed.reorder}};
  const std::map<std::string_view, nanoseconds*> times{{"delay", &changed.delay},
                                                       {"jitter", &changed.jitter}};
  for (const std::string& word : words) {
    const std::string_view all = word;
    const auto equals = all.find('=');
    const auto name = all.substr(0, equals);
    const auto value = equals == all.npos ? std::string_view() : all.substr(equals + 1);
    if (const auto share = shares.find(name); share != shares.end()) {
      const auto given = share_in(value);
      if (!given) return failure(Errc::parse_error, "'{}': a share is from 0 to 1 or to 100%", word);
      *share->second = *given;
    } else if (const auto time = times.find(name); time != times.end()) {
      const auto given = time_in(value);
      if (!given) return failure(Errc::parse_error, "'{}': a time has s, ms or us, and is up to 60s", word);
      *time->second = *given;
    } else if (word == "cut" || word == "cut=yes" || word == "cut=no") {
      changed.cut = word != "cut=no";
    } else if (word == "none") {
      changed = {};
    } else {
      return failure(Errc::parse_error,
                     "'{}': a fault is loss, duplicate, corrupt, reorder, delay, jitter, cut or none", word);
    }
  }
  *this = changed;
  return {};
}

std::string LaneCounters::text() const {
  return fmt::format("seen={} sent={} lost={} duplicated={} corrupted={} reordered={} cut={} overflowed={}",
                     seen, sent, lost, duplicated, corrupted, reordered, cut, overflowed);
}

void Lane::set_seed(std::uint64_t seed) {
  seed_ = seed;
  frames_of_kind_.clear();
}

const Faults& Lane::faults_for(std::span<const std::byte> frame) const {
  for (const std::uint64_t mac : {destination_of(frame), source_of(frame)})
    if (const auto own = faults_of_.find(mac); own != faults_of_.end()) return own->second;
  return faults_;
}

void Lane::take(std::span<std::byte> frame, nanoseconds now) {
  work(now);
  ++counters_.seen;
  std::uint32_t kind = kind_of(frame);
  if (frames_of_kind_.size() >= kinds_max && !frames_of_kind_.contains(kind)) kind = 0;
  const Draws draws = draw(seed_, kind, frames_of_kind_[kind]++);
  const Faults& faults = faults_for(frame);
  if (faults.cut) {
    ++counters_.cut;
    return;
  }
  if (draws.loss < faults.loss) {
    ++counters_.lost;
    return;
  }
  if (draws.corrupt < faults.corrupt && frame.size() > ethernet_bytes) {
    const auto bit = draws.bit % ((frame.size() - ethernet_bytes) * 8);
    frame[ethernet_bytes + bit / 8] ^= std::byte{1} << (bit % 8);
    ++counters_.corrupted;
  }
  const bool is_to_be_overtaken = draws.reorder < faults.reorder;
  const bool is_twice = draws.duplicate < faults.duplicate;
  counters_.reordered += is_to_be_overtaken ? 1 : 0;
  counters_.duplicated += is_twice ? 1 : 0;
  const nanoseconds due =
      now + faults.delay +
      nanoseconds(static_cast<std::int64_t>(static_cast<double>(faults.jitter.count()) * draws.jitter));
  delay(frame, is_to_be_overtaken, due, now);
  if (is_twice) delay(frame, false, due, now);
}

void Lane::delay(std::span<const std::byte> frame, bool is_to_be_overtaken, nanoseconds due,
                 nanoseconds now) {
  // What waits goes first: two frames of one delay stay in their order.
  if (due <= now && delayed_.empty()) return leave(frame, is_to_be_overtaken, now);
  if (is_full()) return;
  delayed_.emplace(due, Waiting{Frame(frame.begin(), frame.end()), is_to_be_overtaken});
}

void Lane::leave(std::span<const std::byte> frame, bool is_to_be_overtaken, nanoseconds now) {
  if (!is_to_be_overtaken) return send(frame);
  if (is_full()) return;
  held_.push_back({Frame(frame.begin(), frame.end()), 0, now + overtaken_within});
}

void Lane::send(std::span<const std::byte> frame) {
  send_(frame);
  ++counters_.sent;
  for (Held& each : held_) ++each.overtaken;
  // Those that go now have been held for the same frames, and overtake nobody.
  while (!held_.empty() && held_.front().overtaken >= overtaken_by) {
    send_(held_.front().frame);
    ++counters_.sent;
    held_.pop_front();
  }
}

bool Lane::is_full() {
  const bool full = waiting() >= frames_held_max;
  counters_.overflowed += full ? 1 : 0;
  return full;
}

void Lane::work(nanoseconds now) {
  while (!delayed_.empty() && delayed_.begin()->first <= now) {
    auto first = delayed_.extract(delayed_.begin());
    leave(first.mapped().frame, first.mapped().is_to_be_overtaken, now);
  }
  while (!held_.empty() && held_.front().until <= now) {
    const Held first = std::move(held_.front());
    held_.pop_front();
    send(first.frame);
  }
}

std::optional<nanoseconds> Lane::due() const {
  std::optional<nanoseconds> next;
  if (!delayed_.empty()) next = delayed_.begin()->first;
  if (!held_.empty()) next = next ? std::min(*next, held_.front().until) : held_.front().until;
  return next;
}

}  // namespace llamada::bed
