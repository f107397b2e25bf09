#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cstring>
#include <string>
#include <string_view>
#include <vector>

#include "interpose/file_calls.hpp"
#include "interpose/names.hpp"
#include "interpose/opening.hpp"
#include "interpose/streams.hpp"

// Temporary files: libc draws their names where nobody sees it. These draw them from recorded random numbers,
// so that a replacement comes to the same names.

using namespace llamada::mpi;
using interpose::FileCall;
using replay::Determinants;

namespace {

constexpr std::size_t drawn_letters = 6;
constexpr int tries_max = 10'000;
constexpr std::size_t prefix_letters_max = 5;  // tempnam()

/// The place of the six X in a template, in front of a suffix; null and EINVAL if they are not there.
char* letters_of(char* pattern, int suffix_length) {
  const std::size_t length = std::strlen(pattern);
  const std::size_t behind = drawn_letters + static_cast<std::size_t>(suffix_length);
  char* letters = suffix_length >= 0 && length >= behind ? pattern + length - behind : nullptr;
  if (letters && std::strncmp(letters, "XXXXXX", drawn_letters) == 0) return letters;
  errno = EINVAL;
  return nullptr;
}

void draw(char* letters) {
  static constexpr char alphabet[] = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789";
  std::uint64_t number = 0;
  interpose::random_bytes(&number, sizeof number, 0);
  for (std::size_t i = 0; i < drawn_letters; i++, number /= 62) letters[i] = alphabet[number % 62];
}

/// Draws names until `make` accepts one (not -1 with EEXIST).
int make_drawn(char* pattern, int suffix_length, const std::function<int()>& make) {
  char* letters = letters_of(pattern, suffix_length);
  if (!letters) return -1;
  for (int tries = 0; tries < tries_max; tries++) {
    draw(letters);
    const int made = make();
    if (made >= 0 || errno != EEXIST) return made;
  }
  return -1;
}

int make_file(Determinants& determinants, char* pattern, int suffix_length, int flags) {
  return make_drawn(pattern, suffix_length, [&] {
    const int all = (flags & ~O_ACCMODE) | O_RDWR | O_CREAT | O_EXCL;
    return interpose::open_file(determinants, AT_FDCWD, pattern, all, 0600);
  });
}

/// Whether a name leads to anything. Recorded.
bool is_there(Determinants& determinants, const char* path) {
  interpose::Query looking{.call = FileCall::status, .digest = interpose::Arguments().add(path).digest()};
  looking.ask = [&](std::vector<std::byte>&) {
    return interpose::FileOutcome{interpose::file_at(AT_FDCWD, path) != 0, 0};
  };
  return interpose::query(determinants, looking) != 0;
}

/// Draws a name that leads to nothing. False and EEXIST if there is none, EINVAL for a wrong template.
bool draw_free_name(Determinants& determinants, char* pattern) {
  return make_drawn(pattern, 0, [&] {
           if (!is_there(determinants, pattern)) return 0;
           errno = EEXIST;
           return -1;
         }) == 0;
}

/// tmpnam() into `name`, of L_tmpnam bytes.
char* name_in_tmp(Determinants& determinants, char* name) {
  std::strcpy(name, P_tmpdir "/fileXXXXXX");
  return draw_free_name(determinants, name) ? name : nullptr;
}

/// The first of these directories that can be used.
std::string_view directory_of_names(Determinants& determinants, const char* wanted) {
  const char* variable = secure_getenv("TMPDIR");
  for (const char* directory : {variable, wanted})
    if (directory && *directory && is_there(determinants, directory)) return directory;
  return P_tmpdir;
}

}  // namespace

