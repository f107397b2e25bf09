#include "probe_frame.hpp"

#include <algorithm>

#include "llamada/base/bytes.hpp"
#include "llamada/base/check.hpp"

namespace llamada::llamanet {
namespace {

constexpr std::uint32_t probe_mark = 0x52504C4C;  // "LLPR"
constexpr std::uint32_t probe_version = 1;
constexpr std::size_t mac_offset = probe_head_bytes - sizeof(std::uint64_t);

}  // namespace

void write_probe(std::span<std::byte> datagram, const ProbeFrame& frame, const SipHashKey& key) {
  LLAMADA_CHECK(datagram.size() >= probe_head_bytes && datagram.size() == frame.size_bytes);
  ByteWriter to;
  to.number(probe_mark);
  to.number(probe_version << 1 | static_cast<std::uint32_t>(frame.is_answer));
  to.number(frame.job);
  to.number(frame.from);
  to.number(frame.to);
  to.number(frame.number);
  to.number(frame.size_bytes);
  to.number(frame.clock_ns);
  to.number(siphash_2_4(to.written(), key));
  std::ranges::copy(to.written(), datagram.begin());
  std::ranges::fill(datagram.subspan(probe_head_bytes), std::byte{0});
}

std::optional<ProbeFrame> read_probe(std::span<const std::byte> datagram, const SipHashKey& key) {
  ByteReader from(datagram);
  from.require(from.number<std::uint32_t>() == probe_mark);
  const auto word = from.number<std::uint32_t>();
  from.require(word >> 1 == probe_version);
  ProbeFrame frame{.is_answer = (word & 1) != 0};
  frame.job = from.number<std::uint64_t>();
  frame.from = from.number<std::uint32_t>();
  frame.to = from.number<std::uint32_t>();
  frame.number = from.number<std::uint32_t>();
  frame.size_bytes = from.number<std::uint32_t>();
  frame.clock_ns = from.number<std::int64_t>();
  const auto mac = from.number<std::uint64_t>();
  from.require(frame.size_bytes == datagram.size());
  if (!from.ok() || mac != siphash_2_4(datagram.first(mac_offset), key)) return std::nullopt;
  return frame;
}

}  // namespace llamada::llamanet
