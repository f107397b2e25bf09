#include "stand_alone.hpp"

#include <fmt/core.h>
#include <sys/resource.h>
#include <unistd.h>

#include <chrono>
#include <cstdio>

#include "llamada/base/clock.hpp"
#include "llamada/llamanet/driver.hpp"

namespace llamada::tools {
namespace {

using Kind = llamanet::DriverEvent::Kind;

// For who started this driver to connect; if that process died instead, nobody will.
constexpr std::chrono::seconds first_application_within{10};
constexpr std::chrono::milliseconds look_around_every{500};

void tell_ready(int descriptor) {
  if (descriptor < 0) return;
  (void)!::write(descriptor, "r", 1);
  ::close(descriptor);
}

// Four descriptors for each application.
void raise_descriptor_limit() {
  rlimit limit{};
  if (::getrlimit(RLIMIT_NOFILE, &limit) != 0) return;
  limit.rlim_cur = limit.rlim_max;
  ::setrlimit(RLIMIT_NOFILE, &limit);
}

void print(const llamanet::DriverEvent& event) {
  if (event.kind == Kind::refused)
    fmt::print(stderr, "llamanetd: a connection of process {} was refused: {}\n", event.pid, event.text);
  if (event.kind == Kind::said && !event.say.text.empty())
    fmt::print(stderr, "llamanetd: process {}: {}\n", event.pid, event.say.text);
}

void run_until_last(llamanet::Driver& driver, bool ends_with_last) {
  SystemClock clock;
  const auto started = clock.monotonic();
  bool had_application = false;
  for (;;) {
    for (auto& event : driver.poll(look_around_every)) {
      had_application |= event.kind == Kind::attached;
      print(event);
    }
    bool may_end =
        ends_with_last && (had_application || clock.monotonic() - started > first_application_within);
    if (may_end && driver.close_if_idle()) return;
  }
}

}  // namespace

int run_stand_alone(const StandAloneOptions& options) {
  raise_descriptor_limit();
  llamanet::DriverOptions driver_options;
  driver_options.name = options.name;
  driver_options.on_demand = true;
  auto driver = llamanet::Driver::open(driver_options);
  if (!driver) {
    bool is_there = driver.error().code() == Errc::already_exists;
    if (is_there) tell_ready(options.ready_descriptor);
    fmt::print(stderr, "llamanetd: {}\n", driver.error().text());
    return is_there && options.ends_with_last ? 0 : 1;
  }
  tell_ready(options.ready_descriptor);
  run_until_last(*driver, options.ends_with_last);
  return 0;
}

}  // namespace llamada::tools
