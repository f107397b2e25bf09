#include "interpose/signals.hpp"

#include <dlfcn.h>
#include <errno.h>
#include <fmt/format.h>
#include <signal.h>
#include <string.h>
#include <sys/signalfd.h>
#include <sys/syscall.h>
#include <time.h>
#include <ucontext.h>
#include <unistd.h>

#include <array>
#include <atomic>
#include <deque>
#include <optional>
#include <string_view>

#include "interpose/file_calls.hpp"
#include "interpose/signal_queue.hpp"
#include "process/process.hpp"
#include "runtime/protection.hpp"
#include "runtime/runtime.hpp"

namespace llamada::mpi::interpose {
namespace {

using replay::Determinants;
using replay::ValueId;

constexpr int signals_max = 65;
/// How long a signal waits for a delivery point.
constexpr time_t patience_s = 10;
/// The timer's signal. A program may handle it as well: the timer's is told by its value.
const int overdue_signal = SIGRTMAX;

enum class Place : std::uint8_t { mpi_call, libc };

/// A delivery, as it is recorded.
struct Delivery {
  int signal = 0;
  Place place = Place::libc;
  std::uint64_t ordinal = 0;
  static Delivery unpacked(std::uint64_t value) {
    return {static_cast<int>(value & 0xff), static_cast<Place>(value >> 8 & 0xff), value >> 16};
  }
  std::uint64_t packed() const {
    return static_cast<std::uint64_t>(signal) | static_cast<std::uint64_t>(place) << 8 | ordinal << 16;
  }
};

// What the program has set. Written by its threads as they call sigaction(), as without us.
std::array<struct sigaction, signals_max> actions{};
std::array<std::atomic<bool>, signals_max> ours{};
std::atomic<bool> any_handled{false};

SignalQueue noted;

// Set by handlers of signals, taken by the rank's thread. Relaxed: one thread, or seen soon enough.
std::atomic<int> handled_anywhere{0};
std::atomic<CallCounter*> calls{nullptr};
std::atomic<bool (*)()> repeats_calls{[] { return false; }};

// The rank's thread's.
std::uint64_t libc_points = 0;
std::optional<std::deque<std::uint64_t>> recorded;  // deliveries that are to be repeated
pid_t rank_pid = 0;
bool has_timer = false;
timer_t overdue_timer{};

pid_t own_pid() { return static_cast<pid_t>(syscall(SYS_getpid)); }

int real_sigaction(int signal, const struct sigaction* action, struct sigaction* old) {
  static NextFunction<int(int, const struct sigaction*, struct sigaction*)> next("sigaction");
  return next.get()(signal, action, old);
}
int real_mask(int how, const sigset_t* set, sigset_t* old) {
  static NextFunction<int(int, const sigset_t*, sigset_t*)> next("pthread_sigmask");
  return next.get()(how, set, old);
}

bool is_handler(const struct sigaction& action) {
  return (action.sa_flags & SA_SIGINFO) || (action.sa_handler != SIG_DFL && action.sa_handler != SIG_IGN);
}

/// Whether it prints where the program is and ends the process: libgfortran has such a handler for SIGQUIT
/// and others in each program. The program does not go on behind it, so nothing has to be repeated.
bool ends_process(const struct sigaction& action) {
  Dl_info found{};
  if (!is_handler(action) || !dladdr(reinterpret_cast<const void*>(action.sa_handler), &found)) return false;
  const std::string_view file = found.dli_fname ? found.dli_fname : "";
  return file.substr(file.rfind('/') + 1).starts_with("libgfortran.so");
}

/// Signals that do not tell of the program's own faults.
bool comes_from_outside(int signal) {
  switch (signal) {
    case SIGSEGV:
    case SIGBUS:
    case SIGFPE:
    case SIGILL:
    case SIGTRAP:
    case SIGSYS:
    case SIGABRT:
    case SIGPIPE:
    case SIGKILL:
    case SIGSTOP:
      return false;
    default:
      return signal > 0 && signal < signals_max;
  }
}

/// Calls the program's handler. The kernel has blocked what it wants blocked, or deliver() has.
void call_handler(int signal, siginfo_t* info, void* context) {
  const struct sigaction action = actions[static_cast<std::size_t>(signal)];
  if (!is_handler(action)) return;
  if (action.sa_flags & static_cast<int>(SA_RESETHAND)) {
    struct sigaction standard {};
    standard.sa_handler = SIG_DFL;
    actions[static_cast<std::size_t>(signal)] = standard;
    real_sigaction(signal, &standard, nullptr);
  }
  if (action.sa_flags & SA_SIGINFO)
    action.sa_sigaction(signal, info, context);
  else
    action.sa_handler(signal);
}

void set_timer(time_t seconds) {
  const itimerspec after{{0, 0}, {seconds, 0}};
  if (has_timer) timer_settime(overdue_timer, 0, &after, nullptr);
}

bool is_recorded() {
  const Determinants* determinants = opened_determinants();
  return determinants && determinants->active() && own_pid() == rank_pid;
}

bool is_from_itself(const siginfo_t& info) {
  const bool sent = info.si_code == SI_USER || info.si_code == SI_TKILL || info.si_code == SI_QUEUE;
  return sent && info.si_pid == rank_pid;
}

/// Whether the predecessor came further: it was not sent what comes now.
bool is_repeating(const Determinants& determinants) {
  return determinants.replaying() || repeats_calls.load(std::memory_order_acquire)();
}

/// All that has been noted, where the program is. Protection ends at the next delivery point.
void deliver_overdue() {
  const Determinants* determinants = opened_determinants();
  if (determinants && is_repeating(*determinants)) return set_timer(patience_s);
  ucontext_t context{};
  getcontext(&context);
  while (auto info = noted.take()) {
    handled_anywhere.store(info->si_signo, std::memory_order_relaxed);
    call_handler(info->si_signo, &*info, &context);
  }
  if (CallCounter* counter = calls.load(std::memory_order_acquire)) counter->interrupt();
}

/// The handler that the kernel calls.
void note(int signal, siginfo_t* info, void* context) {
  const int error_number = errno;
  const bool is_timer =
      signal == overdue_signal && info->si_code == SI_TIMER && info->si_value.sival_ptr == &noted;
  if (is_timer && own_pid() == rank_pid) {
    deliver_overdue();
  } else if (!is_recorded() || is_from_itself(*info)) {
    call_handler(signal, info, context);
  } else if (noted.add(*info)) {
    set_timer(patience_s);
    if (CallCounter* counter = calls.load(std::memory_order_acquire)) counter->interrupt();
  } else {
    handled_anywhere.store(signal, std::memory_order_relaxed);
    call_handler(signal, info, context);
  }
  errno = error_number;
}

/// Calls the handler with what the kernel would have blocked meanwhile.
void deliver(siginfo_t& info) {
  const struct sigaction& action = actions[static_cast<std::size_t>(info.si_signo)];
  sigset_t blocked = action.sa_mask, before;
  if (!(action.sa_flags & static_cast<int>(SA_NODEFER))) sigaddset(&blocked, info.si_signo);
  real_mask(SIG_BLOCK, &blocked, &before);
  ucontext_t context{};
  getcontext(&context);
  call_handler(info.si_signo, &info, &context);
  real_mask(SIG_SETMASK, &before, nullptr);
}

std::deque<std::uint64_t>& deliveries_left(Determinants& determinants) {
  if (!recorded) recorded = determinants.replayer().values_left(ValueId::signal);
  return *recorded;
}

std::span<std::byte> bytes_of(siginfo_t& info) { return std::as_writable_bytes(std::span(&info, 1)); }

/// Calls the handlers that the predecessor called at this point. It may have called one while an MPI call
/// waited: that handler is called when the same MPI call begins, or after what that call recorded before.
bool deliver_again(Determinants& determinants, Place place, std::uint64_t ordinal) {
  bool any = false;
  auto& left = deliveries_left(determinants);
  while (determinants.replaying() && !left.empty()) {
    Delivery next = Delivery::unpacked(left.front());
    if (next.place != place) break;
    if (place == Place::libc && next.ordinal != ordinal) break;
    if (place == Place::mpi_call &&
        (next.ordinal > ordinal || !determinants.replayer().is_next(ValueId::signal)))
      break;
    determinants.read_value(ValueId::signal, 0);
    left.pop_front();
    siginfo_t info{};
    info.si_signo = next.signal;
    // The death may have cut off how it came: nobody has been told.
    determinants.read_random(bytes_of(info), [](std::span<std::byte> bytes) { return bytes.size(); });
    deliver(info);
    any = true;
  }
  return any;
}

void give_up_if_handled_anywhere() {
  const int signal = handled_anywhere.exchange(0, std::memory_order_relaxed);
  World* world = signal != 0 ? joined_world() : nullptr;
  if (!world) return;
  give_up_protection(
      *world, fmt::format("{} (signal {}) was handled in the middle of a computation, since the program came "
                          "to no call of MPI for {} seconds: this cannot be repeated by a replacement",
                          strsignal(signal), signal, patience_s));
}

bool deliver_at(Place place, std::uint64_t ordinal) {
  const int error_number = errno;
  Determinants* determinants = opened_determinants();
  if (!determinants) return false;
  bool any = determinants->replaying() && deliver_again(*determinants, place, ordinal);
  while (!is_repeating(*determinants)) {
    auto info = noted.take();
    if (!info) break;
    if (determinants->active()) {
      determinants->record_value(ValueId::signal, Delivery{info->si_signo, place, ordinal}.packed());
      determinants->record_bytes(bytes_of(*info));
    }
    deliver(*info);
    any = true;
  }
  if (noted.is_empty()) set_timer(0);
  give_up_if_handled_anywhere();
  errno = error_number;
  return any;
}

/// At which call of MPI there is something to repeat.
std::uint64_t next_call_to_repeat(std::uint64_t begun) {
  Determinants& determinants = *opened_determinants();
  if (determinants.replaying())
    for (const std::uint64_t value : deliveries_left(determinants))
      if (const Delivery next = Delivery::unpacked(value); next.place == Place::mpi_call)
        return std::max(next.ordinal, begun + 1);
  // What has come meanwhile waits for the replay's end.
  return noted.is_empty() ? CallCounter::no_call : begun + 1;
}

void make_timer() {
  if (has_timer) return;
  sigevent event{};
  event.sigev_notify = SIGEV_THREAD_ID;
  event.sigev_signo = overdue_signal;
  event.sigev_value.sival_ptr = &noted;
  event._sigev_un._tid = static_cast<pid_t>(syscall(SYS_gettid));
  if (timer_create(CLOCK_MONOTONIC, &event, &overdue_timer) != 0) return;
  has_timer = true;
  struct sigaction action {};
  action.sa_sigaction = note;
  action.sa_flags = SA_SIGINFO | SA_RESTART;
  real_sigaction(overdue_signal, &action, nullptr);
  ours[static_cast<std::size_t>(overdue_signal)] = true;
}

/// The program wants this done about a signal from outside. The kernel is given our handler where the program
/// has one, or where we need the signal ourselves.
int install(int signal, const struct sigaction& wanted, bool is_needed) {
  const auto index = static_cast<std::size_t>(signal);
  struct sigaction installed = wanted;
  const bool is_noted = (is_handler(wanted) && !ends_process(wanted)) || is_needed;
  if (is_noted) {
    installed.sa_sigaction = note;
    installed.sa_flags = (wanted.sa_flags | SA_SIGINFO) & ~static_cast<int>(SA_RESETHAND);
  }
  actions[index] = wanted;
  ours[index] = is_noted;
  return real_sigaction(signal, &installed, nullptr);
}

/// sigaction() of a signal from outside, in a rank whose outcomes are recorded.
int set_action(int signal, const struct sigaction* action, struct sigaction* old) {
  const auto index = static_cast<std::size_t>(signal);
  was_signal_delivered();
  struct sigaction before {};
  if (real_sigaction(signal, nullptr, &before) != 0) return -1;
  if (ours[index]) before = actions[index];
  if (action) {
    const struct sigaction wanted = *action;  // may be where `old` is
    rank_pid = own_pid();
    if (is_handler(wanted) && !ends_process(wanted)) {
      make_timer();
      any_handled = true;
    }
    if (install(signal, wanted, has_timer && signal == overdue_signal) != 0) return -1;
  }
  if (old) *old = before;
  return 0;
}

/// The program's, as the process has it: also in a child of fork(), and when protection is over.
int read_or_set_action(int signal, const struct sigaction* action, struct sigaction* old,
                       const void* caller) {
  const bool is_ours = comes_from_outside(signal) && ours[static_cast<std::size_t>(signal)];
  if (comes_from_outside(signal) && recorder_of(caller)) return set_action(signal, action, old);
  if (!is_ours) return real_sigaction(signal, action, old);
  const struct sigaction before = actions[static_cast<std::size_t>(signal)];
  if (action && install(signal, *action, false) != 0) return -1;
  if (old) *old = before;
  return 0;
}

sighandler_t set_handler(int signal, sighandler_t handler, int flags, const void* caller) {
  struct sigaction action {
  }, old{};
  action.sa_handler = handler;
  action.sa_flags = flags;
  sigemptyset(&action.sa_mask);
  if (!(flags & static_cast<int>(SA_NODEFER))) sigaddset(&action.sa_mask, signal);
  if (read_or_set_action(signal, &action, &old, caller) != 0) return SIG_ERR;
  return old.sa_handler;
}

}  // namespace

bool are_signals_handled() { return any_handled.load(std::memory_order_relaxed); }

bool was_signal_delivered() {
  if (!are_signals_handled()) return false;
  if (determinants_of_caller()) return deliver_at(Place::libc, ++libc_points);
  // Protection is over: what had been noted before is handled now.
  const Determinants* determinants = opened_determinants();
  const bool is_left = determinants && !determinants->active() && !noted.is_empty() && own_pid() == rank_pid;
  return is_left && deliver_at(Place::libc, libc_points);
}

void deliver_signals_at(CallCounter& counter, bool (*repeats)()) {
  if (!opened_determinants() || !opened_determinants()->active()) return;
  repeats_calls.store(repeats, std::memory_order_release);
  counter.attend([&counter] {
    deliver_at(Place::mpi_call, counter.begun());
    return next_call_to_repeat(counter.begun());
  });
  calls.store(&counter, std::memory_order_release);
}

void deliver_signals_in_call() {
  CallCounter* counter = calls.load(std::memory_order_relaxed);
  if (!counter || (noted.is_empty() && !opened_determinants()->replaying())) return;
  deliver_at(Place::mpi_call, counter->begun());
}

}  // namespace llamada::mpi::interpose

