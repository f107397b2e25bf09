#include "lane.hpp"

#include <algorithm>
#include <cstring>

#include "packet_port.hpp"
#include "test.hpp"

using namespace llamada;
using namespace llamada::bed;
using namespace std::chrono_literals;

namespace {

constexpr std::byte udp{17}, tcp{6};
constexpr std::size_t number_at = 42;

/// Number `number` of its IP protocol, from the node with this MAC address.
Frame frame_of(std::uint32_t number, std::byte protocol = udp, std::uint8_t from = 1) {
  Frame frame(64);
  frame[11] = std::byte{from};
  frame[12] = std::byte{8};
  frame[23] = protocol;
  std::memcpy(frame.data() + number_at, &number, sizeof number);
  return frame;
}

struct Wire {
  explicit Wire(std::uint64_t seed = 7)
      : lane(seed, [this](std::span<const std::byte> frame) {
          std::uint32_t number = 0;
          std::memcpy(&number, frame.data() + number_at, sizeof number);
          came.push_back(number);
          frames.emplace_back(frame.begin(), frame.end());
        }) {}
  void set(std::vector<std::string> words) { REQUIRE(lane.faults().change(words)); }
  void take(Frame frame) { lane.take(frame, now); }
  void take_all(std::uint32_t count) {
    for (std::uint32_t number = 0; number < count; ++number) take(frame_of(number));
  }
  void pass(std::chrono::nanoseconds time) {
    now += time;
    lane.work(now);
  }

  std::vector<std::uint32_t> came;
  std::vector<Frame> frames;
  std::chrono::nanoseconds now{1s};
  Lane lane;
};

std::vector<std::uint32_t> up_to(std::uint32_t count) {
  std::vector<std::uint32_t> all(count);
  for (std::uint32_t i = 0; i < count; ++i) all[i] = i;
  return all;
}

}  // namespace

TEST_CASE("lane: without faults each frame passes at once, in order", "[bed]") {
  Wire wire;
  wire.take_all(100);
  CHECK(wire.came == up_to(100));
  CHECK_FALSE(wire.lane.due());
}

