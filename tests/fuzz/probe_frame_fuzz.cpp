#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <span>
#include <vector>

#include "probe_frame.hpp"

using namespace llamada;
using namespace llamada::llamanet;

namespace {

constexpr SipHashKey key{3, 4};
constexpr std::size_t mac_bytes = 8, mac_offset = probe_head_bytes - mac_bytes;

void require(bool condition) {
  if (!condition) std::abort();
}

void check(std::span<const std::byte> datagram) {
  const auto frame = read_probe(datagram, key);
  if (!frame) return;
  require(frame->size_bytes == datagram.size());
  std::vector<std::byte> again(datagram.size());
  write_probe(again, *frame, key);
  require(std::ranges::equal(std::span(again).first(probe_head_bytes), datagram.first(probe_head_bytes)));
}

}  // namespace

// The input is a datagram, read as it is, and once more as if somebody who has the key had sent it.
extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  std::vector<std::byte> datagram(size);
  std::ranges::copy(std::as_bytes(std::span(data, size)), datagram.begin());
  check(datagram);
  if (size < probe_head_bytes) return 0;
  const std::uint64_t mac = siphash_2_4(std::span(datagram).first(mac_offset), key);
  std::memcpy(datagram.data() + mac_offset, &mac, mac_bytes);
  check(datagram);
  return 0;
}
