#include "node_handshake.hpp"

#include <sys/random.h>

#include <algorithm>
#include <string_view>

#include "llamada/base/bytes.hpp"
#include "llamada/base/siphash.hpp"

namespace llamada::launcher {
namespace {

constexpr std::string_view magic = "llamada\n";
constexpr std::size_t version_size_bytes = 24;

Status fill_randomly(std::span<std::byte> bytes) {
  if (getrandom(bytes.data(), bytes.size(), 0) == static_cast<ssize_t>(bytes.size())) return {};
  return system_failure("getrandom");
}

SipHashKey key_of(const NodeSecret& secret, std::size_t half) {
  ByteReader reader(std::span<const std::byte>(secret).subspan(16 * half, 16));
  SipHashKey key;
  key.low = reader.number<std::uint64_t>();
  key.high = reader.number<std::uint64_t>();
  return key;
}

/// 16 bytes that nobody can compute without the secret.
std::vector<std::byte> keyed_hash(const ByteWriter& text, const NodeSecret& secret) {
  ByteWriter hash;
  for (const std::size_t half : {0, 1}) hash.number(siphash_2_4(text.written(), key_of(secret, half)));
  return hash.take();
}

}  // namespace

std::string own_version() { return LLAMADA_VERSION; }

Result<NodeSecret> draw_secret() {
  NodeSecret secret;
  if (auto status = fill_randomly(secret); !status) return propagate(status);
  return secret;
}

Result<Nonce> draw_nonce() {
  Nonce nonce;
  if (auto status = fill_randomly(nonce); !status) return propagate(status);
  return nonce;
}

HelloBytes encode(const NodeHello& hello) {
  std::string version = hello.version.substr(0, version_size_bytes);
  version.resize(version_size_bytes);
  ByteWriter writer;
  writer.bytes(std::as_bytes(std::span(magic)));
  writer.bytes(std::as_bytes(std::span(version)));
  writer.number(hello.job_number);
  writer.number(hello.node);
  writer.number(std::uint32_t{0});
  writer.bytes(hello.nonce);
  HelloBytes bytes;
  std::copy(writer.written().begin(), writer.written().end(), bytes.begin());
  return bytes;
}

Result<NodeHello> decode_hello(std::span<const std::byte> bytes) {
  ByteReader reader(bytes);
  NodeHello hello;
  const auto begin = reader.next(magic.size());
  reader.require(is_same(begin, std::as_bytes(std::span(magic))));
  const auto version = reader.next(version_size_bytes);
  hello.version.assign(reinterpret_cast<const char*>(version.data()), version.size());
  hello.version.resize(std::min(hello.version.find('\0'), hello.version.size()));
  reader.require(std::all_of(version.begin() + static_cast<std::ptrdiff_t>(hello.version.size()),
                             version.end(), [](std::byte byte) { return byte == std::byte{}; }));
  reader.require(
      std::all_of(hello.version.begin(), hello.version.end(), [](char c) { return c > ' ' && c < 127; }));
  hello.job_number = reader.number<std::uint64_t>();
  hello.node = reader.number<std::uint32_t>();
  reader.require(reader.number<std::uint32_t>() == 0);
  const auto nonce = reader.next(hello.nonce.size());
  if (!reader.is_complete())
    return failure(Errc::parse_error, "the first message is not a greeting of llamanetd");
  std::copy(nonce.begin(), nonce.end(), hello.nonce.begin());
  return hello;
}

ProofBytes proof_of(HandshakeSide side, const HelloBytes& of_node, const HelloBytes& of_coordinator,
                    const NodeSecret& secret) {
  ByteWriter text;
  text.number(static_cast<std::uint8_t>(side));
  text.bytes(of_node);
  text.bytes(of_coordinator);
  ProofBytes proof{};
  const auto hash = keyed_hash(text, secret);
  std::copy(hash.begin(), hash.end(), proof.begin());
  return proof;
}

bool is_same(std::span<const std::byte> one, std::span<const std::byte> other) {
  if (one.size() != other.size()) return false;
  std::byte difference{};
  for (std::size_t i = 0; i < one.size(); ++i) difference |= one[i] ^ other[i];
  return difference == std::byte{};
}

std::array<std::uint8_t, 16> frame_key(const NodeSecret& secret, std::uint64_t job_number) {
  ByteWriter text;
  text.text("frames of a job");
  text.number(job_number);
  std::array<std::uint8_t, 16> key{};
  const auto hash = keyed_hash(text, secret);
  std::transform(hash.begin(), hash.end(), key.begin(),
                 [](std::byte byte) { return static_cast<std::uint8_t>(byte); });
  return key;
}

NodeGreeting::NodeGreeting(std::uint64_t job_number, std::uint32_t node_count, const NodeSecret& secret,
                           const Nonce& nonce)
    : own_{own_version(), job_number, 0, nonce}, secret_(secret), node_count_(node_count) {}

std::size_t NodeGreeting::wanted_bytes() const {
  return stage_ == Stage::hello ? hello_size_bytes : stage_ == Stage::proof ? proof_size_bytes : 0;
}

Result<std::vector<std::byte>> NodeGreeting::take(std::span<const std::byte> bytes) {
  if (stage_ == Stage::hello) {
    auto hello = decode_hello(bytes);
    if (!hello) return propagate(hello);
    if (hello->job_number != own_.job_number || hello->node >= node_count_)
      return failure(Errc::invalid_argument, "no node of this job");
    hello_ = std::move(*hello);
    own_.node = hello_.node;
    own_bytes_ = encode(own_);
    std::copy(bytes.begin(), bytes.end(), hello_bytes_.begin());
    stage_ = Stage::proof;
    return std::vector<std::byte>(own_bytes_.begin(), own_bytes_.end());
  }
  if (!is_same(bytes, proof_of(HandshakeSide::node, hello_bytes_, own_bytes_, secret_)))
    return failure(Errc::invalid_argument, "its proof is wrong");
  stage_ = Stage::over;
  const ProofBytes proof = proof_of(HandshakeSide::coordinator, hello_bytes_, own_bytes_, secret_);
  return std::vector<std::byte>(proof.begin(), proof.end());
}

}  // namespace llamada::launcher
