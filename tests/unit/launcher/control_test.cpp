#include "llamada/launcher/job_control.hpp"

#include "llamada/base/random.hpp"
#include "llamada/launcher/job_number.hpp"
#include "test.hpp"

using namespace llamada;
using namespace llamada::launcher;
using namespace llamada::launcher::control;

namespace {

Start some_start() {
  Start start;
  start.rank_count = 4;
  start.job_number = 0x0123456789abcdef;
  start.program = "/bin/true";
  start.arguments = {"true", "", "x y"};
  start.environment = {"A=1", "B="};
  start.profile = "text\nof a profile";
  start.inject_rules = {"kill rank 0 after 1s"};
  start.verbose = 1;
  start.ends_at_deadlock = 1;
  start.nodes = {{"a", {}}, {"b", {"ssh", "b", "/bin/llamanetd"}}};
  start.programs = {"/bin/true"};
  start.node_of_rank = {0, 1, 1, 0};
  start.storing.checkpoints = "/store/2.checkpoints";
  start.storing.directory = "/store/2";
  start.storing.is_resumed = 1;
  start.storing.token = 77;
  start.storing.words = {"-n", "4"};
  return start;
}

std::vector<Message> some_of_each() {
  return {
      some_start(),        Input{"bytes\0more"},  Signal{15},          End{124, 1, 1}, InputTaken{1 << 20},
      Output{3, 2, "err"}, Notice{"mpirun: x\n"}, Finished{137, "{}"}, World{4, 2, 1}, Die{}};
}

void append(std::vector<std::byte>& stream, const Message& message) {
  const auto bytes = encode(message);
  stream.insert(stream.end(), bytes.begin(), bytes.end());
}

}  // namespace

TEST_CASE("control: each message comes back as it was, byte by byte", "[launcher]") {
  std::vector<std::byte> stream;
  for (const Message& message : some_of_each()) append(stream, message);
  Decoder decoder;
  std::vector<Message> got;
  for (const std::byte byte : stream) {
    decoder.append({&byte, 1});
    auto message = decoder.next();
    REQUIRE(message);
    if (*message) got.push_back(std::move(**message));
  }
  CHECK(got == some_of_each());
}

TEST_CASE("control: a message lies in the stream as docs/internals/job-control.md has it", "[launcher]") {
  const unsigned char expected[] = {12, 0, 0, 0, 5, 0, 0, 0, 3, 0, 0, 0, 2, 3, 0, 0, 0, 'e', 'r', 'r'};
  CHECK(encode(Output{3, 2, "err"}) == std::vector<std::byte>(std::as_bytes(std::span(expected)).begin(),
                                                              std::as_bytes(std::span(expected)).end()));
}

TEST_CASE("control: a message that is too long, unknown, cut or has something behind it does not parse",
          "[launcher]") {
  using Bytes = std::vector<std::byte>;
  const auto decode = [](const Bytes& bytes) {
    Decoder decoder;
    decoder.append(bytes);
    return decoder.next();
  };
  const Bytes good = encode(Notice{"x"});
  Bytes too_long = good, unknown = good, longer = good, inner = good;
  too_long[3] = std::byte{0x7f};
  unknown[4] = std::byte{99};
  longer.push_back(std::byte{'z'});
  longer[0] = static_cast<std::byte>(good.size() - 8 + 1);
  inner[8] = std::byte{77};
  for (const Bytes& bad : {too_long, unknown, longer, inner}) {
    auto message = decode(bad);
    REQUIRE_FALSE(message);
    CHECK(message.error().code() == Errc::parse_error);
  }
  auto cut = decode(Bytes(good.begin(), good.end() - 1));
  REQUIRE(cut);
  CHECK_FALSE(*cut);
}

TEST_CASE("control: mutated streams parse or are refused", "[launcher]") {
  Random random(3);
  for (int round = 0; round < 30'000; ++round) {
    std::vector<std::byte> stream;
    for (const Message& message : some_of_each())
      if (random.chance(1, 2)) append(stream, message);
    for (std::uint64_t changes = random.below(5); changes > 0 && !stream.empty(); --changes)
      stream[random.below(stream.size())] = static_cast<std::byte>(random.below(256));
    Decoder decoder;
    decoder.append(stream);
    for (;;) {
      auto message = decoder.next();
      if (!message || !*message) break;
    }
  }
}

TEST_CASE("job number: always as many digits, and another one each time", "[launcher]") {
  CHECK(job_number_text(0xabc) == "0000000000000abc");
  CHECK(driver_name(0xabc, 0) == "job-0000000000000abc-0");
  auto first = draw_job_number();
  auto second = draw_job_number();
  REQUIRE(first);
  REQUIRE(second);
  CHECK(*first != *second);
}
