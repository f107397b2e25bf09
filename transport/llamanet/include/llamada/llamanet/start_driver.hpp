#pragma once

#include <string>

#include "llamada/base/result.hpp"

namespace llamada::llamanet {

/// Starts a driver on demand as a process of its own (no child of the caller's), which ends with its last
/// application, and returns when it listens, or when another one turned out to listen there already.
/// `program`: the llamanetd to run; empty: the one beside this program or this library, or else `elsewhere`.
/// The caller sees neither a child nor SIGCHLD. Errors: not_found, system.
Status start_driver(const std::string& program, const std::string& socket_name,
                    const std::string& elsewhere = {});

}  // namespace llamada::llamanet
