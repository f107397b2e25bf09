#include "interrupt.hpp"

#include <poll.h>
#include <signal.h>
#include <sys/signalfd.h>

#include <algorithm>

namespace llamada::tools {

Interrupt::Interrupt() {
  sigset_t set;
  sigemptyset(&set);
  sigaddset(&set, SIGINT);
  sigaddset(&set, SIGTERM);
  sigprocmask(SIG_BLOCK, &set, nullptr);
  signals_ = FileDescriptor(::signalfd(-1, &set, SFD_CLOEXEC | SFD_NONBLOCK));
}

bool Interrupt::wait(std::chrono::duration<double> at_most) const {
  pollfd asked{signals_.get(), POLLIN, 0};
  const double ms = std::clamp(at_most.count() * 1000, 0.0, 1e9);
  return ::poll(&asked, 1, static_cast<int>(ms)) > 0;
}

}  // namespace llamada::tools