extern "C" {

LLAMADA_INTERPOSED char* mktemp(char* pattern) noexcept {
  static interpose::NextFunction<char*(char*)> next("mktemp");
  auto* determinants = interpose::recorder_of(LLAMADA_CALLER);
  if (!determinants) return next.get()(pattern);
  if (!draw_free_name(*determinants, pattern)) *pattern = 0;
  return pattern;
}

LLAMADA_INTERPOSED char* tmpnam_r(char* name) noexcept {
  static interpose::NextFunction<char*(char*)> next("tmpnam_r");
  auto* determinants = interpose::recorder_of(LLAMADA_CALLER);
  if (!determinants || !name) return next.get()(name);
  return name_in_tmp(*determinants, name);
}

LLAMADA_INTERPOSED char* tmpnam(char* name) noexcept {
  static interpose::NextFunction<char*(char*)> next("tmpnam");
  static char room[L_tmpnam];
  auto* determinants = interpose::recorder_of(LLAMADA_CALLER);
  return determinants ? name_in_tmp(*determinants, name ? name : room) : next.get()(name);
}

LLAMADA_INTERPOSED char* tempnam(const char* directory, const char* prefix) noexcept {
  static interpose::NextFunction<char*(const char*, const char*)> next("tempnam");
  auto* determinants = interpose::recorder_of(LLAMADA_CALLER);
  if (!determinants) return next.get()(directory, prefix);
  const std::string_view letters = prefix && *prefix ? prefix : "file";
  std::string name(directory_of_names(*determinants, directory));
  name.append("/").append(letters.substr(0, prefix_letters_max)).append("XXXXXX");
  return draw_free_name(*determinants, name.data()) ? strdup(name.c_str()) : nullptr;
}

LLAMADA_INTERPOSED int mkostemps(char* pattern, int suffix_length, int flags) {
  static interpose::NextFunction<int(char*, int, int)> next("mkostemps");
  auto* determinants = interpose::recorder_of_change(LLAMADA_CALLER, "mkostemps");
  return determinants ? make_file(*determinants, pattern, suffix_length, flags)
                      : next.get()(pattern, suffix_length, flags);
}
LLAMADA_INTERPOSED int mkostemps64(char*, int, int) __attribute__((alias("mkostemps")));

LLAMADA_INTERPOSED int mkstemps(char* pattern, int suffix_length) {
  static interpose::NextFunction<int(char*, int)> next("mkstemps");
  auto* determinants = interpose::recorder_of_change(LLAMADA_CALLER, "mkstemps");
  return determinants ? make_file(*determinants, pattern, suffix_length, 0)
                      : next.get()(pattern, suffix_length);
}
LLAMADA_INTERPOSED int mkstemps64(char*, int) __attribute__((alias("mkstemps")));

LLAMADA_INTERPOSED int mkostemp(char* pattern, int flags) {
  static interpose::NextFunction<int(char*, int)> next("mkostemp");
  auto* determinants = interpose::recorder_of_change(LLAMADA_CALLER, "mkostemp");
  return determinants ? make_file(*determinants, pattern, 0, flags) : next.get()(pattern, flags);
}
LLAMADA_INTERPOSED int mkostemp64(char*, int) __attribute__((alias("mkostemp")));

LLAMADA_INTERPOSED int mkstemp(char* pattern) {
  static interpose::NextFunction<int(char*)> next("mkstemp");
  auto* determinants = interpose::recorder_of_change(LLAMADA_CALLER, "mkstemp");
  return determinants ? make_file(*determinants, pattern, 0, 0) : next.get()(pattern);
}
LLAMADA_INTERPOSED int mkstemp64(char*) __attribute__((alias("mkstemp")));

LLAMADA_INTERPOSED char* mkdtemp(char* pattern) noexcept {
  static interpose::NextFunction<char*(char*)> next("mkdtemp");
  auto* determinants = interpose::recorder_of_change(LLAMADA_CALLER, "mkdtemp");
  if (!determinants) return next.get()(pattern);
  const int made =
      make_drawn(pattern, 0, [&] { return interpose::make_directory(*determinants, pattern, 0700); });
  return made == 0 ? pattern : nullptr;
}

LLAMADA_INTERPOSED FILE* tmpfile() {
  static interpose::NextFunction<FILE*()> next("tmpfile");
  auto* determinants = interpose::recorder_of_change(LLAMADA_CALLER, "tmpfile");
  if (!determinants) return next.get()();
  char name[] = P_tmpdir "/tmpfXXXXXX";
  const int descriptor = make_file(*determinants, name, 0, O_CLOEXEC);
  if (descriptor < 0) return nullptr;
  interpose::remove_file(*determinants, name);
  return interpose::make_stream(descriptor, "w+");
}
LLAMADA_INTERPOSED FILE* tmpfile64() __attribute__((alias("tmpfile")));

}  // extern "C"
