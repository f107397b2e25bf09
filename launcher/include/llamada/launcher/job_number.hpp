#pragma once

#include <cstdint>
#include <string>

#include "llamada/base/result.hpp"

// A job has a number of its own, drawn by mpirun. Process ids meet: two nodes, or two containers of one host,
// have the same ones. The number lies on the stacks of the ranks (LLAMADA_DRIVER), so it has a fixed number
// of digits, and no incarnation sees another one.

namespace llamada::launcher {

/// 64 random bits from the kernel. Errc::system when it gives none.
Result<std::uint64_t> draw_job_number();

/// 16 hexadecimal digits.
std::string job_number_text(std::uint64_t job_number);

/// The name at which the driver of this node of the job listens: "job-<16 hexadecimal digits>-<node>". Nobody
/// can guess it, so no other user can have taken it before.
std::string driver_name(std::uint64_t job_number, std::uint32_t node);

}  // namespace llamada::launcher
