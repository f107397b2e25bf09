#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>

#include "interpose/descriptors.hpp"
#include "interpose/file_calls.hpp"
#include "interpose/transfers.hpp"

// The functions that print into a descriptor: libc's write within libc, where nobody sees it. What goes into
// a file that is followed is written by write_any().

using namespace llamada::mpi;

namespace {

bool is_seen(int descriptor, const void* caller) {
  return interpose::following(descriptor).what != interpose::Following::nothing &&
         interpose::recorder_of(caller);
}

int print(int descriptor, const char* format, va_list arguments) {
  char* text = nullptr;
  const int size_bytes = vasprintf(&text, format, arguments);
  ssize_t written = 0;
  for (ssize_t done = 0; done < size_bytes && written >= 0; done += written)
    written = interpose::write_any(descriptor, text + done, static_cast<std::size_t>(size_bytes - done));
  if (size_bytes >= 0) free(text);
  return written < 0 ? -1 : size_bytes;
}

int print_any(int descriptor, const char* format, va_list arguments, const void* caller) {
  static interpose::NextFunction<int(int, const char*, va_list)> next("vdprintf");
  return is_seen(descriptor, caller) ? print(descriptor, format, arguments)
                                     : next.get()(descriptor, format, arguments);
}

/// With the checks of _FORTIFY_SOURCE, where libc prints.
int print_checked(int descriptor, int flag, const char* format, va_list arguments, const void* caller) {
  static interpose::NextFunction<int(int, int, const char*, va_list)> next("__vdprintf_chk");
  return is_seen(descriptor, caller) ? print(descriptor, format, arguments)
                                     : next.get()(descriptor, flag, format, arguments);
}

}  // namespace

extern "C" {

LLAMADA_INTERPOSED int vdprintf(int descriptor, const char* format, va_list arguments) {
  return print_any(descriptor, format, arguments, LLAMADA_CALLER);
}

LLAMADA_INTERPOSED int dprintf(int descriptor, const char* format, ...) {
  va_list arguments;
  va_start(arguments, format);
  const int count = print_any(descriptor, format, arguments, LLAMADA_CALLER);
  va_end(arguments);
  return count;
}

LLAMADA_INTERPOSED int __vdprintf_chk(int descriptor, int flag, const char* format, va_list arguments) {
  return print_checked(descriptor, flag, format, arguments, LLAMADA_CALLER);
}

LLAMADA_INTERPOSED int __dprintf_chk(int descriptor, int flag, const char* format, ...) {
  va_list arguments;
  va_start(arguments, format);
  const int count = print_checked(descriptor, flag, format, arguments, LLAMADA_CALLER);
  va_end(arguments);
  return count;
}

}  // extern "C"
