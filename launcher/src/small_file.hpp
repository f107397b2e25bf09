#pragma once

#include <string>
#include <string_view>

#include "llamada/base/result.hpp"

namespace llamada::launcher {

/// The most bytes of a file that a person writes for mpirun.
inline constexpr std::size_t small_file_bytes_max = 4 << 20;

/// The text of a file that a person writes for mpirun; a pipe is read to its end. `what` names it in
/// messages, "the host file". Errors: not_found (it cannot be read), invalid_argument (a device or a folder),
/// out_of_resources (longer than small_file_bytes_max).
Result<std::string> read_small_file(const std::string& path, std::string_view what);

}  // namespace llamada::launcher
