// libFuzzer's harness for XCDR2: what is read must come back from its own serialisation.

#include <cstdlib>

#include "xcdr2_types.hpp"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  if (!fuzzed::holds(std::as_bytes(std::span(data, size)))) std::abort();
  return 0;
}
