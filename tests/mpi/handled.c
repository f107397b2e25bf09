/* handled WAY: signals that the program handles decide what it sends. WAY: timer (SIGALRM of setitimer), once
 * (the same, with SA_RESETHAND), realtime (timer_create with a value), ppoll, pselect, epoll, suspend (which
 * let a blocked signal in), sigwait and sigwaitinfo (which take it), pending (which asks whether it has
 * come), any (while receives from any source wait), user (SIGUSR1 from mpirun), sleep (the same, which ends a
 * sleep), itself (raise), spin (a loop without any call that only a signal ends). All ranks see the same; a
 * rank may be killed meanwhile. */
#define _GNU_SOURCE
#include <errno.h>
#include <mpi.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/select.h>
#include <sys/time.h>
#include <time.h>
#include <unistd.h>

static volatile sig_atomic_t seen;
static void note(int number) {
  (void)number;
  seen++;
}

/* Real-time signals tell a value. */
static volatile sig_atomic_t values;
static void note_value(int number, siginfo_t* info, void* context) {
  (void)context;
  if (number == SIGRTMIN + 2 && info->si_code == SI_TIMER) values += info->si_value.sival_int;
  seen++;
}

static void check(int is_true, const char* what) {
  if (is_true) return;
  fprintf(stderr, "handled: not so: %s\n", what);
  MPI_Abort(MPI_COMM_WORLD, 99);
}

static int is(const char* way, const char* wanted) { return strcmp(way, wanted) == 0; }

/* Takes a signal in, or lets one in that is blocked else. */
static void let_in(const char* way, int number) {
  sigset_t none, one;
  siginfo_t info;
  struct timespec limit = {0, 20000000};
  struct epoll_event event;
  int told = -1;
  sigemptyset(&none);
  sigemptyset(&one);
  sigaddset(&one, number);
  errno = 0;
  if (is(way, "ppoll")) told = ppoll(NULL, 0, &limit, &none);
  if (is(way, "pselect")) told = pselect(0, NULL, NULL, NULL, &limit, &none);
  if (is(way, "suspend")) told = sigsuspend(&none);
  if (is(way, "epoll")) {
    int epoll = epoll_create1(0);
    told = epoll_pwait(epoll, &event, 1, 20, &none);
    close(epoll);
  }
  if (is(way, "pending")) {
    sigset_t come;
    check(sigpending(&come) == 0, "sigpending() tells which have come");
    if (sigismember(&come, number)) check(sigwaitinfo(&one, &info) == number && ++seen, "one that has come");
    return;
  }
  if (is(way, "sigwait")) {
    check(sigwait(&one, &told) == 0 && told == number, "sigwait() gives the signal");
    seen++;
    return;
  }
  if (is(way, "sigwaitinfo")) {
    check(sigwaitinfo(&one, &info) == number && info.si_signo == number, "sigwaitinfo() gives the signal");
    seen++;
    return;
  }
  check(told == 0 || (errno == EINTR && seen > 0), "a signal ends the waiting");
}

/* What comes first is taken from any, while signals come. */
static int send_round(int rank, int size) {
  MPI_Request requests[8];
  int got[8], sum = 0, mine = rank + 1, at;
  for (int i = 1; i < size; i++)
    MPI_Irecv(&got[i], 1, MPI_INT, MPI_ANY_SOURCE, 7, MPI_COMM_WORLD, &requests[i]);
  usleep((useconds_t)(3000 * rank));
  for (int i = 0; i < size; i++)
    if (i != rank) MPI_Send(&mine, 1, MPI_INT, i, 7, MPI_COMM_WORLD);
  for (int i = 1; i < size; i++) {
    MPI_Waitany(size - 1, requests + 1, &at, MPI_STATUS_IGNORE);
    sum += got[at + 1];
  }
  MPI_Barrier(MPI_COMM_WORLD);
  return sum;
}