using namespace llamada::mpi;

extern "C" {

LLAMADA_INTERPOSED int sigaction(int signal, const struct sigaction* action, struct sigaction* old) noexcept {
  return interpose::read_or_set_action(signal, action, old, LLAMADA_CALLER);
}

LLAMADA_INTERPOSED sighandler_t signal(int signal, sighandler_t handler) noexcept {
  return interpose::set_handler(signal, handler, SA_RESTART, LLAMADA_CALLER);
}
LLAMADA_INTERPOSED sighandler_t bsd_signal(int, sighandler_t) noexcept __attribute__((alias("signal")));

LLAMADA_INTERPOSED sighandler_t __sysv_signal(int signal, sighandler_t handler) noexcept {
  return interpose::set_handler(signal, handler, static_cast<int>(SA_RESETHAND | SA_NODEFER | SA_INTERRUPT),
                                LLAMADA_CALLER);
}
LLAMADA_INTERPOSED sighandler_t sysv_signal(int, sighandler_t) noexcept
    __attribute__((alias("__sysv_signal")));

LLAMADA_INTERPOSED sighandler_t sigset(int signal, sighandler_t handler) noexcept {
  static interpose::NextFunction<sighandler_t(int, sighandler_t)> next("sigset");
  interpose::cannot_be_repeated(LLAMADA_CALLER, "a signal's handler that is set by sigset()");
  return next.get()(signal, handler);
}

LLAMADA_INTERPOSED int signalfd(int descriptor, const sigset_t* set, int flags) noexcept {
  static interpose::NextFunction<int(int, const sigset_t*, int)> next("signalfd");
  interpose::cannot_be_repeated(LLAMADA_CALLER, "the reading of signals from a descriptor (signalfd)");
  return next.get()(descriptor, set, flags);
}

/// A signal that came before it is blocked is handled before, and one that was pending before this returns.
LLAMADA_INTERPOSED int pthread_sigmask(int how, const sigset_t* set, sigset_t* old) noexcept {
  const bool is_program = set && interpose::recorder_of(LLAMADA_CALLER);
  if (is_program) interpose::was_signal_delivered();
  const int result = interpose::real_mask(how, set, old);
  if (is_program) interpose::was_signal_delivered();
  return result;
}

LLAMADA_INTERPOSED int sigprocmask(int how, const sigset_t* set, sigset_t* old) noexcept {
  static interpose::NextFunction<int(int, const sigset_t*, sigset_t*)> next("sigprocmask");
  const bool is_program = set && interpose::recorder_of(LLAMADA_CALLER);
  if (is_program) interpose::was_signal_delivered();
  const int result = next.get()(how, set, old);
  if (is_program) interpose::was_signal_delivered();
  return result;
}

/// Whether a blocked signal has come.
LLAMADA_INTERPOSED int sigpending(sigset_t* set) noexcept {
  static interpose::NextFunction<int(sigset_t*)> next("sigpending");
  auto* determinants = set ? interpose::recorder_of(LLAMADA_CALLER) : nullptr;
  if (!determinants) return next.get()(set);
  const std::span<std::byte> told = std::as_writable_bytes(std::span(set, 1));
  determinants->read_random(told, [&](std::span<std::byte> bytes) {
    next.get()(set);
    return bytes.size();
  });
  return 0;
}

}  // extern "C"
