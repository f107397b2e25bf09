#pragma once

#include <cstdint>
#include <string_view>
#include <vector>

namespace llamada {

/// Crash points: named steps at which a test lets the process die by SIGKILL, to see what those who live on
/// make of what is left. They exist only in libraries built with LLAMADA_CRASH_POINTS (the `_crash`
/// variants); elsewhere the macro is nothing.
///
/// A name is "operation:step", e.g. "publish:committed". The macro's argument must be a literal.
#if defined(LLAMADA_CRASH_POINTS)
#define LLAMADA_CRASH_POINT(name)                                    \
  do {                                                               \
    static ::llamada::detail::CrashPoint llamada_crash_point_(name); \
    llamada_crash_point_.pass();                                     \
  } while (false)
#else
#define LLAMADA_CRASH_POINT(name) \
  do {                            \
  } while (false)
#endif

/// Arms one crash point of this process: at its `count`th pass (1 is the first) from now the process kills
/// itself. Without a call, the environment variable LLAMADA_CRASH_AT ("name:count") arms one at start.
void arm_crash_point(std::string_view name, std::uint64_t count);
void disarm_crash_points();

/// How often this process has passed a point since its start. A process cannot know at run time whether it
/// contains points that can be armed.
std::uint64_t crash_point_passes(std::string_view name);

/// The names of all points passed so far, sorted.
std::vector<std::string_view> crash_points_passed();

namespace detail {

/// One place in the code. Registers itself at its first pass.
class CrashPoint {
 public:
  explicit CrashPoint(const char* name);
  void pass();

 private:
  struct Entry;
  Entry& entry_;
  friend class CrashPoints;
};

}  // namespace detail
}  // namespace llamada
