#pragma once

#include <chrono>
#include <concepts>
#include <cstdint>
#include <functional>
#include <iosfwd>
#include <string>
#include <vector>

#include "llamada/dcps/instance_handle.hpp"
#include "llamada/dcps/time.hpp"

namespace dds::core {

using ByteSeq = std::vector<std::uint8_t>;
using StringSeq = std::vector<std::string>;

/// No entity, no instance: `writer == dds::core::null` (ISO C++ PSM, 7.4).
struct null_type {};
inline constexpr null_type null{};

namespace detail {

// Arithmetic on nanoseconds that stops at the largest and the smallest value instead of overflowing. The
// largest is "infinite" and stays so, whatever is added to it or taken from it.

using Nanoseconds = std::chrono::nanoseconds;
inline constexpr Nanoseconds longest = Nanoseconds::max();
inline constexpr std::int64_t second_ns = 1000000000;

constexpr Nanoseconds plus(Nanoseconds a, Nanoseconds b) {
  if (a == longest || b == longest) return longest;
  std::int64_t sum = 0;
  if (!__builtin_add_overflow(a.count(), b.count(), &sum)) return Nanoseconds(sum);
  return b.count() > 0 ? longest : Nanoseconds::min();
}
constexpr Nanoseconds minus(Nanoseconds a, Nanoseconds b) {
  if (a == longest) return longest;
  std::int64_t difference = 0;
  if (!__builtin_sub_overflow(a.count(), b.count(), &difference)) return Nanoseconds(difference);
  return b.count() < 0 ? longest : Nanoseconds::min();
}
template <std::integral Factor>
constexpr Nanoseconds times(Nanoseconds a, Factor factor) {
  if (a == longest) return longest;
  std::int64_t product = 0;
  if (!__builtin_mul_overflow(a.count(), factor, &product)) return Nanoseconds(product);
  return (a.count() < 0) == (factor < 0) ? longest : Nanoseconds::min();
}
template <typename Rep, typename Period>
constexpr Nanoseconds to_nanoseconds(std::chrono::duration<Rep, Period> value) {
  if constexpr (std::is_integral_v<Rep> && std::ratio_less_equal_v<Period, std::nano>) {
    return std::chrono::duration_cast<Nanoseconds>(value);
  } else {
    using Seconds = std::chrono::duration<long double>;
    const auto seconds = Seconds(value);
    if (!(seconds < Seconds(longest))) return longest;  // NaN, too
    if (seconds <= Seconds(Nanoseconds::min())) return Nanoseconds::min();
    return std::chrono::duration_cast<Nanoseconds>(value);
  }
}
constexpr Nanoseconds from_parts(std::int64_t sec, std::uint32_t nanosec) {
  return plus(times(Nanoseconds(second_ns), sec), Nanoseconds(nanosec));
}
/// Rounded down, so that sec() and nanosec() of a negative value add up to it.
constexpr std::int64_t whole(Nanoseconds value, std::int64_t unit_ns) {
  return value.count() / unit_ns - (value.count() % unit_ns < 0 ? 1 : 0);
}
constexpr std::uint32_t nanosec_of(Nanoseconds value) {
  return static_cast<std::uint32_t>(value.count() - whole(value, second_ns) * second_ns);
}

/// The common part of Duration and Time: a number of nanoseconds with the PSM's ways to read and write it.
template <typename Self>
class Nanosecs {
 public:
  constexpr Nanosecs() = default;
  constexpr explicit Nanosecs(Nanoseconds value) : value_(value) {}

  static constexpr Self from_secs(double seconds) {
    return Self(to_nanoseconds(std::chrono::duration<double>(seconds)));
  }
  static constexpr Self from_millisecs(std::int64_t count) {
    return Self(to_nanoseconds(std::chrono::milliseconds(count)));
  }
  static constexpr Self from_microsecs(std::int64_t count) {
    return Self(to_nanoseconds(std::chrono::microseconds(count)));
  }

  constexpr std::int64_t sec() const { return whole(value_, second_ns); }
  constexpr std::uint32_t nanosec() const { return nanosec_of(value_); }
  constexpr void sec(std::int64_t sec) { value_ = from_parts(sec, nanosec()); }
  /// One second or more is carried over.
  constexpr void nanosec(std::uint32_t nanosec) { value_ = from_parts(sec(), nanosec); }
  constexpr double to_secs() const { return std::chrono::duration<double>(value_).count(); }
  constexpr std::int64_t to_millisecs() const { return whole(value_, 1000000); }
  constexpr std::int64_t to_microsecs() const { return whole(value_, 1000); }
  constexpr Nanoseconds to_chrono() const { return value_; }

  /// Negative, 0 or positive: this is less, equal or more.
  constexpr int compare(const Self& other) const {
    return value_ < other.value_ ? -1 : value_ > other.value_ ? 1 : 0;
  }
  constexpr auto operator<=>(const Nanosecs&) const = default;

