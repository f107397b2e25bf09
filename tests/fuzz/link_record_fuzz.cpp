#include "link_record.hpp"

#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <span>

using namespace llamada;
using namespace llamada::service;

// What is read is written and read again as it was.
extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const auto record = decode_link(std::as_bytes(std::span(data, size)));
  if (!record) return 0;
  const auto once = encode(*record);
  const auto again = decode_link(once);
  if (!again || encode(*again) != once) std::abort();
  return 0;
}
