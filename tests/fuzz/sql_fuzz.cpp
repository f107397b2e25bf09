// libFuzzer's harness for filter expressions: what is refused must be one printable sentence, what is
// accepted must run.

#include <cstdlib>

#include "sql_types.hpp"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  if (!filtered::holds({reinterpret_cast<const char*>(data), size})) std::abort();
  return 0;
}
