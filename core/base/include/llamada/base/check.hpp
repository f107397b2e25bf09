#pragma once

namespace llamada::detail {
[[noreturn]] void check_failed(const char* condition, const char* file, int line, const char* function);
}

/// Stops the process if a condition that only a bug of ours can break does not hold. Always on. Never for
/// what a peer, a file or a user can cause: that is an Error.
#define LLAMADA_CHECK(condition)                                                 \
  do {                                                                           \
    if (__builtin_expect(!(condition), 0))                                       \
      ::llamada::detail::check_failed(#condition, __FILE__, __LINE__, __func__); \
  } while (false)
