#pragma once

#include <mpi.h>

#include <cstdint>

/// MPI_Status as MPICH lays it out (MPI 3.1, 3.2.5). A function that takes an MPI_Status* of the program
/// checks for MPI_STATUS_IGNORE first; set_status() does it.
namespace llamada::mpi {

constexpr void set_byte_count(MPI_Status& status, std::uint64_t bytes) {
  const auto cancelled = static_cast<std::uint32_t>(status.count_hi_and_cancelled) & 1U;
  status.count_lo = static_cast<int>(static_cast<std::uint32_t>(bytes));
  status.count_hi_and_cancelled = static_cast<int>(static_cast<std::uint32_t>(bytes >> 32) << 1 | cancelled);
}

constexpr std::uint64_t byte_count(const MPI_Status& status) {
  return static_cast<std::uint64_t>(static_cast<std::uint32_t>(status.count_hi_and_cancelled) >> 1) << 32 |
         static_cast<std::uint32_t>(status.count_lo);
}

constexpr void set_cancelled(MPI_Status& status, bool cancelled) {
  status.count_hi_and_cancelled = static_cast<int>(
      (static_cast<std::uint32_t>(status.count_hi_and_cancelled) & ~1U) | (cancelled ? 1U : 0U));
}

constexpr bool is_cancelled(const MPI_Status& status) { return (status.count_hi_and_cancelled & 1) != 0; }

/// What a null or inactive request leaves (3.7.3): source and tag ANY, no bytes. MPI_ERROR is as it was.
constexpr void set_empty(MPI_Status& status) {
  status.count_lo = status.count_hi_and_cancelled = 0;
  status.MPI_SOURCE = MPI_ANY_SOURCE;
  status.MPI_TAG = MPI_ANY_TAG;
}

/// What communication with MPI_PROC_NULL leaves (3.11).
constexpr void set_proc_null(MPI_Status& status) {
  set_empty(status);
  status.MPI_SOURCE = MPI_PROC_NULL;
}

/// Fills all but MPI_ERROR, which only the functions with many statuses set (3.2.5).
inline void set_status(MPI_Status* status, int source, int tag, std::uint64_t bytes, bool cancelled = false) {
  if (status == MPI_STATUS_IGNORE) return;
  status->MPI_SOURCE = source;
  status->MPI_TAG = tag;
  set_byte_count(*status, bytes);
  set_cancelled(*status, cancelled);
}

}  // namespace llamada::mpi
