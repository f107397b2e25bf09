#include "relay.hpp"

#include <algorithm>
#include <charconv>
#include <vector>

#include "llamada/base/clock.hpp"
#include "llamada/base/random.hpp"

namespace llamada::bed {
namespace {

constexpr std::string_view seed_word = "seed=";

/// The two directions decide apart.
std::uint64_t other_seed(std::uint64_t seed) { return Random(seed).next(); }

}  // namespace

Relay::Relay(PacketPort node, PacketPort network, std::uint64_t seed)
    : node_(std::move(node)),
      network_(std::move(network)),
      from_(seed, [this](std::span<const std::byte> frame) { network_.send(frame); }),
      to_(other_seed(seed), [this](std::span<const std::byte> frame) { node_.send(frame); }) {}

Result<std::unique_ptr<Relay>> Relay::open(const std::string& node, const std::string& network,
                                           std::uint64_t seed) {
  auto from = PacketPort::open(node);
  if (!from) return propagate(from);
  auto to = PacketPort::open(network);
  if (!to) return propagate(to);
  return std::unique_ptr<Relay>(new Relay(std::move(*from), std::move(*to), seed));
}

Status Relay::change(const std::string& direction, std::optional<std::uint64_t> peer,
                     std::span<const std::string> words) {
  if (direction != "from" && direction != "to" && direction != "both")
    return failure(Errc::parse_error, "'{}': a direction is from, to or both", direction);
  std::optional<std::uint64_t> seed;
  if (!words.empty() && words.front().starts_with(seed_word)) {
    const std::string_view digits = std::string_view(words.front()).substr(seed_word.size());
    std::uint64_t value = 0;
    const auto [end, error] = std::from_chars(digits.data(), digits.data() + digits.size(), value);
    if (error != std::errc() || end != digits.data() + digits.size())
      return failure(Errc::parse_error, "'{}': a seed is a number", words.front());
    seed = value;
    words = words.subspan(1);
  }
  Faults probe;
  if (auto checked = probe.change(words); !checked) return checked;
  for (Lane* lane : {&from_, &to_}) {
    if (direction == (lane == &from_ ? "to" : "from")) continue;
    if (seed) lane->set_seed(lane == &from_ ? *seed : other_seed(*seed));
    if (auto changed = (peer ? lane->faults(*peer) : lane->faults()).change(words); !changed) return changed;
  }
  return {};
}

std::string Relay::text() {
  overruns_ += node_.take_overruns() + network_.take_overruns();
  return fmt::format("from {}\nto {}\nwaiting={} overruns={}\n", from_.counters().text(),
                     to_.counters().text(), from_.waiting() + to_.waiting(), overruns_);
}

void Relay::work() {
  const auto now = SystemClock().monotonic();
  node_.receive([&](std::span<std::byte> frame) { from_.take(frame, now); });
  network_.receive([&](std::span<std::byte> frame) { to_.take(frame, now); });
  from_.work(now);
  to_.work(now);
}

std::optional<std::chrono::nanoseconds> Relay::due() const {
  const auto from = from_.due(), to = to_.due();
  if (!from || !to) return from ? from : to;
  return std::min(*from, *to);
}

}  // namespace llamada::bed
