#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "llamada/base/file_descriptor.hpp"
#include "llamada/base/result.hpp"

// How a driver comes to its socket's name although another user may take any name before it
// (docs/decisions/0020-names-that-cannot-be-guessed.md).

namespace llamada::llamanet {

/// A name of the driver's own, and the socket that listens there.
struct Claim {
  std::string socket_name;
  FileDescriptor listener;
};

/// Exactly this name, which the caller has drawn at random: for a driver whose applications are told where it
/// listens. Errors: already_exists, those of the system.
Result<Claim> claim_secret(std::string_view name);

/// The well-known name itself. Where another user holds it: a secret one, which applications find with
/// stand_in_for(). Of several drivers of one user that start at once exactly one gets a name. Errors:
/// already_exists (a driver of this user listens, or begins to); permission_denied (another user holds the
/// name, and the kernel does not tell the owners of other names).
Result<Claim> claim_known(std::string_view name);

/// Where a driver of this user listens that could not get the well-known name `socket_name`.
std::optional<std::string> stand_in_for(const std::string& socket_name);

/// Connects to a driver of this user, waiting for as long as it takes no connections. Another user's socket
/// is not waited for. Errors: as connect_to(); permission_denied.
Result<FileDescriptor> connect_to_own(const std::string& socket_name);

}  // namespace llamada::llamanet
