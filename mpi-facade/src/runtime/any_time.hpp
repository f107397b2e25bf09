#pragma once

#include <mutex>
#include <optional>

#include "runtime/entry.hpp"

namespace llamada::mpi {

/// What a function begins with that a program may call at any time, before MPI_Init and after MPI_Finalize,
/// and in any thread (MPI 4.0, 11.4.1): a CallScope within MPI; outside it one thread after another.
class AnyTimeScope {
 public:
  explicit AnyTimeScope(CallId id) {
    const Runtime* self = std::atomic_ref(detail::current_runtime).load(std::memory_order_acquire);
    if (self && self->is_open())
      call_.emplace(id);
    else
      outside_ = std::unique_lock(mutex_);
  }

 private:
  static inline std::recursive_mutex mutex_;  // the program's error handler may call such a function
  std::optional<CallScope> call_;
  std::unique_lock<std::recursive_mutex> outside_;
};

}  // namespace llamada::mpi

/// As LLAMADA_MPI_ENTER.
#define LLAMADA_MPI_ENTER_AT_ANY_TIME(name) \
  const ::llamada::mpi::AnyTimeScope any_time_scope(::llamada::mpi::CallId::name)
