#pragma once

#include <stdexcept>
#include <string>

#include "llamada/base/result.hpp"

// The exceptions of the ISO/IEC C++ PSM for DDS 1.0, 7.5.5: each is a dds::core::Exception and one of std's.
namespace dds::core {

class Exception {
 public:
  virtual ~Exception() = default;
  virtual const char* what() const noexcept = 0;

 protected:
  Exception() = default;
  Exception(const Exception&) = default;
  Exception& operator=(const Exception&) = default;
};

namespace detail {
template <typename Base>
class ExceptionOver : public Exception, public Base {
 public:
  explicit ExceptionOver(const std::string& text) : Base(text) {}
  const char* what() const noexcept override { return Base::what(); }
};
}  // namespace detail

/// All errors without an exception of their own: a system call failed, the driver is gone.
struct Error : detail::ExceptionOver<std::logic_error> {
  using ExceptionOver::ExceptionOver;
};
struct AlreadyClosedError : detail::ExceptionOver<std::logic_error> {
  using ExceptionOver::ExceptionOver;
};
struct IllegalOperationError : detail::ExceptionOver<std::logic_error> {
  using ExceptionOver::ExceptionOver;
};
struct ImmutablePolicyError : detail::ExceptionOver<std::logic_error> {
  using ExceptionOver::ExceptionOver;
};
struct InconsistentPolicyError : detail::ExceptionOver<std::logic_error> {
  using ExceptionOver::ExceptionOver;
};
struct InvalidArgumentError : detail::ExceptionOver<std::invalid_argument> {
  using ExceptionOver::ExceptionOver;
};
struct NotEnabledError : detail::ExceptionOver<std::logic_error> {
  using ExceptionOver::ExceptionOver;
};
struct OutOfResourcesError : detail::ExceptionOver<std::runtime_error> {
  using ExceptionOver::ExceptionOver;
};
struct PreconditionNotMetError : detail::ExceptionOver<std::logic_error> {
  using ExceptionOver::ExceptionOver;
};
struct TimeoutError : detail::ExceptionOver<std::runtime_error> {
  using ExceptionOver::ExceptionOver;
};
struct UnsupportedError : detail::ExceptionOver<std::logic_error> {
  using ExceptionOver::ExceptionOver;
};
struct InvalidDataError : detail::ExceptionOver<std::logic_error> {
  using ExceptionOver::ExceptionOver;
};
struct NullReferenceError : detail::ExceptionOver<std::runtime_error> {
  using ExceptionOver::ExceptionOver;
};
struct InvalidDowncastError : detail::ExceptionOver<std::runtime_error> {
  using ExceptionOver::ExceptionOver;
};

namespace detail {

/// Throws the exception that the error's code stands for.
[[noreturn]] void raise(const llamada::Error& error);

/// The value, or the exception.
template <typename T>
T value_of(llamada::Result<T> result) {
  if (!result) raise(result.error());
  if constexpr (!std::is_void_v<T>) return std::move(*result);
}

}  // namespace detail

}  // namespace dds::core