int main(int argc, char** argv) {
  const char* way = argc > 1 ? argv[1] : "itself";
  const int from_mpirun = is(way, "user") || is(way, "sleep") || is(way, "spin") || is(way, "itself");
  const int blocked = is(way, "ppoll") || is(way, "pselect") || is(way, "epoll") || is(way, "suspend") ||
                      is(way, "sigwait") || is(way, "sigwaitinfo") || is(way, "pending");
  struct itimerval each = {{0, 7000}, {0, 7000}};
  int rank, size, total = 0;
  int number = from_mpirun ? SIGUSR1 : is(way, "realtime") ? SIGRTMIN + 2 : SIGALRM;
  struct sigaction action, old;
  memset(&action, 0, sizeof action);
  action.sa_handler = note;
  if (is(way, "once")) action.sa_flags = (int)SA_RESETHAND;
  check(sigaction(number, &action, &old) == 0 && old.sa_handler == SIG_DFL, "the default action");
  check(sigaction(number, NULL, &old) == 0 && old.sa_handler == note, "the program's own handler");
  if (is(way, "realtime")) {
    action.sa_sigaction = note_value;
    action.sa_flags = SA_SIGINFO;
    check(sigaction(number, &action, NULL) == 0, "a handler with a value");
  }
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &size);
  if (blocked) {
    sigset_t set;
    sigemptyset(&set);
    sigaddset(&set, number);
    check(sigprocmask(SIG_BLOCK, &set, NULL) == 0, "a signal is blocked");
  }
  if (number == SIGALRM) {
    if (is(way, "once")) each.it_interval.tv_usec = 0;
    setitimer(ITIMER_REAL, &each, NULL);
  }
  if (number == SIGRTMIN + 2) {
    struct sigevent event;
    struct itimerspec each = {{0, 7000000}, {0, 7000000}};
    timer_t timer;
    memset(&event, 0, sizeof event);
    event.sigev_notify = SIGEV_SIGNAL;
    event.sigev_signo = number;
    event.sigev_value.sival_int = 3;
    check(timer_create(CLOCK_MONOTONIC, &event, &timer) == 0 && timer_settime(timer, 0, &each, NULL) == 0,
          "a timer");
  }
  MPI_Barrier(MPI_COMM_WORLD);
  if (from_mpirun && rank == 0) {
    printf("all handle signals\n");
    fflush(stdout);
  }
  if (strcmp(way, "spin") == 0) {
    if (rank == 1) {
      alarm(0);
      while (!seen) continue;
    }
    MPI_Barrier(MPI_COMM_WORLD);
    if (rank == 0) printf("ok handled\n");
    MPI_Finalize();
    return 0;
  }
  for (int i = 0; i < 120; i++) {
    int mine = seen, all = 0;
    seen = 0;
    if (is(way, "once") && mine > 0) {
      check(mine == 1 && sigaction(number, NULL, &old) == 0 && old.sa_handler == SIG_DFL,
            "it is handled once");
      check(sigaction(number, &action, NULL) == 0, "the handler again");
      setitimer(ITIMER_REAL, &each, NULL);
    }
    if (is(way, "any")) mine = 100 * mine + send_round(rank, size);
    if (blocked) let_in(way, number);
    if (is(way, "realtime")) {
      check(values == 3 * mine, "each signal has its value");
      values = 0;
    }
    if (strcmp(way, "itself") == 0) {
      raise(number);
      check(seen == 1, "raise() returns when the handler has");
    }
    MPI_Allreduce(&mine, &all, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
    total += all;
    struct timespec left, wanted = {0, 10000000};
    if (strcmp(way, "sleep") == 0 && nanosleep(&wanted, &left) != 0)
      check(seen > 0, "a signal ended the sleep");
    if (strcmp(way, "sleep") != 0) usleep(10000);
  }
  int least, most;
  MPI_Allreduce(&total, &least, 1, MPI_INT, MPI_MIN, MPI_COMM_WORLD);
  MPI_Allreduce(&total, &most, 1, MPI_INT, MPI_MAX, MPI_COMM_WORLD);
  check(least == total && most == total, "all have counted the same");
  check(total > 0, "a signal was seen");
  if (rank == 0) printf("ok handled\n");
  MPI_Finalize();
  return 0;
}
