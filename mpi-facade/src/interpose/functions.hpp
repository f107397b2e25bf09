#pragma once

#include <dlfcn.h>

#include <atomic>

#include "interpose/rank_thread.hpp"

/// A function of libc that the program finds in libmpi first. It is also named in exports.map.
#define LLAMADA_INTERPOSED __attribute__((visibility("default")))

namespace llamada::mpi::interpose {

/// libc's function of a name behind ours, looked for at the first use.
///
/// Threads: any; several may find it at once, and find the same.
template <typename Signature>
class NextFunction {
 public:
  constexpr explicit NextFunction(const char* name) : name_(name) {}
  /// Null if there is none.
  Signature* get() {
    Signature* function = found_.load(std::memory_order_relaxed);
    if (!function) {
      function = reinterpret_cast<Signature*>(dlsym(RTLD_NEXT, name_));
      found_.store(function, std::memory_order_relaxed);
    }
    return function;
  }

 private:
  const char* name_;
  std::atomic<Signature*> found_{nullptr};  // relaxed: the function is there whoever has found it
};

/// Fills `bytes` as getrandom() does, recorded if the caller is the rank; -1 and errno on failure.
long random_bytes(void* buffer, unsigned long size_bytes, unsigned flags);

}  // namespace llamada::mpi::interpose
