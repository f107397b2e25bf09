#include "dds/core/exception.hpp"

namespace dds::core::detail {

void raise(const llamada::Error& error) {
  using llamada::Errc;
  const std::string& text = error.text();
  switch (error.code()) {
    case Errc::invalid_argument:
    case Errc::parse_error:
    case Errc::not_found:
      throw InvalidArgumentError(text);
    case Errc::already_exists:
    case Errc::precondition_not_met:
      throw PreconditionNotMetError(text);
    case Errc::unsupported:
      throw UnsupportedError(text);
    case Errc::out_of_resources:
      throw OutOfResourcesError(text);
    case Errc::timeout:
    case Errc::would_block:
      throw TimeoutError(text);
    case Errc::closed:
      throw AlreadyClosedError(text);
    case Errc::not_enabled:
      throw NotEnabledError(text);
    case Errc::immutable_policy:
      throw ImmutablePolicyError(text);
    case Errc::incompatible:
    case Errc::inconsistent_policy:
      throw InconsistentPolicyError(text);
    case Errc::illegal_operation:
      throw IllegalOperationError(text);
    case Errc::permission_denied:
    case Errc::system:
    case Errc::diverged:
    case Errc::peer_lost:
    case Errc::revoked:
      break;
  }
  throw Error(text);
}

}  // namespace dds::core::detail
