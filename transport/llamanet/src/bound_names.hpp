#pragma once

#include <sys/types.h>

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "llamada/base/result.hpp"

// The names of sockets that are taken on this machine. Everybody may take any name, so a name says nothing of
// its owner: the kernel does.

namespace llamada::llamanet {

struct BoundName {
  std::string name;            ///< an abstract name without its leading NUL
  std::optional<uid_t> owner;  ///< the user who made the socket; nothing where the kernel does not tell
  bool listening = false;
};

/// The abstract names of SOCK_SEQPACKET sockets that begin with `prefix`, sorted. The kernel's socket
/// diagnosis (sock_diag) knows the owners; where it is refused, /proc/net/unix lists the names only.
/// Errors: unsupported (neither can be read).
Result<std::vector<BoundName>> bound_names(std::string_view prefix);

/// The same from the text of /proc/net/unix.
std::vector<BoundName> names_in(const std::string& proc_net_unix, std::string_view prefix);

}  // namespace llamada::llamanet
