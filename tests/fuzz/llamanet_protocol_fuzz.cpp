#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <span>

#include "llamada/llamanet/protocol.hpp"

// What parses must say the same again, byte for byte.
extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const auto datagram = std::as_bytes(std::span(data, size));
  const auto envelope = llamada::llamanet::decode(datagram);
  if (!envelope) return 0;
  const auto again = llamada::llamanet::encode(*envelope);
  if (again.size() != size || !std::equal(again.begin(), again.end(), datagram.begin())) std::abort();
  return 0;
}
