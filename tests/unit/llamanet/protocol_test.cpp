#include "llamada/llamanet/protocol.hpp"

#include <string>

#include "llamada/base/random.hpp"
#include "test.hpp"

using namespace llamada;
using namespace llamada::llamanet;

namespace {

std::vector<Message> one_of_each() {
  return {Attach{77, 3, 0x1234567890, "rank 3"},
          Attached{3, 2, 4, 1, "<dds/>", "first_pid=4711\n"},
          Peers{0, peers_count_max},
          PeersAre{8, {{1, 5}, {2, 0}, {7, 9}}},
          Say{SayKind::abort, -3, "MPI_Abort(-3)"},
          Inspect{},
          Inspected{4, "job-1", "fault-tolerant"},
          ErrorMessage{Errc::permission_denied, "the token is not the right one"},
          Bye{},
          Share{0x1122334455667788, 1 << 20},
          Shared{},
          Shared{false, Errc::out_of_resources, "no room"},
          Release{7},
          Released{},
          Spawn{{{2, "a.out", "/tmp", "/a:/b", "here", {"one", "", "x y"}}, {1, "b", "", "", "", {}}}},
          Spawned{4, 3, "there is no program 'b'"},
          Name{NameSpace::ports, NameAction::publish, "ocean", "llamada:job-1:2:3"},
          Named{Errc::already_exists, false, ""},
          Named{Errc::not_found, true, "llamada:job-1:2:3"},
          Lengthen{},
          Lengthened{},
          Reach{ReplayPlace::last_call_ended, true, 0, 0, 0},
          Reach{ReplayPlace::checkpoint, false, 0x123456, 0, 0},
          Reach{ReplayPlace::restored, false, 0, std::uint64_t{5} << 40, 77},
          Reached{},
          Reached{std::uint64_t{6} << 40, 78},
          Rejoin{3, 9, 1 << 30, 123'456'789, 11, "dds", {{3, 9, 77, 4}, {5, 11, 78, 0}}},
          Part{5, 77},
          Inject{"kill rank 0"},
          Injected{true, "it is done"},
          Survey{},
          Surveyed{9},
          Move{7, 3, MoveKind::set, 100},
          Moved{true, 5},
          Book{},
          BookIs{},
          Agree{{7, 2, 0xff, 12, 3, 1, {4, 5, 6}, {5}}},
          Agreed{true, {0x0f, 12, 3, 1, {5, 6}, true}}};
}

}  // namespace

TEST_CASE("protocol: every message comes back as it was", "[llamanet]") {
  std::uint32_t request = 1;
  for (auto& message : one_of_each()) {
    Envelope envelope{request++, message};
    auto decoded = decode(encode(envelope));
    REQUIRE(decoded);
    CHECK(*decoded == envelope);
  }
}

TEST_CASE("protocol: the header is as documented", "[llamanet]") {
  auto bytes = encode({0x01020304, Bye{}});
  REQUIRE(bytes.size() == header_size_bytes);
  std::string text(reinterpret_cast<const char*>(bytes.data()), bytes.size());
  CHECK(text.substr(0, 4) == "LLND");
  CHECK(text.substr(4) == std::string("\x01\0\x09\0\0\0\0\0\x04\x03\x02\x01", 12));
}

TEST_CASE("protocol: a body is as documented", "[llamanet]") {
  const auto bytes = encode({0, Reach{ReplayPlace::over, true, 4, 5, 6}});
  const std::string body(reinterpret_cast<const char*>(bytes.data()) + header_size_bytes,
                         bytes.size() - header_size_bytes);
  CHECK(body == std::string("\x03\0\0\0\x01\0\0\0\x04\0\0\0\x05\0\0\0\0\0\0\0\x06\0\0\0\0\0\0\0", 28));
  const auto named = encode({0, Named{Errc::not_found, true, "ab"}});
  CHECK(static_cast<char>(named[header_size_bytes]) == 1);
  CHECK(named[header_size_bytes + 4] == static_cast<std::byte>(Errc::not_found));
  CHECK(static_cast<int>(named[header_size_bytes + 8]) == 2);
  CHECK(named.size() == header_size_bytes + 4 + 4 + 2 + 2);
}

TEST_CASE("protocol: a value that its field does not have does not parse", "[llamanet]") {
  const auto with = [](Message message, std::size_t at, int value) {
    auto bytes = encode({1, std::move(message)});
    bytes[header_size_bytes + at] = static_cast<std::byte>(value);
    return decode(bytes).has_value();
  };
  CHECK(with(Say{}, 0, 8));
  CHECK_FALSE(with(Say{}, 0, 0));
  CHECK_FALSE(with(Say{}, 0, 9));
  CHECK(with(Reach{}, 0, 8));
  CHECK_FALSE(with(Reach{}, 0, 0));
  CHECK_FALSE(with(Reach{}, 0, 9));
  CHECK_FALSE(with(Reach{}, 4, 2));
  CHECK_FALSE(with(Shared{}, 0, 2));
  CHECK_FALSE(with(Named{}, 4, 0x7f));
  CHECK_FALSE(with(Name{}, 0, 2));
  CHECK_FALSE(with(Name{}, 4, 3));
  CHECK_FALSE(with(PeersAre{0, {{1, 5}}}, 4, 2));
}

TEST_CASE("protocol: a message cut short anywhere does not parse", "[llamanet]") {
  for (auto& message : one_of_each()) {
    auto bytes = encode({1, message});
    for (std::size_t size = 0; size < bytes.size(); ++size) CHECK_FALSE(decode(std::span(bytes).first(size)));
  }
}

TEST_CASE("protocol: a message with a byte too many does not parse", "[llamanet]") {
  for (auto& message : one_of_each()) {
    auto bytes = encode({1, message});
    bytes.push_back(std::byte{0});
    auto decoded = decode(bytes);
    REQUIRE_FALSE(decoded);
    CHECK(decoded.error().code() == Errc::parse_error);
  }
}

TEST_CASE("protocol: more peers than a message may have are refused", "[llamanet]") {
  CHECK_FALSE(decode(encode({1, Peers{0, peers_count_max + 1}})));
}

TEST_CASE("protocol: texts that do not fit are cut, not refused", "[llamanet]") {
  auto bytes = encode({1, Attached{0, 0, 0, 0, std::string(100'000, 'q'), std::string(100'000, 'i')}});
  CHECK(bytes.size() <= message_size_bytes_max);
  CHECK(decode(bytes));
}

TEST_CASE("protocol: what parses after random changes says the same again", "[llamanet]") {
  Random random(20131107);
  auto messages = one_of_each();
  for (int round = 0; round < 200'000; ++round) {
    auto bytes = encode({static_cast<std::uint32_t>(random.next()), messages[random.below(messages.size())]});
    for (auto changes = random.below(4) + 1; changes > 0; --changes)
      bytes[random.below(bytes.size())] = static_cast<std::byte>(random.next());
    if (random.chance(1, 4)) bytes.resize(random.below(bytes.size() + 1));
    auto decoded = decode(bytes);
    if (decoded) REQUIRE(encode(*decoded) == bytes);
  }
}
