#pragma once

#include <fmt/format.h>

#include <string>
#include <string_view>
#include <tl/expected.hpp>
#include <type_traits>
#include <utility>

namespace llamada {

/// The kind of failure that an Error is. One enumeration for the whole project.
enum class Errc {
  invalid_argument,   ///< The caller gave a value that is outside the documented range.
  parse_error,        ///< A text or a message from elsewhere is not well-formed.
  not_found,          ///< The named thing does not exist.
  already_exists,     ///< The thing to be made exists already.
  incompatible,       ///< Two ends, or two policies, do not fit each other.
  unsupported,        ///< Legal, but not built, or not possible on this system.
  out_of_resources,   ///< A limit with a name has been reached.
  timeout,            ///< The time allowed is over.
  would_block,        ///< Nothing can be done now; try again later.
  closed,             ///< The other end is gone.
  permission_denied,  ///< The other end is not who it must be.
  system,             ///< A system call failed; Error::system_errno() says how.
  diverged,           ///< A replay did something else than the run that it repeats.
  peer_lost,          ///< A process that is needed has died, and nobody takes its place.
  revoked,            ///< What was to be used has been given up for all who share it.
  // The return codes of DDS 1.4, 2.2.1.1, that the ones above do not say.
  precondition_not_met,  ///< Something else has to be done, or undone, first.
  not_enabled,           ///< The entity is not enabled yet.
  immutable_policy,      ///< The policy cannot be changed once its entity is enabled.
  inconsistent_policy,   ///< The policies contradict each other, or one is out of its range.
  illegal_operation,     ///< The operation is not for this entity.
};

/// The name of a code as it is written in messages, "not_found".
std::string_view to_string(Errc code);

/// Why something could not be done: a code for programs and one sentence for people, which says what, where
/// and, if there is one, the way out.
class Error {
 public:
  Error(Errc code, std::string text, int system_errno = 0)
      : code_(code), system_errno_(system_errno), text_(std::move(text)) {}

  Errc code() const { return code_; }
  int system_errno() const { return system_errno_; }
  const std::string& text() const { return text_; }

  /// This error with "where: " before its text.
  Error within(std::string_view where) const {
    return {code_, fmt::format("{}: {}", where, text_), system_errno_};
  }

 private:
  Errc code_;
  int system_errno_;
  std::string text_;
};

/// A value or an Error. Derived from tl::expected so that dropping one is a warning.
template <typename T>
class [[nodiscard]] Result : public tl::expected<T, Error> {
 public:
  using tl::expected<T, Error>::expected;
  /// Written out, because `return {}` would first make all bytes zero otherwise.
  constexpr Result() requires(std::is_void_v<T> || std::is_default_constructible_v<T>) {}
};

/// Success without a value, or an Error.
using Status = Result<void>;

/// An unexpected value made of a format string: `return failure(Errc::not_found, "no profile '{}'", name);`
template <typename... Arguments>
tl::unexpected<Error> failure(Errc code, fmt::format_string<Arguments...> format, Arguments&&... arguments) {
  return tl::unexpected<Error>(Error(code, fmt::format(format, std::forward<Arguments>(arguments)...)));
}

/// The failure of a system call: "what: strerror(errno)", with Errc::system.
tl::unexpected<Error> system_failure(std::string_view what);
/// The failure of a system call that returned its errno.
tl::unexpected<Error> system_failure(std::string_view what, int system_errno);

/// Hands on the error of another result.
template <typename T>
tl::unexpected<Error> propagate(Result<T>& result) {
  return tl::unexpected<Error>(std::move(result.error()));
}

}  // namespace llamada
