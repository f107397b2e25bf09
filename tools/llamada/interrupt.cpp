#include "interrupt.hpp"

#include <poll.h>
#include <signal.h>

#include <algorithm>

namespace llamada::tools {
namespace {

/// Written by the kernel's call of `note_interrupt`, which happens only within wait(), and read after that,
/// by the same thread.
volatile sig_atomic_t has_come;

extern "C" void note_interrupt(int) { has_come = 1; }

}  // namespace

// Without signalfd, which containers may refuse.
Interrupt::Interrupt() {
  has_come = 0;
  sigset_t both;
  sigemptyset(&both);
  struct sigaction action {};
  action.sa_handler = note_interrupt;
  sigfillset(&action.sa_mask);
  for (const int signal : {SIGINT, SIGTERM}) {
    sigaddset(&both, signal);
    sigaction(signal, &action, nullptr);
  }
  sigprocmask(SIG_BLOCK, &both, nullptr);
}

bool Interrupt::wait(std::chrono::duration<double> at_most) const {
  sigset_t let_through;
  sigprocmask(SIG_BLOCK, nullptr, &let_through);
  sigdelset(&let_through, SIGINT);
  sigdelset(&let_through, SIGTERM);
  const auto limit = std::chrono::duration<double>(std::clamp(at_most.count(), 0.0, 1e6));
  const auto seconds = std::chrono::floor<std::chrono::seconds>(limit);
  const timespec time{seconds.count(), static_cast<long>((limit - seconds).count() * 1e9)};
  if (has_come == 0) ppoll(nullptr, 0, &time, &let_through);
  return has_come != 0;
}

}  // namespace llamada::tools