TEST_CASE("lane: a seed loses the same frames again, whatever else comes and is set", "[bed]") {
  Wire one, same, other(8), worse, mixed;
  for (Wire* wire : {&one, &same, &other}) {
    wire->set({"loss=10%"});
    wire->take_all(2000);
  }
  CHECK(one.came.size() > 1700);
  CHECK(one.came.size() < 1900);
  CHECK(one.came == same.came);
  CHECK(one.came != other.came);

  worse.set({"loss=0.2", "duplicate=0"});
  worse.take_all(2000);
  CHECK(worse.came.size() < one.came.size());
  CHECK(std::includes(one.came.begin(), one.came.end(), worse.came.begin(), worse.came.end()));

  // Other kinds of frames come in between, when they like.
  mixed.set({"loss=10%"});
  for (std::uint32_t number = 0; number < 2000; ++number) {
    if (number % 3 == 0) mixed.take(frame_of(100'000, tcp));
    mixed.take(frame_of(number));
  }
  std::erase_if(mixed.came, [](std::uint32_t number) { return number == 100'000; });
  CHECK(mixed.came == one.came);

  one.came.clear();
  one.lane.set_seed(7);
  one.take_all(2000);
  CHECK(one.came == same.came);
}

TEST_CASE("lane: a cut lets nothing pass, and what follows is as if it had not been there", "[bed]") {
  Wire whole, cut;
  whole.set({"loss=10%"});
  whole.take_all(300);
  cut.set({"loss=10%"});
  for (std::uint32_t number = 0; number < 300; ++number) {
    if (number == 100) cut.set({"cut"});
    if (number == 200) cut.set({"cut=no"});
    cut.take(frame_of(number));
  }
  std::erase_if(whole.came, [](std::uint32_t number) { return number >= 100 && number < 200; });
  CHECK(cut.came == whole.came);
  CHECK(cut.lane.counters().cut == 100);
}

TEST_CASE("lane: one peer can be cut off", "[bed]") {
  Wire wire;
  wire.lane.faults(2).cut = true;
  wire.take(frame_of(1));
  wire.take(frame_of(2, udp, 2));
  wire.take(frame_of(3));
  CHECK(wire.came == std::vector<std::uint32_t>{1, 3});
}

TEST_CASE("lane: corruption flips one bit behind the Ethernet header", "[bed]") {
  Wire wire;
  wire.set({"corrupt=100%"});
  for (std::uint32_t number = 0; number < 200; ++number) wire.take(frame_of(5));
  for (const Frame& frame : wire.frames) {
    const Frame sent = frame_of(5);
    CHECK(std::equal(frame.begin(), frame.begin() + 14, sent.begin()));
    int bits = 0;
    for (std::size_t i = 0; i < frame.size(); ++i)
      bits += __builtin_popcount(std::to_integer<unsigned>(frame[i] ^ sent[i]));
    REQUIRE(bits == 1);
  }
  CHECK(wire.lane.counters().corrupted == 200);
}

TEST_CASE("lane: a duplicate is one more frame", "[bed]") {
  Wire wire;
  wire.set({"duplicate=50%"});
  wire.take_all(1000);
  CHECK(wire.came.size() == 1000 + wire.lane.counters().duplicated);
  CHECK(wire.lane.counters().duplicated > 400);
  CHECK(std::is_sorted(wire.came.begin(), wire.came.end()));
}

TEST_CASE("lane: a reordered frame comes behind the next three, or after 5 ms", "[bed]") {
  Wire wire;
  wire.set({"reorder=100%"});
  wire.take(frame_of(0));
  wire.set({"reorder=0"});
  for (std::uint32_t number = 1; number < 5; ++number) wire.take(frame_of(number));
  CHECK(wire.came == std::vector<std::uint32_t>{1, 2, 3, 0, 4});

  wire.set({"reorder=1"});
  wire.take(frame_of(9));
  REQUIRE(wire.lane.due() == wire.now + 5ms);
  wire.pass(4999us);
  CHECK(wire.came.back() == 4);
  wire.pass(1us);
  CHECK(wire.came.back() == 9);
}

TEST_CASE("lane: a delay keeps the order, jitter does not, and neither loses anything", "[bed]") {
  Wire wire;
  wire.set({"delay=2ms"});
  wire.take_all(100);
  CHECK(wire.came.empty());
  REQUIRE(wire.lane.due() == wire.now + 2ms);
  wire.pass(2ms);
  CHECK(wire.came == up_to(100));

  wire.came.clear();
  wire.set({"jitter=1ms"});
  wire.take_all(100);
  wire.pass(3ms);
  CHECK(wire.came != up_to(100));
  std::sort(wire.came.begin(), wire.came.end());
  CHECK(wire.came == up_to(100));
}

TEST_CASE("lane: what waits has a bound", "[bed]") {
  Wire wire;
  wire.set({"delay=1s"});
  wire.take_all(Lane::frames_held_max + 10);
  CHECK(wire.lane.counters().overflowed == 10);
  wire.pass(1s);
  CHECK(wire.came.size() == Lane::frames_held_max);
}

TEST_CASE("lane: faults are read from words, and wrong ones change nothing", "[bed]") {
  Faults faults;
  REQUIRE(faults.change(std::vector<std::string>{"loss=1%", "delay=250us", "reorder=0.5", "cut"}));
  CHECK(faults.loss == 0.01);
  CHECK(faults.delay == 250us);
  CHECK(faults.reorder == 0.5);
  CHECK(faults.cut);
  for (const char* wrong : {"loss", "loss=", "loss=-1", "loss=101%", "loss=2", "loss=1x", "delay=5",
                            "delay=-1s", "delay=61s", "jitter=nan", "loss=nan", "cut=maybe", "rain=1%", ""}) {
    INFO(wrong);
    const auto changed = faults.change(std::vector<std::string>{"loss=0", wrong});
    REQUIRE_FALSE(changed);
    CHECK(changed.error().code() == Errc::parse_error);
    CHECK(faults.loss == 0.01);
  }
  REQUIRE(faults.change(std::vector<std::string>{"none"}));
  CHECK(faults.loss == 0);
  CHECK_FALSE(faults.cut);
}

TEST_CASE("lane: frames of any length pass", "[bed]") {
  std::vector<std::size_t> lengths;
  Lane lane(1, [&](std::span<const std::byte> frame) { lengths.push_back(frame.size()); });
  lane.faults().corrupt = 1;
  for (std::size_t length = 0; length < 30; ++length) {
    Frame frame(length);
    lane.take(frame, 1s);
  }
  CHECK(lengths.size() == 30);
}

TEST_CASE("packet port: a checksum is filled in, and a place outside the frame is left alone", "[bed]") {
  // A UDP header and payload of odd length, with the sum of its pseudo header in its place.
  Frame frame{std::byte{0},    std::byte{0}, std::byte{0x12}, std::byte{0x34}, std::byte{0xff},
              std::byte{0xff}, std::byte{0}, std::byte{1},    std::byte{0xab}};
  complete_checksum(frame, 2, 4);
  // 0x1234 + 0xffff + 0x0001 + 0xab00 = 0x1bd34 → 0xbd35; its complement is 0x42ca.
  CHECK(frame[6] == std::byte{0x42});
  CHECK(frame[7] == std::byte{0xca});
  const Frame before = frame;
  complete_checksum(frame, 8, 1);
  complete_checksum(frame, 100, 0);
  complete_checksum(frame, 2, SIZE_MAX);
  CHECK(frame == before);
}
