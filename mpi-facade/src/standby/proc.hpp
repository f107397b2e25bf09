#pragma once

#include <optional>
#include <string>
#include <vector>

/// Reading of /proc that takes no memory from libc's heap: a replacement that makes no standby at this call
/// must find the same addresses there.
namespace llamada::mpi::standby {

/// All of a file. None: it cannot be read.
std::optional<std::string> content_of(const std::string& path);
/// What a symbolic link says. None: it cannot be read.
std::optional<std::string> link_of(const std::string& path);
/// The entries of a directory that are numbers: threads, or open descriptors without the one that the look
/// takes. None: it cannot be read.
std::optional<std::vector<int>> numbers_in(const std::string& path);

}  // namespace llamada::mpi::standby
