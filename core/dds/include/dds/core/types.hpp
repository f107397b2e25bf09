#pragma once

#include <chrono>
#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "llamada/dcps/instance_handle.hpp"
#include "llamada/dcps/time.hpp"

namespace dds::core {

using ByteSeq = std::vector<std::uint8_t>;
using StringSeq = std::vector<std::string>;

/// A span of time (ISO C++ PSM, 7.5.3), interchangeable with std::chrono's.
class Duration {
 public:
  constexpr Duration() = default;
  constexpr explicit Duration(std::int32_t sec, std::uint32_t nanosec = 0)
      : value_(std::chrono::seconds(sec) + std::chrono::nanoseconds(nanosec)) {}
  template <typename Rep, typename Period>
  constexpr Duration(std::chrono::duration<Rep, Period> value)  // NOLINT: implicit by intent
      : value_(std::chrono::duration_cast<std::chrono::nanoseconds>(value)) {}

  static constexpr Duration zero() { return {}; }
  static constexpr Duration infinite() { return Duration(llamada::qos::duration_infinite); }
  static constexpr Duration from_secs(double seconds) {
    return Duration(std::chrono::duration<double>(seconds));
  }
  static constexpr Duration from_millisecs(std::int64_t count) {
    return Duration(std::chrono::milliseconds(count));
  }
  static constexpr Duration from_microsecs(std::int64_t count) {
    return Duration(std::chrono::microseconds(count));
  }

  constexpr std::int64_t sec() const { return value_.count() / 1000000000; }
  constexpr std::uint32_t nanosec() const { return static_cast<std::uint32_t>(value_.count() % 1000000000); }
  constexpr double to_secs() const { return std::chrono::duration<double>(value_).count(); }
  constexpr std::int64_t to_millisecs() const { return value_.count() / 1000000; }
  constexpr std::int64_t to_microsecs() const { return value_.count() / 1000; }
  constexpr std::chrono::nanoseconds to_chrono() const { return value_; }

  constexpr auto operator<=>(const Duration&) const = default;

 private:
  std::chrono::nanoseconds value_{0};
};

/// A moment on the clock of the wall (7.5.3), since 1970.
class Time {
 public:
  constexpr Time() = default;
  constexpr explicit Time(std::int64_t sec, std::uint32_t nanosec = 0)
      : value_(std::chrono::seconds(sec) + std::chrono::nanoseconds(nanosec)) {}
  constexpr explicit Time(std::chrono::nanoseconds since_1970) : value_(since_1970) {}

  static constexpr Time invalid() { return Time(std::chrono::nanoseconds(-1)); }

  constexpr std::int64_t sec() const { return value_.count() / 1000000000; }
  constexpr std::uint32_t nanosec() const { return static_cast<std::uint32_t>(value_.count() % 1000000000); }
  constexpr std::chrono::nanoseconds to_chrono() const { return value_; }

  constexpr auto operator<=>(const Time&) const = default;
  friend constexpr Time operator+(Time moment, Duration span) {
    return Time(moment.value_ + span.to_chrono());
  }
  friend constexpr Duration operator-(Time a, Time b) { return Duration(a.value_ - b.value_); }

 private:
  std::chrono::nanoseconds value_{0};
};

/// Names an instance or an entity (7.5.4).
class InstanceHandle {
 public:
  constexpr InstanceHandle() = default;
  constexpr explicit InstanceHandle(llamada::dcps::InstanceHandle native) : native_(native) {}

  static constexpr InstanceHandle nil() { return {}; }
  bool is_nil() const { return native_.is_nil(); }
  const llamada::dcps::InstanceHandle& native() const { return native_; }
  auto operator<=>(const InstanceHandle&) const = default;

 private:
  llamada::dcps::InstanceHandle native_;
};

using InstanceHandleSeq = std::vector<InstanceHandle>;

}  // namespace dds::core

template <>
struct std::hash<dds::core::InstanceHandle> {
  std::size_t operator()(const dds::core::InstanceHandle& handle) const noexcept {
    return std::hash<llamada::dcps::InstanceHandle>()(handle.native());
  }
};
