#pragma once

namespace llamada::mpi::interpose {

/// Whether `caller`, the return address of clock_gettime(), is in the runtime of a sanitizer
/// (AddressSanitizer, ThreadSanitizer, …) that asks for itself. Its allocator does so with its lock held:
/// whoever then joins the job, or takes memory, waits for ever. A question that the runtime only hands on for
/// the program is the program's.
///
/// Threads: any. Takes no memory.
bool is_asked_by_sanitizer(const void* caller);

}  // namespace llamada::mpi::interpose
