/* spawn_program WHAT: for tests that kill worlds, or let them end one after the other. */
#include <mpi.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static MPI_Comm spawn(char* program, char* part, int count) {
  MPI_Comm inter;
  char* arguments[] = {part, NULL};
  MPI_Comm_spawn(program, arguments, count, MPI_INFO_NULL, 0, MPI_COMM_WORLD, &inter, MPI_ERRCODES_IGNORE);
  return inter;
}

static void spawn_on(char* program, char* host) {
  MPI_Comm inter;
  MPI_Info info;
  MPI_Info_create(&info);
  MPI_Info_set(info, "host", host);
  char* arguments[] = {"go", NULL};
  MPI_Comm_spawn(program, arguments, 1, info, 0, MPI_COMM_WORLD, &inter, MPI_ERRCODES_IGNORE);
  MPI_Info_free(&info);
  MPI_Comm_disconnect(&inter);
}

static void wait_for_ever(MPI_Comm comm) {
  char never;
  MPI_Recv(&never, 1, MPI_CHAR, 0, 99, comm, MPI_STATUS_IGNORE);
}

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  const char* what = argc > 1 ? argv[1] : "";
  int rank;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm parent, inter;
  MPI_Comm_get_parent(&parent);
  if (strcmp(what, "child dies") == 0) {
    inter = spawn(argv[0], "die", 2);
    wait_for_ever(inter);
  } else if (strcmp(what, "parent dies") == 0) {
    inter = spawn(argv[0], "wait", 2);
    char up;
    MPI_Recv(&up, 1, MPI_CHAR, 0, 1, inter, MPI_STATUS_IGNORE);
    raise(SIGKILL);
  } else if (strcmp(what, "die") == 0) {
    if (rank == 1) raise(SIGKILL);
    wait_for_ever(parent);
  } else if (strcmp(what, "wait") == 0) {
    if (rank == 0) MPI_Send("u", 1, MPI_CHAR, 0, 1, parent);
    wait_for_ever(parent);
  } else if (strcmp(what, "spawn for ever") == 0) {
    for (;;) {
      inter = spawn(argv[0], "go", 2);
      MPI_Comm_disconnect(&inter);
      printf("again\n");
      fflush(stdout);
    }
  } else if (strcmp(what, "spawn 40 times") == 0) {
    /* Each hears from its child what it told it; now and then one is kept until the end. */
    MPI_Comm kept[4];
    for (int i = 0; i < 40; ++i) {
      inter = spawn(argv[0], i % 3 ? "answer" : "answer twice", i % 5 == 0 ? 2 : 1);
      for (int times = i % 3 ? 1 : 2; times > 0; --times) {
        int told = 1000 * i + rank, heard = 0;
        MPI_Send(&told, 1, MPI_INT, 0, 3, inter);
        MPI_Recv(&heard, 1, MPI_INT, 0, 3, inter, MPI_STATUS_IGNORE);
        if (heard != told + 1) MPI_Abort(MPI_COMM_WORLD, 9);
      }
      if (i % 10 == 0)
        kept[i / 10] = inter;
      else
        MPI_Comm_disconnect(&inter);
    }
    for (int i = 0; i < 4; ++i) MPI_Comm_disconnect(&kept[i]);
    if (rank == 0) printf("all have answered\n");
  } else if (strncmp(what, "answer", 6) == 0) {
    int parents;
    MPI_Comm_remote_size(parent, &parents);
    for (int times = strcmp(what, "answer") == 0 ? 1 : 2; times > 0 && rank == 0; --times)
      for (int from = 0; from < parents; ++from) {
        int heard;
        MPI_Recv(&heard, 1, MPI_INT, from, 3, parent, MPI_STATUS_IGNORE);
        ++heard;
        MPI_Send(&heard, 1, MPI_INT, from, 3, parent);
      }
    MPI_Comm_disconnect(&parent);
  } else if (strcmp(what, "go") == 0) {
    MPI_Comm_disconnect(&parent);
  } else if (strcmp(what, "child fails") == 0) {
    inter = spawn(argv[0], "fail", 1);
    MPI_Comm_disconnect(&inter);
  } else if (strcmp(what, "fail") == 0) {
    MPI_Comm_disconnect(&parent);
    printf("child of world\n");
    MPI_Finalize();
    return 3;
  } else if (strcmp(what, "child outlives") == 0) {
    inter = spawn(argv[0], "outlive", 1);
    int pid = (int)getpid();
    MPI_Bcast(&pid, 1, MPI_INT, 0, MPI_COMM_WORLD);
    if (rank == 0) MPI_Send(&pid, 1, MPI_INT, 0, 2, inter);
    MPI_Comm_disconnect(&inter);
  } else if (strcmp(what, "outlive") == 0) {
    int pid;
    MPI_Recv(&pid, 1, MPI_INT, 0, 2, parent, MPI_STATUS_IGNORE);
    MPI_Comm_disconnect(&parent);
    while (kill(pid, 0) == 0) usleep(1000);
    printf("child has outlived\n");
  } else if (strcmp(what, "no program") == 0) {
    inter = spawn("/no/such/program", "x", 1);
  } else if (strncmp(what, "on ", 3) == 0) {
    spawn_on(argv[0], argv[1] + 3);
  } else if (strcmp(what, "universe") == 0) {
    int *size, found;
    MPI_Comm_get_attr(MPI_COMM_WORLD, MPI_UNIVERSE_SIZE, &size, &found);
    if (rank == 0) printf("universe of %d\n", found ? *size : 0);
  } else if (strcmp(what, "not mpi") == 0) {
    inter = spawn("/bin/true", "x", 1);
  }
  MPI_Finalize();
  return 0;
}