 protected:
  Nanoseconds value_{0};
};

}  // namespace detail

/// A span of time (ISO C++ PSM, 7.5.3), interchangeable with std::chrono's. In nanoseconds, up to 292 years:
/// what is longer is infinite. Infinite stays infinite, whatever is added, taken away or divided.
class Duration : public detail::Nanosecs<Duration> {
 public:
  constexpr Duration() = default;
  /// DURATION_INFINITE of DDS 1.4, 2.3.3 (0x7fffffff for both), is infinite.
  constexpr explicit Duration(std::int64_t sec, std::uint32_t nanosec = 0)
      : Nanosecs(sec == 0x7fffffff && nanosec == 0x7fffffff ? detail::longest
                                                            : detail::from_parts(sec, nanosec)) {}
  /// Fractions: from_secs().
  template <std::floating_point Seconds>
  explicit Duration(Seconds sec, std::uint32_t nanosec = 0) = delete;
  template <typename Rep, typename Period>
  constexpr Duration(std::chrono::duration<Rep, Period> value)  // NOLINT: implicit by intent
      : Nanosecs(detail::to_nanoseconds(value)) {}

  static constexpr Duration zero() { return {}; }
  static constexpr Duration infinite() { return Duration(detail::longest); }

  constexpr Duration& operator+=(const Duration& other) {
    value_ = detail::plus(value_, other.value_);
    return *this;
  }
  constexpr Duration& operator-=(const Duration& other) {
    value_ = detail::minus(value_, other.value_);
    return *this;
  }
  template <std::integral Factor>
  constexpr Duration& operator*=(Factor factor) {
    value_ = detail::times(value_, factor);
    return *this;
  }
  friend constexpr Duration operator+(Duration a, const Duration& b) { return a += b; }
  friend constexpr Duration operator-(Duration a, const Duration& b) { return a -= b; }
  template <std::integral Factor>
  friend constexpr Duration operator*(Duration span, Factor factor) {
    return span *= factor;
  }
  template <std::integral Factor>
  friend constexpr Duration operator*(Factor factor, Duration span) {
    return span *= factor;
  }
  /// Rounded towards zero. Throws InvalidArgumentError for 0.
  friend Duration operator/(const Duration& span, std::int64_t divisor);

  constexpr auto operator<=>(const Duration&) const = default;
};

/// A moment on the clock of the wall (7.5.3), since 1970.
class Time : public detail::Nanosecs<Time> {
 public:
  constexpr Time() = default;
  constexpr explicit Time(std::int64_t sec, std::uint32_t nanosec = 0)
      : Nanosecs(detail::from_parts(sec, nanosec)) {}
  constexpr explicit Time(std::chrono::nanoseconds since_1970) : Nanosecs(since_1970) {}

  static constexpr Time invalid() { return Time(std::chrono::nanoseconds(-1)); }

  constexpr Time& operator+=(const Duration& span) {
    value_ = detail::plus(value_, span.to_chrono());
    return *this;
  }
  constexpr Time& operator-=(const Duration& span) {
    value_ = detail::minus(value_, span.to_chrono());
    return *this;
  }
  friend constexpr Time operator+(Time moment, const Duration& span) { return moment += span; }
  friend constexpr Time operator+(const Duration& span, Time moment) { return moment += span; }
  friend constexpr Time operator-(Time moment, const Duration& span) { return moment -= span; }
  /// Not in the standard.
  friend constexpr Duration operator-(const Time& a, const Time& b) {
    return Duration(detail::minus(a.value_, b.value_));
  }

  constexpr auto operator<=>(const Time&) const = default;
};

/// Names an instance or an entity (7.5.4).
class InstanceHandle {
 public:
  constexpr InstanceHandle() = default;
  constexpr InstanceHandle(null_type) {}  // NOLINT: implicit by intent
  constexpr explicit InstanceHandle(llamada::dcps::InstanceHandle native) : native_(native) {}

  static constexpr InstanceHandle nil() { return {}; }
  bool is_nil() const { return native_.is_nil(); }
  const llamada::dcps::InstanceHandle& native() const { return native_; }
  auto operator<=>(const InstanceHandle&) const = default;
  /// Its 128 bits as two hexadecimal numbers: "ffffffffffffffff:2a"; "nil".
  friend std::ostream& operator<<(std::ostream& out, const InstanceHandle& handle);

 private:
  llamada::dcps::InstanceHandle native_;
};

using InstanceHandleSeq = std::vector<InstanceHandle>;

namespace detail {
/// Puts the first `max_count` elements, or all, behind `out`; gives their number.
template <typename Sequence, typename Iterator>
std::uint32_t put(const Sequence& elements, Iterator out, std::size_t max_count) {
  std::uint32_t count = 0;
  for (const auto& each : elements) {
    if (count == max_count) break;
    *out++ = each;
    ++count;
  }
  return count;
}
}  // namespace detail

}  // namespace dds::core

template <>
struct std::hash<dds::core::InstanceHandle> {
  std::size_t operator()(const dds::core::InstanceHandle& handle) const noexcept {
    return std::hash<llamada::dcps::InstanceHandle>()(handle.native());
  }
};
