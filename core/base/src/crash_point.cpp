#include "llamada/base/crash_point.hpp"

#include <signal.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <cstdlib>
#include <map>
#include <mutex>
#include <string>

namespace llamada {
namespace detail {

// Shared by all places that carry the same name. Relaxed order suffices: a count orders nothing.
struct CrashPoint::Entry {
  std::atomic<std::uint64_t> passes{0};
  std::atomic<std::uint64_t> dies_at{0};  // the pass that kills; 0: none
};

class CrashPoints {
 public:
  static CrashPoints& instance() {
    static CrashPoints* points = new CrashPoints;  // outlives every static destructor that passes a point
    return *points;
  }

  CrashPoint::Entry& find(std::string_view name) {
    std::lock_guard lock(mutex_);
    return entries_[std::string(name)];
  }

  void disarm() {
    std::lock_guard lock(mutex_);
    for (auto& [name, entry] : entries_) entry.dies_at.store(0, std::memory_order_relaxed);
  }

  std::vector<std::string_view> passed() {
    std::lock_guard lock(mutex_);
    std::vector<std::string_view> names;
    for (auto& [name, entry] : entries_)
      if (entry.passes.load(std::memory_order_relaxed) > 0) names.push_back(name);
    return names;
  }

  static std::uint64_t passes(CrashPoint::Entry& entry) {
    return entry.passes.load(std::memory_order_relaxed);
  }
  static void arm(CrashPoint::Entry& entry, std::uint64_t count) {
    entry.dies_at.store(passes(entry) + count, std::memory_order_relaxed);
  }

 private:
  CrashPoints() {
    const char* text = std::getenv("LLAMADA_CRASH_AT");
    if (text == nullptr) return;
    std::string_view armed(text);
    auto colon = armed.rfind(':');
    if (colon == std::string_view::npos) return;
    arm(entries_[std::string(armed.substr(0, colon))], std::strtoull(text + colon + 1, nullptr, 10));
  }

  std::mutex mutex_;
  std::map<std::string, CrashPoint::Entry, std::less<>> entries_;
};

CrashPoint::CrashPoint(const char* name) : entry_(CrashPoints::instance().find(name)) {}

void CrashPoint::pass() {
  std::uint64_t count = entry_.passes.fetch_add(1, std::memory_order_relaxed) + 1;
  if (count == entry_.dies_at.load(std::memory_order_relaxed))
    ::syscall(SYS_kill, ::syscall(SYS_getpid), SIGKILL);
}

}  // namespace detail

void arm_crash_point(std::string_view name, std::uint64_t count) {
  auto& points = detail::CrashPoints::instance();
  detail::CrashPoints::arm(points.find(name), count);
}

void disarm_crash_points() { detail::CrashPoints::instance().disarm(); }

std::uint64_t crash_point_passes(std::string_view name) {
  return detail::CrashPoints::passes(detail::CrashPoints::instance().find(name));
}

std::vector<std::string_view> crash_points_passed() { return detail::CrashPoints::instance().passed(); }

}  // namespace llamada
