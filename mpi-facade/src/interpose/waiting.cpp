#include "interpose/waiting.hpp"

#include <fmt/format.h>
#include <linux/fs.h>
#include <poll.h>
#include <signal.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/ioctl.h>
#include <sys/select.h>
#include <time.h>
#include <unistd.h>

#include <functional>
#include <initializer_list>
#include <span>

#include "interpose/signals.hpp"
#include "llamada/base/rounding.hpp"

using namespace llamada::mpi;
using interpose::FileOutcome;
using interpose::NextFunction;
using interpose::recorder_of;
using replay::Determinants;
using replay::ValueId;

namespace {

/// What a call told beyond its result lies in these pieces of the caller's memory.
using Pieces = std::initializer_list<std::span<std::byte>>;

constexpr std::size_t pieces_bytes_max = 16 << 20;

template <typename Type>
std::span<std::byte> bytes_of(Type* what, std::size_t count = 1) {
  return what ? std::as_writable_bytes(std::span(what, count)) : std::span<std::byte>();
}

/// Of what has told something: the packed outcome, and then all pieces.
void record_told(Determinants& determinants, std::uint64_t packed, const Pieces& pieces) {
  std::vector<std::byte> told(sizeof packed);
  std::memcpy(told.data(), &packed, sizeof packed);
  for (const auto piece : pieces) told.insert(told.end(), piece.begin(), piece.end());
  determinants.record_bytes(told);
}

FileOutcome take_told(Determinants& determinants, const Pieces& pieces) {
  const std::vector<std::byte> told = determinants.take_bytes(pieces_bytes_max);
  std::uint64_t packed = 0;
  std::size_t wanted = sizeof packed;
  for (const auto piece : pieces) wanted += piece.size();
  if (told.size() != wanted)
    determinants.diverged("it waits by poll, select or the like in another way than its predecessor did");
  std::memcpy(&packed, told.data(), sizeof packed);
  const std::byte* from = told.data() + sizeof packed;
  for (const auto piece : pieces) {
    if (!piece.empty()) std::memcpy(piece.data(), from, piece.size());
    from += piece.size();
  }
  return interpose::unpacked_wait(packed);
}

/// Waits by `wait`, or is told by the record what came of it. Only where `tells(outcome)` do the pieces
/// count; else `clear()` sets them.
struct Wait {
  std::function<long()> wait;
  std::function<bool(const FileOutcome&)> tells = [](const FileOutcome& outcome) {
    return outcome.result > 0;
  };
  std::function<void()> clear = [] {};
};

FileOutcome waited(Determinants& determinants, const Pieces& pieces, const Wait& how) {
  if (!determinants.replaying()) {
    const FileOutcome outcome = FileOutcome::of(how.wait());
    if (how.tells(outcome))
      record_told(determinants, interpose::packed_wait(outcome), pieces);
    else
      determinants.record_value(ValueId::wait_outcome, interpose::packed_wait(outcome));
    return outcome;
  }
  if (!determinants.replayer().is_next(ValueId::wait_outcome)) return take_told(determinants, pieces);
  const auto outcome = interpose::unpacked_wait(determinants.read_value(ValueId::wait_outcome, 0));
  if (outcome.error_number == 0) how.clear();
  return outcome;
}

int wait_recorded(Determinants& determinants, const Pieces& pieces, const Wait& how) {
  if (interpose::was_signal_delivered()) return interpose::interrupted();
  return static_cast<int>(interpose::end_of_wait(waited(determinants, pieces, how)));
}

int poll_recorded(Determinants& determinants, pollfd* asked, nfds_t count, std::function<long()> wait) {
  return wait_recorded(determinants, {bytes_of(asked, count)}, {.wait = std::move(wait), .clear = [&] {
                                                                  for (nfds_t i = 0; i < count; ++i)
                                                                    asked[i].revents = 0;
                                                                }});
}

int poll_for(pollfd* asked, nfds_t count, int timeout_ms, const void* caller) {
  static NextFunction<int(pollfd*, nfds_t, int)> next("poll");
  const auto wait = [=] { return next.get()(asked, count, timeout_ms); };
  auto* determinants = recorder_of(caller);
  return determinants ? poll_recorded(*determinants, asked, count, wait) : wait();
}

int ppoll_for(pollfd* asked, nfds_t count, const timespec* timeout, const sigset_t* mask,
              const void* caller) {
  static NextFunction<int(pollfd*, nfds_t, const timespec*, const sigset_t*)> next("ppoll");
  const auto wait = [=] { return next.get()(asked, count, timeout, mask); };
  auto* determinants = recorder_of(caller);
  return determinants ? poll_recorded(*determinants, asked, count, wait) : wait();
}

/// A signal that the program takes by `wait`.
int take_signal(Determinants& determinants, siginfo_t* info, const std::function<int(siginfo_t*)>& wait) {
  siginfo_t told{};
  const int signal = wait_recorded(determinants, {bytes_of(&told)}, {.wait = [&] { return wait(&told); }});
  if (info && signal > 0) *info = told;
  return signal;
}

std::span<std::byte> bytes_of_set(fd_set* set, int count) {
  constexpr int bits = 8 * sizeof(fd_mask);
  const auto words = static_cast<std::size_t>(llamada::divided_up(std::max(count, 0), bits));
  return bytes_of(reinterpret_cast<fd_mask*>(set), words);
}

void clear_all(const Pieces& pieces) {
  for (const auto piece : pieces) std::fill(piece.begin(), piece.end(), std::byte{0});
}

int epoll_recorded(Determinants& determinants, epoll_event* events, int count, std::function<long()> wait) {
  // What lies behind the events that came is the program's, but it has to be as long.
  const auto room = bytes_of(events, static_cast<std::size_t>(std::max(count, 0)));
  return wait_recorded(determinants, {room}, {.wait = std::move(wait)});
}

/// A sleep is recorded only where a signal can end it.
Determinants* recorder_of_sleep(const void* caller) {
  return interpose::are_signals_handled() ? recorder_of(caller) : nullptr;
}

/// 0 or an error's number, and then what is left.
int sleep_recorded(Determinants& determinants, const timespec* wanted, timespec* left,
                   const std::function<int(timespec*)>& sleep) {
  timespec rest = *wanted;
  if (interpose::was_signal_delivered()) {
    if (left) *left = rest;
    return EINTR;
  }
  const Wait how{.wait = [&]() -> long {
                   const int error_number = sleep(&rest);
                   errno = error_number;
                   return error_number == 0 ? 0 : -1;
                 },
                 .tells = [](const FileOutcome& outcome) { return outcome.error_number == EINTR; }};
  const FileOutcome outcome = waited(determinants, {bytes_of(&rest)}, how);
  if (left && outcome.error_number == EINTR) *left = rest;
  interpose::end_of_wait(outcome);
  return outcome.error_number;
}

int real_nanosleep(const timespec* wanted, timespec* left) {
  static NextFunction<int(const timespec*, timespec*)> next("nanosleep");
  return next.get()(wanted, left);
}

int nanosleep_recorded(Determinants& determinants, const timespec* wanted, timespec* left) {
  return sleep_recorded(determinants, wanted, left,
                        [&](timespec* rest) { return real_nanosleep(wanted, rest) == 0 ? 0 : errno; });
}

}  // namespace

