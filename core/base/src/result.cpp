#include "llamada/base/result.hpp"

#include <cerrno>
#include <cstring>

namespace llamada {

std::string_view to_string(Errc code) {
  switch (code) {
    case Errc::invalid_argument:
      return "invalid_argument";
    case Errc::parse_error:
      return "parse_error";
    case Errc::not_found:
      return "not_found";
    case Errc::already_exists:
      return "already_exists";
    case Errc::incompatible:
      return "incompatible";
    case Errc::unsupported:
      return "unsupported";
    case Errc::out_of_resources:
      return "out_of_resources";
    case Errc::timeout:
      return "timeout";
    case Errc::would_block:
      return "would_block";
    case Errc::closed:
      return "closed";
    case Errc::permission_denied:
      return "permission_denied";
    case Errc::system:
      return "system";
    case Errc::diverged:
      return "diverged";
    case Errc::peer_lost:
      return "peer_lost";
    case Errc::revoked:
      return "revoked";
    case Errc::precondition_not_met:
      return "precondition_not_met";
    case Errc::not_enabled:
      return "not_enabled";
    case Errc::immutable_policy:
      return "immutable_policy";
    case Errc::inconsistent_policy:
      return "inconsistent_policy";
    case Errc::illegal_operation:
      return "illegal_operation";
  }
  return "unknown";
}

tl::unexpected<Error> system_failure(std::string_view what) { return system_failure(what, errno); }

tl::unexpected<Error> system_failure(std::string_view what, int system_errno) {
  const char* hint = "";
  if (system_errno == ENOSYS)
    hint =
        " (the kernel is too old for this system call, or a container's filter refuses it: "
        "docs/containers.md)";
  if (system_errno == EPERM) hint = " (a container's filter of system calls may be why: docs/containers.md)";
  return tl::unexpected<Error>(
      Error(Errc::system, fmt::format("{}: {}{}", what, std::strerror(system_errno), hint), system_errno));
}

}  // namespace llamada
