// What a fork() does to the applications of drivers on demand: programs fork as they like.
#include <pthread.h>

#include <algorithm>
#include <mutex>
#include <vector>

#include "llamada/llamanet/application.hpp"

namespace llamada::llamanet {
namespace {

struct Applications {
  std::mutex mutex;
  std::vector<Application*> all;
};

/// Never destroyed: a program may fork until its end.
Applications& applications() {
  static auto& here = *std::make_unique<Applications>().release();
  return here;
}

void before_fork() { applications().mutex.lock(); }
void in_parent() { applications().mutex.unlock(); }
void in_child() {
  for (Application* application : applications().all) application->seal_in_child();
  applications().all.clear();
  applications().mutex.unlock();
}

}  // namespace

void Application::guard_against_fork() {
  [[maybe_unused]] static const int registered = ::pthread_atfork(before_fork, in_parent, in_child);
  const std::lock_guard held(applications().mutex);
  applications().all.push_back(this);
}

void Application::forget_forks() {
  const std::lock_guard held(applications().mutex);
  std::erase(applications().all, this);
}

}  // namespace llamada::llamanet