namespace llamada::mpi::interpose {

long end_of_wait(const FileOutcome& outcome) {
  was_signal_delivered();
  return outcome.give();
}

}  // namespace llamada::mpi::interpose

extern "C" {

LLAMADA_INTERPOSED int poll(pollfd* asked, nfds_t count, int timeout_ms) {
  return poll_for(asked, count, timeout_ms, LLAMADA_CALLER);
}
LLAMADA_INTERPOSED int __poll_chk(pollfd* asked, nfds_t count, int timeout_ms, size_t room_bytes) {
  if (room_bytes / sizeof *asked < count) abort();
  return poll_for(asked, count, timeout_ms, LLAMADA_CALLER);
}

LLAMADA_INTERPOSED int ppoll(pollfd* asked, nfds_t count, const timespec* timeout, const sigset_t* mask) {
  return ppoll_for(asked, count, timeout, mask, LLAMADA_CALLER);
}
LLAMADA_INTERPOSED int __ppoll_chk(pollfd* asked, nfds_t count, const timespec* timeout, const sigset_t* mask,
                                   size_t room_bytes) {
  if (room_bytes / sizeof *asked < count) abort();
  return ppoll_for(asked, count, timeout, mask, LLAMADA_CALLER);
}

LLAMADA_INTERPOSED int select(int count, fd_set* reads, fd_set* writes, fd_set* others, timeval* timeout) {
  static NextFunction<int(int, fd_set*, fd_set*, fd_set*, timeval*)> next("select");
  const auto wait = [=] { return next.get()(count, reads, writes, others, timeout); };
  auto* determinants = recorder_of(LLAMADA_CALLER);
  if (!determinants) return wait();
  const Pieces pieces = {bytes_of_set(reads, count), bytes_of_set(writes, count), bytes_of_set(others, count),
                         bytes_of(timeout)};
  return wait_recorded(*determinants, pieces, {.wait = wait, .clear = [&] { clear_all(pieces); }});
}

LLAMADA_INTERPOSED int pselect(int count, fd_set* reads, fd_set* writes, fd_set* others,
                               const timespec* timeout, const sigset_t* mask) {
  static NextFunction<int(int, fd_set*, fd_set*, fd_set*, const timespec*, const sigset_t*)> next("pselect");
  const auto wait = [=] { return next.get()(count, reads, writes, others, timeout, mask); };
  auto* determinants = recorder_of(LLAMADA_CALLER);
  if (!determinants) return wait();
  const Pieces pieces = {bytes_of_set(reads, count), bytes_of_set(writes, count),
                         bytes_of_set(others, count)};
  return wait_recorded(*determinants, pieces, {.wait = wait, .clear = [&] { clear_all(pieces); }});
}

LLAMADA_INTERPOSED int epoll_wait(int epoll, epoll_event* events, int count, int timeout_ms) {
  static NextFunction<int(int, epoll_event*, int, int)> next("epoll_wait");
  const auto wait = [=] { return next.get()(epoll, events, count, timeout_ms); };
  auto* determinants = recorder_of(LLAMADA_CALLER);
  return determinants ? epoll_recorded(*determinants, events, count, wait) : wait();
}

LLAMADA_INTERPOSED int epoll_pwait(int epoll, epoll_event* events, int count, int timeout_ms,
                                   const sigset_t* mask) {
  static NextFunction<int(int, epoll_event*, int, int, const sigset_t*)> next("epoll_pwait");
  const auto wait = [=] { return next.get()(epoll, events, count, timeout_ms, mask); };
  auto* determinants = recorder_of(LLAMADA_CALLER);
  return determinants ? epoll_recorded(*determinants, events, count, wait) : wait();
}

LLAMADA_INTERPOSED int ioctl(int descriptor, unsigned long request, ...) noexcept {
  static NextFunction<int(int, unsigned long, void*)> next("ioctl");
  va_list arguments;
  va_start(arguments, request);
  void* argument = va_arg(arguments, void*);
  va_end(arguments);
  if (request == FICLONE || request == FICLONERANGE)
    interpose::cannot_be_repeated(LLAMADA_CALLER, "a copy within a file system (ioctl FICLONE)");
  auto* determinants = request == FIONREAD ? recorder_of(LLAMADA_CALLER) : nullptr;
  if (!determinants) return next.get()(descriptor, request, argument);
  const Wait how{.wait = [&] { return next.get()(descriptor, request, argument); },
                 .tells = [](const FileOutcome& outcome) { return outcome.error_number == 0; }};
  return static_cast<int>(waited(*determinants, {bytes_of(static_cast<int*>(argument))}, how).give());
}

LLAMADA_INTERPOSED int nanosleep(const timespec* wanted, timespec* left) {
  auto* determinants = wanted ? recorder_of_sleep(LLAMADA_CALLER) : nullptr;
  if (!determinants) return real_nanosleep(wanted, left);
  const int error_number = nanosleep_recorded(*determinants, wanted, left);
  if (error_number != 0) errno = error_number;
  return error_number == 0 ? 0 : -1;
}

LLAMADA_INTERPOSED int clock_nanosleep(clockid_t clock, int flags, const timespec* wanted, timespec* left) {
  static NextFunction<int(clockid_t, int, const timespec*, timespec*)> next("clock_nanosleep");
  auto* determinants = wanted ? recorder_of_sleep(LLAMADA_CALLER) : nullptr;
  if (!determinants) return next.get()(clock, flags, wanted, left);
  const bool is_absolute = flags & TIMER_ABSTIME;
  return sleep_recorded(*determinants, wanted, is_absolute ? nullptr : left, [&](timespec* rest) {
    return next.get()(clock, flags, wanted, is_absolute ? nullptr : rest);
  });
}

LLAMADA_INTERPOSED int usleep(useconds_t wanted_us) {
  static NextFunction<int(useconds_t)> next("usleep");
  auto* determinants = recorder_of_sleep(LLAMADA_CALLER);
  if (!determinants) return next.get()(wanted_us);
  const timespec wanted{wanted_us / 1000000, static_cast<long>(wanted_us % 1000000) * 1000};
  const int error_number = nanosleep_recorded(*determinants, &wanted, nullptr);
  if (error_number != 0) errno = error_number;
  return error_number == 0 ? 0 : -1;
}

LLAMADA_INTERPOSED unsigned sleep(unsigned wanted_s) {
  static NextFunction<unsigned(unsigned)> next("sleep");
  auto* determinants = recorder_of_sleep(LLAMADA_CALLER);
  if (!determinants) return next.get()(wanted_s);
  const timespec wanted{static_cast<time_t>(wanted_s), 0};
  timespec left{};
  const int error_number = errno;
  const bool is_whole = nanosleep_recorded(*determinants, &wanted, &left) == 0;
  errno = error_number;
  return is_whole ? 0 : static_cast<unsigned>(left.tv_sec) + (left.tv_nsec >= 500000000 ? 1 : 0);
}

// A signal that came before would be missed for ever by a call that waits for the next:
// was_signal_delivered() ends it at once.

LLAMADA_INTERPOSED int pause() {
  static NextFunction<int()> next("pause");
  auto* determinants = recorder_of(LLAMADA_CALLER);
  return determinants ? wait_recorded(*determinants, {}, {.wait = [] { return next.get()(); }})
                      : next.get()();
}

LLAMADA_INTERPOSED int sigsuspend(const sigset_t* mask) {
  static NextFunction<int(const sigset_t*)> next("sigsuspend");
  auto* determinants = recorder_of(LLAMADA_CALLER);
  return determinants ? wait_recorded(*determinants, {}, {.wait = [=] { return next.get()(mask); }})
                      : next.get()(mask);
}

LLAMADA_INTERPOSED int sigtimedwait(const sigset_t* set, siginfo_t* info, const timespec* timeout) {
  static NextFunction<int(const sigset_t*, siginfo_t*, const timespec*)> next("sigtimedwait");
  auto* determinants = recorder_of(LLAMADA_CALLER);
  if (!determinants) return next.get()(set, info, timeout);
  return take_signal(*determinants, info, [=](siginfo_t* told) { return next.get()(set, told, timeout); });
}

LLAMADA_INTERPOSED int sigwaitinfo(const sigset_t* set, siginfo_t* info) {
  static NextFunction<int(const sigset_t*, siginfo_t*)> next("sigwaitinfo");
  auto* determinants = recorder_of(LLAMADA_CALLER);
  if (!determinants) return next.get()(set, info);
  return take_signal(*determinants, info, [=](siginfo_t* told) { return next.get()(set, told); });
}

LLAMADA_INTERPOSED int sigwait(const sigset_t* set, int* signal) {
  static NextFunction<int(const sigset_t*, int*)> next("sigwait");
  auto* determinants = recorder_of(LLAMADA_CALLER);
  if (!determinants) return next.get()(set, signal);
  static NextFunction<int(const sigset_t*, siginfo_t*)> next_info("sigwaitinfo");
  int told = 0;
  do {  // sigwait() does not tell of other signals' handlers
    errno = 0;
    told = take_signal(*determinants, nullptr, [=](siginfo_t* info) { return next_info.get()(set, info); });
  } while (told < 0 && errno == EINTR);
  if (told < 0) return errno;
  *signal = told;
  return 0;
}

}  // extern "C"
