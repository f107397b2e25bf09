#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "llamada/base/result.hpp"

// The first bytes on the stream between the coordinator of a job and the llamanetd of another node. Each says
// who it is (Hello), and then shows that it knows the job's secret (a proof). Nothing that comes before the
// other's proof is believed. The layouts are the same in all versions of Llamada, so that different versions
// can say that they are.
//
//   node → coordinator   Hello
//   coordinator → node   Hello
//   node → coordinator   proof
//   coordinator → node   proof; then the messages of node_messages.hpp
//
// Hello: "llamada\n", version (24 bytes of text, zeros behind it), job u64, node u32, zero u32, nonce (16
// bytes). Proof: two SipHash-2-4 of one byte (1 the node's, 2 the coordinator's), the node's Hello and the
// coordinator's, by the two halves of the secret.

namespace llamada::launcher {

inline constexpr std::size_t hello_size_bytes = 64;
inline constexpr std::size_t proof_size_bytes = 16;
using NodeSecret = std::array<std::byte, 32>;
using HelloBytes = std::array<std::byte, hello_size_bytes>;
using ProofBytes = std::array<std::byte, proof_size_bytes>;
using Nonce = std::array<std::byte, 16>;

struct NodeHello {
  std::string version;  ///< of Llamada, at most 24 bytes
  std::uint64_t job_number = 0;
  std::uint32_t node = 0;
  Nonce nonce{};
  bool operator==(const NodeHello&) const = default;
};

/// This program's version of Llamada.
std::string own_version();

/// From the kernel. Errc::system when it gives none.
Result<NodeSecret> draw_secret();
Result<Nonce> draw_nonce();

HelloBytes encode(const NodeHello& hello);
/// Errors: parse_error.
Result<NodeHello> decode_hello(std::span<const std::byte> bytes);

enum class HandshakeSide : std::uint8_t { node = 1, coordinator = 2 };
ProofBytes proof_of(HandshakeSide side, const HelloBytes& of_node, const HelloBytes& of_coordinator,
                    const NodeSecret& secret);
/// Takes the same time wherever they differ.
bool is_same(std::span<const std::byte> one, std::span<const std::byte> other);

/// The key for the frames between the ranks of the job's nodes. It cannot be computed without the secret, nor
/// the secret from it.
std::array<std::uint8_t, 16> frame_key(const NodeSecret& secret, std::uint64_t job_number);

/// The coordinator's part of one handshake, as a state machine over bytes. One for each connection.
class NodeGreeting {
 public:
  NodeGreeting(std::uint64_t job_number, std::uint32_t node_count, const NodeSecret& secret,
               const Nonce& nonce);

  /// How many bytes must come next: 0 once the node is known.
  std::size_t wanted_bytes() const;
  /// Takes exactly wanted_bytes(), and gives what is to be sent. Errors: invalid_argument, for who is not a
  /// node of this job; the connection must be closed.
  Result<std::vector<std::byte>> take(std::span<const std::byte> bytes);
  /// Who it is, once it is known.
  const NodeHello& hello() const { return hello_; }

 private:
  enum class Stage { hello, proof, over };

  NodeHello own_;
  NodeSecret secret_;
  std::uint32_t node_count_;
  Stage stage_ = Stage::hello;
  NodeHello hello_;
  HelloBytes hello_bytes_{}, own_bytes_{};
};

}  // namespace llamada::launcher
