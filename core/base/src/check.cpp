#include "llamada/base/check.hpp"

#include <unistd.h>

#include <cstdio>
#include <cstdlib>

namespace llamada::detail {

void check_failed(const char* condition, std::source_location where) {
  std::fprintf(stderr, "llamada: internal error in process %d: %s does not hold (%s:%u, %s)\n",
               static_cast<int>(::getpid()), condition, where.file_name(), static_cast<unsigned>(where.line()),
               where.function_name());
  std::abort();
}

}  // namespace llamada::detail
