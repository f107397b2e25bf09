#include "interpose/descriptor_numbers.hpp"

#include <errno.h>
#include <fcntl.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>
#include <climits>

#include "interpose/descriptors.hpp"
#include "interpose/file_calls.hpp"
#include "llamada/base/kept_descriptor.hpp"

using namespace llamada;
using namespace llamada::mpi;

int interpose::follow_copy(int descriptor, int copy, const void* caller) {
  if (copy < 0 || copy == descriptor) return copy;
  const int error_number = errno;
  const Followed what = following(descriptor);
  // What libc's streams append there by themselves is not recorded.
  if (copy <= STDERR_FILENO && what.what == Following::appended && recorder_of(caller))
    cannot_be_repeated(caller, "a standard stream that appends to a file");
  follow(copy, what);
  errno = error_number;
  return copy;
}

namespace {

/// Whether this call of the program's is about a descriptor of the library's, which is none of its own.
bool is_hidden(int descriptor, const void* caller) {
  if (!is_kept(descriptor) || interpose::is_own(caller)) return false;
  errno = EBADF;
  return true;
}

int copy_to(int descriptor, int copy, int flags, const void* caller) {
  if (is_hidden(descriptor, caller)) return -1;
  if (!interpose::is_own(caller) && !make_room_at(copy)) return -1;
  return interpose::follow_copy(descriptor, static_cast<int>(syscall(SYS_dup3, descriptor, copy, flags)),
                                caller);
}

}  // namespace

extern "C" {

LLAMADA_INTERPOSED int dup(int descriptor) noexcept {
  return interpose::follow_copy(descriptor, static_cast<int>(syscall(SYS_dup, descriptor)), LLAMADA_CALLER);
}

LLAMADA_INTERPOSED int dup2(int descriptor, int copy) noexcept {
  if (descriptor != copy) return copy_to(descriptor, copy, 0, LLAMADA_CALLER);
  return syscall(SYS_fcntl, descriptor, F_GETFD) < 0 ? -1 : copy;
}

LLAMADA_INTERPOSED int dup3(int descriptor, int copy, int flags) noexcept {
  return copy_to(descriptor, copy, flags, LLAMADA_CALLER);
}

LLAMADA_INTERPOSED int close(int descriptor) {
  if (is_hidden(descriptor, LLAMADA_CALLER)) return -1;
  return static_cast<int>(syscall(SYS_close, descriptor));
}

LLAMADA_INTERPOSED int close_range(unsigned first, unsigned last, int flags) noexcept {
  long result = 0;
  unsigned begin = first;
  int kept = first <= INT_MAX ? next_kept(static_cast<int>(first)) : -1;
  for (; kept >= 0 && static_cast<unsigned>(kept) <= last && result == 0; kept = next_kept(kept + 1)) {
    const auto number = static_cast<unsigned>(kept);
    if (begin < number) result = syscall(SYS_close_range, begin, number - 1, flags);
    begin = number + 1;
  }
  // A range that begins behind its end is the program's error.
  if (result == 0 && (begin <= last || begin == first)) result = syscall(SYS_close_range, begin, last, flags);
  return static_cast<int>(result);
}

LLAMADA_INTERPOSED void closefrom(int first) noexcept {
  static interpose::NextFunction<void(int)> next("closefrom");
  int begin = std::max(first, 0);
  for (int kept = next_kept(begin); kept >= 0; kept = next_kept(kept + 1)) {
    for (; begin < kept; ++begin) syscall(SYS_close, begin);
    begin = kept + 1;
  }
  if (auto* function = next.get()) function(begin);
}

}  // extern "C"
