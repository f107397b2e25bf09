/* Preloaded into mpirun and what it starts: the time of day of mpirun and llamanetd steps, as when somebody
 * sets the clock. CLOCK_STEP=SECONDS:AFTER: by so many seconds, once the process has run for AFTER seconds.
 */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/time.h>
#include <time.h>

typedef int Get(clockid_t, struct timespec*);

static Get* real_get(void) {
  static Get* get;
  if (get == NULL) get = (Get*)dlsym(RTLD_NEXT, "clock_gettime");
  return get;
}

/* How far the clock has stepped by now. */
static long step(void) {
  static struct timespec begin;
  struct timespec now;
  const char* text = getenv("CLOCK_STEP");
  if (text == NULL || (strcmp(program_invocation_short_name, "mpirun") != 0 &&
                       strcmp(program_invocation_short_name, "llamanetd") != 0))
    return 0;
  real_get()(CLOCK_MONOTONIC, &now);
  if (begin.tv_sec == 0) begin = now;
  const char* after = strchr(text, ':');
  const double run = (double)(now.tv_sec - begin.tv_sec) + (double)(now.tv_nsec - begin.tv_nsec) / 1e9;
  return after != NULL && run >= atof(after + 1) ? atol(text) : 0;
}

int clock_gettime(clockid_t clock, struct timespec* to) {
  const int code = real_get()(clock, to);
  if (code == 0 && (clock == CLOCK_REALTIME || clock == CLOCK_REALTIME_COARSE)) to->tv_sec += step();
  return code;
}

time_t time(time_t* to) {
  struct timespec now;
  clock_gettime(CLOCK_REALTIME, &now);
  if (to != NULL) *to = now.tv_sec;
  return now.tv_sec;
}

int gettimeofday(struct timeval* to, void* zone) {
  struct timespec now;
  (void)zone;
  clock_gettime(CLOCK_REALTIME, &now);
  to->tv_sec = now.tv_sec;
  to->tv_usec = now.tv_nsec / 1000;
  return 0;
}
