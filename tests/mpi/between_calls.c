/* between_calls FILE WAY: one rank dies between two calls of MPI, after it was told the time there and before
   it prints anything. FILE.n says that it has, in place n. WAY is plain       behind MPI_Init and behind a
   barrier standby     behind many barriers: parked copies of the rank are made at the end of most of them
     checkpoint  behind a checkpoint */
#include <fcntl.h>
#include <llamada-checkpoint.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

static void die_once(const char* file, int place) {
  char name[4096];
  snprintf(name, sizeof name, "%s.%d", file, place);
  /* Not by a function of the C library: what a program does with files is repeated. */
  if (syscall(SYS_mknodat, AT_FDCWD, name, S_IFREG | 0600, 0) == 0) raise(SIGKILL);
}

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  const char* way = argv[2];
  const int is_standby = strcmp(way, "standby") == 0;
  static int place = 1;
  if (strcmp(way, "checkpoint") == 0) LLAMADA_Checkpoint_register(&place, sizeof place);
  for (; place <= (is_standby ? 40 : 2); place++) {
    int restarted;
    if (is_standby) {
      usleep(3000);
      MPI_Barrier(MPI_COMM_WORLD);
    }
    if (strcmp(way, "checkpoint") == 0) LLAMADA_Checkpoint(MPI_COMM_WORLD, &restarted);
    const time_t now = time(NULL);
    if (!is_standby || place > 30) die_once(argv[1], place);
    printf("place %d %s\n", place, now > 0 ? "has a time" : "has no time");
    fflush(stdout);
    if (strcmp(way, "plain") == 0) MPI_Barrier(MPI_COMM_WORLD);
  }
  MPI_Finalize();
  return 0;
}
