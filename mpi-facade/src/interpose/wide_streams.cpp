#include <stdarg.h>
#include <stdio.h>
#include <wchar.h>

#include "interpose/file_calls.hpp"
#include "interpose/streams.hpp"

// libc has no wide characters for streams like ours (streams.hpp). The first function that wants them makes a
// stream of ours one of libc's, past which nothing is recorded: that ends the protection of the job.

using namespace llamada::mpi;
using interpose::NextFunction;

namespace {

/// Before each function of wide characters.
void widen(FILE* file, const void* caller) {
  if (!file || interpose::descriptor_of_stream(file) < 0) return;
  interpose::cannot_be_repeated(caller, interpose::wide_file);
  interpose::give_to_libc(file);
}

}  // namespace

extern "C" {

LLAMADA_INTERPOSED int fwide(FILE* file, int mode) noexcept {
  static NextFunction<int(FILE*, int)> next("fwide");
  if (mode > 0) widen(file, LLAMADA_CALLER);
  return next.get()(file, mode);
}

LLAMADA_INTERPOSED wint_t fgetwc(FILE* file) {
  static NextFunction<wint_t(FILE*)> next("fgetwc");
  widen(file, LLAMADA_CALLER);
  return next.get()(file);
}
LLAMADA_INTERPOSED wint_t getwc(FILE*) __attribute__((alias("fgetwc")));
LLAMADA_INTERPOSED wint_t fgetwc_unlocked(FILE*) __attribute__((alias("fgetwc")));
LLAMADA_INTERPOSED wint_t getwc_unlocked(FILE*) __attribute__((alias("fgetwc")));

LLAMADA_INTERPOSED wint_t fputwc(wchar_t letter, FILE* file) {
  static NextFunction<wint_t(wchar_t, FILE*)> next("fputwc");
  widen(file, LLAMADA_CALLER);
  return next.get()(letter, file);
}
LLAMADA_INTERPOSED wint_t putwc(wchar_t, FILE*) __attribute__((alias("fputwc")));
LLAMADA_INTERPOSED wint_t fputwc_unlocked(wchar_t, FILE*) __attribute__((alias("fputwc")));
LLAMADA_INTERPOSED wint_t putwc_unlocked(wchar_t, FILE*) __attribute__((alias("fputwc")));

LLAMADA_INTERPOSED wchar_t* fgetws(wchar_t* line, int room, FILE* file) {
  static NextFunction<wchar_t*(wchar_t*, int, FILE*)> next("fgetws");
  widen(file, LLAMADA_CALLER);
  return next.get()(line, room, file);
}
LLAMADA_INTERPOSED wchar_t* fgetws_unlocked(wchar_t*, int, FILE*) __attribute__((alias("fgetws")));
LLAMADA_INTERPOSED wchar_t* __fgetws_chk(wchar_t* line, size_t size, int room, FILE* file) {
  static NextFunction<wchar_t*(wchar_t*, size_t, int, FILE*)> next("__fgetws_chk");
  widen(file, LLAMADA_CALLER);
  return next.get()(line, size, room, file);
}

LLAMADA_INTERPOSED int fputws(const wchar_t* line, FILE* file) {
  static NextFunction<int(const wchar_t*, FILE*)> next("fputws");
  widen(file, LLAMADA_CALLER);
  return next.get()(line, file);
}
LLAMADA_INTERPOSED int fputws_unlocked(const wchar_t*, FILE*) __attribute__((alias("fputws")));

LLAMADA_INTERPOSED wint_t ungetwc(wint_t letter, FILE* file) {
  static NextFunction<wint_t(wint_t, FILE*)> next("ungetwc");
  widen(file, LLAMADA_CALLER);
  return next.get()(letter, file);
}

LLAMADA_INTERPOSED int vfwprintf(FILE* file, const wchar_t* format, va_list arguments) {
  static NextFunction<int(FILE*, const wchar_t*, va_list)> next("vfwprintf");
  widen(file, LLAMADA_CALLER);
  return next.get()(file, format, arguments);
}
LLAMADA_INTERPOSED int fwprintf(FILE* file, const wchar_t* format, ...) {
  static NextFunction<int(FILE*, const wchar_t*, va_list)> next("vfwprintf");
  widen(file, LLAMADA_CALLER);
  va_list arguments;
  va_start(arguments, format);
  const int count = next.get()(file, format, arguments);
  va_end(arguments);
  return count;
}
LLAMADA_INTERPOSED int __vfwprintf_chk(FILE* file, int flag, const wchar_t* format, va_list arguments) {
  static NextFunction<int(FILE*, int, const wchar_t*, va_list)> next("__vfwprintf_chk");
  widen(file, LLAMADA_CALLER);
  return next.get()(file, flag, format, arguments);
}
LLAMADA_INTERPOSED int __fwprintf_chk(FILE* file, int flag, const wchar_t* format, ...) {
  static NextFunction<int(FILE*, int, const wchar_t*, va_list)> next("__vfwprintf_chk");
  widen(file, LLAMADA_CALLER);
  va_list arguments;
  va_start(arguments, format);
  const int count = next.get()(file, flag, format, arguments);
  va_end(arguments);
  return count;
}

// A header may give fwscanf() its other name, so both names are written out.
#define LLAMADA_WIDE_SCAN(name, scan, vscan)                                                            \
  LLAMADA_INTERPOSED int v_##scan(FILE* file, const wchar_t* format, va_list arguments) __asm__(vscan); \
  int v_##scan(FILE* file, const wchar_t* format, va_list arguments) {                                  \
    static NextFunction<int(FILE*, const wchar_t*, va_list)> next(vscan);                               \
    widen(file, LLAMADA_CALLER);                                                                        \
    return next.get()(file, format, arguments);                                                         \
  }                                                                                                     \
  LLAMADA_INTERPOSED int scan(FILE* file, const wchar_t* format, ...) __asm__(name);                    \
  int scan(FILE* file, const wchar_t* format, ...) {                                                    \
    static NextFunction<int(FILE*, const wchar_t*, va_list)> next(vscan);                               \
    widen(file, LLAMADA_CALLER);                                                                        \
    va_list arguments;                                                                                  \
    va_start(arguments, format);                                                                        \
    const int count = next.get()(file, format, arguments);                                              \
    va_end(arguments);                                                                                  \
    return count;                                                                                       \
  }
LLAMADA_WIDE_SCAN("fwscanf", llamada_fwscanf, "vfwscanf")
// The same in programs that follow ISO C, without glibc's own additions.
LLAMADA_WIDE_SCAN("__isoc99_fwscanf", llamada_iso_fwscanf, "__isoc99_vfwscanf")
#undef LLAMADA_WIDE_SCAN

}  // extern "C"
