#pragma once

#include <algorithm>
#include <chrono>
#include <cstring>
#include <functional>
#include <map>
#include <vector>

#include "llamada/replication/link.hpp"
#include "test.hpp"

// What each replication::Link must do. Every test calls this with links of its own.

namespace llamada::replication::conformance {

/// Two links that reach each other, as endpoints 1 and 2, and nothing is lost on the way.
struct Ends {
  Link* one = nullptr;
  Link* other = nullptr;
  Address address_of_other;
  /// Lets some time pass, which a fake one's datagrams need.
  std::function<void()> pass_time;
};

using Bytes = std::vector<std::byte>;

inline Bytes numbered(std::uint32_t number, std::size_t size) {
  Bytes bytes(size);
  for (std::size_t i = 0; i < size; ++i) bytes[i] = static_cast<std::byte>(number * 7 + i);
  std::memcpy(bytes.data(), &number, std::min(size, sizeof(number)));
  return bytes;
}

/// All that comes until so many datagrams have, or nothing comes for a while.
inline std::vector<Bytes> receive(const Ends& ends, Link& at, std::size_t count) {
  std::vector<Bytes> come;
  for (int idle = 0; come.size() < count && idle < 2000;) {
    ends.pass_time();
    const auto received = at.receive();
    for (const auto& datagram : received) come.emplace_back(datagram.begin(), datagram.end());
    idle = received.empty() ? idle + 1 : 0;
  }
  return come;
}

/// Sends from one to the other, no more at a time than a socket's buffer holds, and gives what has come.
inline std::vector<Bytes> carry(const Ends& ends, std::span<const Datagram> datagrams) {
  constexpr std::size_t at_once_bytes = 128 << 10;
  std::vector<Bytes> come;
  while (!datagrams.empty()) {
    std::size_t count = 0, bytes = 0;
    while (count < datagrams.size() && bytes < at_once_bytes) bytes += datagrams[count++].size_bytes();
    const std::size_t sent = ends.one->send(2, datagrams.first(count));
    REQUIRE(sent <= count);
    datagrams = datagrams.subspan(sent);
    const auto more = receive(ends, *ends.other, sent);
    REQUIRE(more.size() == sent);
    come.insert(come.end(), more.begin(), more.end());
  }
  return come;
}

/// Without order, for a link need not keep it.
inline void check_same(std::vector<Bytes> come, std::vector<Bytes> sent) {
  std::ranges::sort(come);
  std::ranges::sort(sent);
  REQUIRE(come.size() == sent.size());
  CHECK(come == sent);
}

inline void check_link(const Ends& ends) {
  const LinkLimits limits = ends.one->limits();
  REQUIRE((limits.datagram_bytes_max >= 256 && limits.train_max >= 1));

  SECTION("nothing comes from nobody") {
    CHECK(ends.other->receive().empty());
    CHECK(ends.one->receive().empty());
  }
  SECTION("a datagram comes whole, its head and its tail in one") {
    const Bytes head = numbered(1, 64), tail = numbered(2, 100);
    const Datagram datagram{head, tail};
    Bytes whole = head;
    whole.insert(whole.end(), tail.begin(), tail.end());
    check_same(carry(ends, std::span(&datagram, 1)), {whole});
    CHECK(ends.one->receive().empty());
  }
  SECTION("datagrams of every size up to the greatest") {
    std::vector<Bytes> sent;
    for (const std::size_t size : {std::size_t{1}, std::size_t{64}, std::size_t{255},
                                   limits.datagram_bytes_max - 1, limits.datagram_bytes_max})
      sent.push_back(numbered(static_cast<std::uint32_t>(size), size));
    std::vector<Datagram> datagrams;
    for (const Bytes& bytes : sent) datagrams.push_back({bytes, {}});
    check_same(carry(ends, datagrams), sent);
  }
  SECTION("trains: many of one size, and a shorter one at their end") {
    std::vector<Bytes> heads, tails, sent;
    const std::size_t tail_bytes = limits.datagram_bytes_max - 100;
    for (std::uint32_t i = 0; i < 150; ++i) {
      heads.push_back(numbered(i, 100));
      tails.push_back(numbered(i, i == 149 ? 10 : tail_bytes));
    }
    std::vector<Datagram> datagrams;
    for (std::size_t i = 0; i < heads.size(); ++i) {
      datagrams.push_back({heads[i], tails[i]});
      sent.push_back(heads[i]);
      sent.back().insert(sent.back().end(), tails[i].begin(), tails[i].end());
    }
    check_same(carry(ends, datagrams), sent);
  }
  SECTION("datagrams of changing sizes in one call") {
    std::vector<Bytes> sent;
    std::vector<Datagram> datagrams;
    for (std::uint32_t i = 0; i < 100; ++i) sent.push_back(numbered(i, 70 + i * 37 % 180));
    for (const Bytes& bytes : sent)
      datagrams.push_back({std::span(bytes).first(64), std::span(bytes).subspan(64)});
    check_same(carry(ends, datagrams), sent);
  }
  SECTION("what it borrowed may change as soon as send() is over") {
    Bytes bytes = numbered(5, 200);
    const Datagram datagram{bytes, {}};
    CHECK(ends.one->send(2, std::span(&datagram, 1)) == 1);
    std::ranges::fill(bytes, std::byte{0});
    check_same(receive(ends, *ends.other, 1), {numbered(5, 200)});
  }
  SECTION("to an endpoint that was never met: taken and dropped") {
    const Bytes bytes = numbered(5, 200);
    const Datagram datagram{bytes, {}};
    CHECK(ends.one->send(77, std::span(&datagram, 1)) == 1);
    ends.pass_time();
    CHECK(ends.other->receive().empty());
  }
  SECTION("an address of another kind of link is refused") {
    CHECK_FALSE(ends.one->meet(9, Address{}).has_value());
  }
  SECTION("an endpoint that has moved is met again") {
    const Bytes bytes = numbered(5, 200);
    REQUIRE(ends.one->meet(3, ends.address_of_other).has_value());
    const Datagram datagram{bytes, {}};
    CHECK(ends.one->send(3, std::span(&datagram, 1)) == 1);
    check_same(receive(ends, *ends.other, 1), {bytes});
  }
  SECTION("both ways at once") {
    const Bytes there = numbered(1, 90), back = numbered(2, 80);
    const Datagram question{there, {}}, answer{back, {}};
    CHECK(ends.one->send(2, std::span(&question, 1)) == 1);
    CHECK(ends.other->send(1, std::span(&answer, 1)) == 1);
    check_same(receive(ends, *ends.other, 1), {there});
    check_same(receive(ends, *ends.one, 1), {back});
  }
}

}  // namespace llamada::replication::conformance
