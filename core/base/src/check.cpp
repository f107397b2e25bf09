#include "llamada/base/check.hpp"

#include <unistd.h>

#include <cstdio>
#include <cstdlib>

namespace llamada::detail {

void check_failed(const char* condition, const char* file, int line, const char* function) {
  std::fprintf(stderr, "llamada: internal error in process %d: %s does not hold (%s:%d, %s)\n",
               static_cast<int>(::getpid()), condition, file, line, function);
  std::abort();
}

}  // namespace llamada::detail
