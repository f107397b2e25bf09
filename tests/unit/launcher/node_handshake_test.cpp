#include "node_handshake.hpp"

#include <algorithm>

#include "llamada/base/random.hpp"
#include "test.hpp"

using namespace llamada;
using namespace llamada::launcher;

namespace {

constexpr std::uint64_t job = 0x0123456789abcdef;

NodeSecret secret_of(unsigned char first) {
  NodeSecret secret{};
  secret.fill(std::byte{0x5a});
  secret[0] = std::byte{first};
  return secret;
}
Nonce nonce_of(unsigned char first) { return {std::byte{first}}; }

/// A node's end, and what it makes of the coordinator.
struct Node {
  HelloBytes own;
  NodeSecret secret;

  explicit Node(std::uint32_t number, std::uint64_t job_number = job, unsigned char key = 1,
                const std::string& version = own_version())
      : own(encode(NodeHello{version, job_number, number, nonce_of(7)})), secret(secret_of(key)) {}

  /// Whether both ends believe each other.
  bool meets(NodeGreeting& greeting) const {
    const auto hello = greeting.take(own);
    if (!hello) return false;
    HelloBytes other;
    std::copy(hello->begin(), hello->end(), other.begin());
    const auto proof = greeting.take(proof_of(HandshakeSide::node, own, other, secret));
    return proof && is_same(*proof, proof_of(HandshakeSide::coordinator, own, other, secret));
  }
};

NodeGreeting greeting_of(unsigned char nonce = 9) { return {job, 4, secret_of(1), nonce_of(nonce)}; }

}  // namespace

TEST_CASE("handshake: a node that has the secret is known, with its number and version", "[launcher]") {
  NodeGreeting greeting = greeting_of();
  CHECK(greeting.wanted_bytes() == hello_size_bytes);
  CHECK(Node(3).meets(greeting));
  CHECK(greeting.wanted_bytes() == 0);
  CHECK(greeting.hello().node == 3);
  CHECK(greeting.hello().version == own_version());
}

TEST_CASE("handshake: another version of Llamada is known as such, once it has shown the secret",
          "[launcher]") {
  NodeGreeting greeting = greeting_of();
  CHECK(Node(1, job, 1, "9.9.9").meets(greeting));
  CHECK(greeting.hello().version == "9.9.9");
}

TEST_CASE("handshake: strangers, other jobs and nodes that there are not are refused", "[launcher]") {
  for (const Node& node : {Node(1, job, 2), Node(1, job + 1), Node(4)}) {
    NodeGreeting greeting = greeting_of();
    CHECK_FALSE(node.meets(greeting));
  }
}

TEST_CASE("handshake: what one connection has shown is worth nothing on another", "[launcher]") {
  const Node node(1);
  NodeGreeting first = greeting_of(1), second = greeting_of(2);
  const auto hello = first.take(node.own);
  HelloBytes other;
  std::copy(hello->begin(), hello->end(), other.begin());
  const ProofBytes overheard = proof_of(HandshakeSide::node, node.own, other, node.secret);
  REQUIRE(first.take(overheard));
  REQUIRE(second.take(node.own));
  CHECK_FALSE(second.take(overheard));
  // Nor does the coordinator's own proof, sent back, pass for a node's.
  CHECK(proof_of(HandshakeSide::node, node.own, other, node.secret) !=
        proof_of(HandshakeSide::coordinator, node.own, other, node.secret));
}

TEST_CASE("handshake: a hello comes back as it was, and a changed one is refused or another one",
          "[launcher]") {
  const NodeHello hello{"1.2.3", job, 2, nonce_of(7)};
  const HelloBytes bytes = encode(hello);
  CHECK(*decode_hello(bytes) == hello);
  CHECK_FALSE(decode_hello(std::span(bytes).first(63)));
  Random random(1);
  for (int round = 0; round < 10'000; ++round) {
    HelloBytes changed = bytes;
    changed[random.below(changed.size())] ^= static_cast<std::byte>(1 + random.below(255));
    const auto read = decode_hello(changed);
    CHECK((!read || *read != hello));
  }
}

TEST_CASE("handshake: jobs and secrets have keys of their own for their frames", "[launcher]") {
  CHECK(frame_key(secret_of(1), job) == frame_key(secret_of(1), job));
  CHECK(frame_key(secret_of(1), job) != frame_key(secret_of(2), job));
  CHECK(frame_key(secret_of(1), job) != frame_key(secret_of(1), job + 1));
}
