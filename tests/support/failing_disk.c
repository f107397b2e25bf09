/* Preloaded into a process, lets calls on the files below a directory fail, or writes down what the disk has.
 *
 * FAIL_BELOW=DIR and FAIL=CALL:ERROR:SKIP:COUNT, with CALL one of pwrite, fdatasync, fallocate: after SKIP
 * calls the next COUNT of them fail. ERROR is a number of errno, or "short": a pwrite then writes half of its
 * bytes. FAIL_JOURNAL=FILE: each pwrite and each fdatasync is a line, "w PATH OFFSET BYTES" or "s PATH": what
 * lies behind the last "s" of a file is lost with the power. */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/types.h>
#include <unistd.h>

#define SHORT_WRITE (-1)
#define DEATH (-2)

/* The file's path if it lies below FAIL_BELOW; nothing: leave it alone. */
static const char* path_of(int descriptor, char path[PATH_MAX]) {
  const char* below = getenv("FAIL_BELOW");
  char link[64];
  if (below == NULL) return NULL;
  snprintf(link, sizeof link, "/proc/self/fd/%d", descriptor);
  const ssize_t length = readlink(link, path, PATH_MAX - 1);
  if (length < 0) return NULL;
  path[length] = '\0';
  return strncmp(path, below, strlen(below)) == 0 ? path : NULL;
}

static void write_down(const char* format, const char* path, long long offset, size_t bytes) {
  static int journal = -1;
  const char* name = getenv("FAIL_JOURNAL");
  char line[PATH_MAX + 64];
  if (name == NULL) return;
  if (journal < 0) journal = open(name, O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0600);
  const int length = snprintf(line, sizeof line, format, path, offset, bytes);
  if (write(journal, line, (size_t)length) != length) abort();
}

/* 0: the call is to succeed. */
static int error_of(const char* call) {
  static long skip = -1, count, error;
  static char failing[32];
  const char* rule = getenv("FAIL");
  char kind[32];
  if (rule == NULL) return 0;
  if (skip < 0) {
    if (sscanf(rule, "%31[a-z]:%31[a-z0-9]:%ld:%ld", failing, kind, &skip, &count) != 4) abort();
    error = strcmp(kind, "short") == 0 ? SHORT_WRITE : strcmp(kind, "die") == 0 ? DEATH : atol(kind);
  }
  if (strcmp(call, failing) != 0) return 0;
  if (skip > 0) return skip--, 0;
  if (count <= 0) return 0;
  count--;
  write_down("f %s %lld %zu\n", call, 0, 0);
  return (int)error;
}

ssize_t pwrite(int descriptor, const void* bytes, size_t count, off_t offset) {
  ssize_t (*real)(int, const void*, size_t, off_t) =
      (ssize_t(*)(int, const void*, size_t, off_t))dlsym(RTLD_NEXT, "pwrite");
  char room[PATH_MAX];
  const char* path = path_of(descriptor, room);
  if (path == NULL) return real(descriptor, bytes, count, offset);
  const int error = error_of("pwrite");
  if (error > 0) return errno = error, -1;
  if (error < 0) count = (count + 1) / 2;
  write_down("w %s %lld %zu\n", path, (long long)offset, count);
  const ssize_t done = real(descriptor, bytes, count, offset);
  if (error == DEATH) raise(SIGKILL);
  return done;
}
ssize_t pwrite64(int descriptor, const void* bytes, size_t count, off64_t offset) {
  return pwrite(descriptor, bytes, count, offset);
}

int fdatasync(int descriptor) {
  int (*real)(int) = (int (*)(int))dlsym(RTLD_NEXT, "fdatasync");
  char room[PATH_MAX];
  const char* path = path_of(descriptor, room);
  if (path == NULL) return real(descriptor);
  const int error = error_of("fdatasync");
  if (error > 0) return errno = error, -1;
  if (error == DEATH) raise(SIGKILL);
  const int code = real(descriptor);
  if (code == 0) write_down("s %s %lld %zu\n", path, 0, 0);
  return code;
}

int fallocate(int descriptor, int mode, off_t offset, off_t length) {
  int (*real)(int, int, off_t, off_t) = (int (*)(int, int, off_t, off_t))dlsym(RTLD_NEXT, "fallocate");
  char room[PATH_MAX];
  const int error = path_of(descriptor, room) != NULL ? error_of("fallocate") : 0;
  if (error > 0) return errno = error, -1;
  return real(descriptor, mode, offset, length);
}
int fallocate64(int descriptor, int mode, off64_t offset, off64_t length) {
  return fallocate(descriptor, mode, offset, length);
}
