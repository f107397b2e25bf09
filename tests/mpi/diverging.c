// A program that is not deterministic beyond what is recorded: rank 1 goes one way in its first life, and
// another way in its replacement. A replacement of rank 1 must end the job as diverged, before any line says
// "WRONG". Without a death each way is right.
//
// diverging WAY FOLDER: the folder must be empty.

#include <mpi.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

static int rank, first_life;
static char folder[4096];

// By bare system calls, which nothing records.
static int is_first_life(void) {
  char marker[4200];
  snprintf(marker, sizeof marker, "%s/marker", folder);
  if (syscall(SYS_access, marker, 0) == 0) return 0;
  syscall(SYS_mknod, marker, S_IFREG | 0600, 0);
  return 1;
}

// Here rank 1 dies, in its own code.
static void die(void) {
  if (rank == 1 && first_life) syscall(SYS_kill, syscall(SYS_getpid), 9);
}

static void take(int source) {
  int value;
  MPI_Recv(&value, 1, MPI_INT, source, 1, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
}

static void give(int destination, int value) { MPI_Send(&value, 1, MPI_INT, destination, 1, MPI_COMM_WORLD); }

// A write by MPI-IO that is not repeated.
static void write_file(void) {
  char name[4200];
  snprintf(name, sizeof name, "%s/file", folder);
  MPI_File file;
  MPI_File_open(MPI_COMM_WORLD, name, MPI_MODE_CREATE | MPI_MODE_RDWR, MPI_INFO_NULL, &file);
  int wrote = first_life;
  if (rank == 1) {
    int values[4] = {1, 2, 3, 4};
    if (wrote) MPI_File_write_at(file, 4096, values, 4, MPI_INT, MPI_STATUS_IGNORE);
    die();
    MPI_Send(&wrote, 1, MPI_INT, 0, 1, MPI_COMM_WORLD);
  }
  if (rank == 0) {
    MPI_Offset size;
    MPI_Recv(&wrote, 1, MPI_INT, 1, 1, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    MPI_File_get_size(file, &size);
    puts((size > 4096) == wrote ? "right" : "WRONG");
  }
  MPI_File_close(&file);
}

// The acknowledgement of a synchronous send: rank 1 takes it before the barrier, or behind it.
static void acknowledge(void) {
  int value = 5, took = first_life;
  MPI_Request request;
  if (rank == 2) MPI_Issend(&value, 1, MPI_INT, 1, 1, MPI_COMM_WORLD, &request);
  if (rank == 1 && took) take(2);
  if (rank == 1) {
    // Rank 2 has seen the acknowledgement before rank 1 dies.
    if (took) take(0);
    die();
  }
  if (rank == 2) {
    MPI_Wait(&request, MPI_STATUS_IGNORE);
    give(0, 1);
  }
  if (rank == 0) {
    take(2);
    give(1, 1);
  }
  MPI_Barrier(MPI_COMM_WORLD);
  if (rank == 1 && !took) {
    take(2);
    take(0);
  }
  if (rank == 1) MPI_Send(&took, 1, MPI_INT, 0, 2, MPI_COMM_WORLD);
  if (rank == 0) {
    MPI_Recv(&took, 1, MPI_INT, 1, 2, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    puts(took ? "right" : "WRONG");
  }
}

// A wildcard receive becomes a named one, which takes the message that the next one had taken.
static void change_source(void) {
  if (rank == 3) take(2);  // its message comes last
  if (rank == 1) {
    take(first_life ? MPI_ANY_SOURCE : 3);
    take(MPI_ANY_SOURCE);
    die();
  } else if (rank > 1) {
    give(1, rank);
    if (rank == 2) give(3, rank);
  }
  MPI_Barrier(MPI_COMM_WORLD);
  if (rank == 0) puts("right");
}

// MPI_Waitany said that a request was complete whose message does not come any more.
static void wait_for_any(void) {
  if (rank == 1) {
    int values[2], index;
    MPI_Request requests[2];
    // Nobody sends with tag 9.
    MPI_Irecv(&values[0], 1, MPI_INT, 2, first_life ? 1 : 9, MPI_COMM_WORLD, &requests[0]);
    MPI_Irecv(&values[1], 1, MPI_INT, 2, first_life ? 9 : 1, MPI_COMM_WORLD, &requests[1]);
    MPI_Waitany(2, requests, &index, MPI_STATUS_IGNORE);
    die();
    MPI_Cancel(&requests[1 - index]);
    MPI_Wait(&requests[1 - index], MPI_STATUS_IGNORE);
  }
  if (rank == 2) give(1, 1);
  MPI_Barrier(MPI_COMM_WORLD);
  if (rank == 0) puts("right");
}

// A message to one rank in the first life, to another one in the next: rank 0 must not hear of the second.
static void change_destination(void) {
  const int other = first_life ? 2 : 0;
  if (rank == 1) {
    give(other, 1);
    if (first_life) take(2);
    die();
    give(0, 2);
    give(2, 2);
  }
  if (rank == 2) {
    int flag = 0;
    while (!flag) MPI_Iprobe(1, 1, MPI_COMM_WORLD, &flag, MPI_STATUS_IGNORE);
    take(1);
    give(1, 1);
    take(1);
  }
  if (rank == 0) {
    int value;
    MPI_Recv(&value, 1, MPI_INT, 1, 1, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    puts(value == 2 ? "right" : "WRONG");
  }
}

// A contribution to a nonblocking barrier that is not repeated.
static void contribute(void) {
  MPI_Comm copy;
  MPI_Request request = MPI_REQUEST_NULL;
  MPI_Comm_dup(MPI_COMM_WORLD, &copy);
  if (rank != 1 || first_life) MPI_Ibarrier(copy, &request);
  if (rank == 1 && first_life) MPI_Wait(&request, MPI_STATUS_IGNORE);
  if (rank == 1) {
    die();
    give(0, first_life);
  }
  MPI_Wait(&request, MPI_STATUS_IGNORE);
  if (rank == 0) {
    int value;
    MPI_Recv(&value, 1, MPI_INT, 1, 1, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    puts(value ? "right" : "WRONG");
  }
}

// A line that the predecessor had not written, long before it died.
static void write_line(void) {
  if (rank == 1 && !first_life) {
    puts("WRONG");
    fflush(stdout);
  }
  for (int i = 0; i < 5; ++i) MPI_Barrier(MPI_COMM_WORLD);
  if (rank == 1) die();
  MPI_Barrier(MPI_COMM_WORLD);
  if (rank == 0) puts("right");
}

// A line that the replacement does not write.
static void leave_line_out(void) {
  if (rank == 1 && first_life) {
    puts("a line");
    fflush(stdout);
    sleep(1);  // so that mpirun has it
  }
  MPI_Barrier(MPI_COMM_WORLD);
  if (rank == 1) {
    die();
    give(0, first_life);
  }
  if (rank == 0) {
    int value;
    MPI_Recv(&value, 1, MPI_INT, 1, 1, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    puts(value ? "right" : "WRONG");
  }
}

int main(int argc, char** argv) {
  static const struct {
    const char* name;
    void (*run)(void);
  } ways[] = {{"write_file", write_file},
              {"acknowledge", acknowledge},
              {"change_source", change_source},
              {"wait_for_any", wait_for_any},
              {"change_destination", change_destination},
              {"contribute", contribute},
              {"write_line", write_line},
              {"leave_line_out", leave_line_out}};
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  if (argc != 3) MPI_Abort(MPI_COMM_WORLD, 2);
  snprintf(folder, sizeof folder, "%s", argv[2]);
  first_life = rank == 1 ? is_first_life() : 1;
  for (size_t i = 0; i < sizeof ways / sizeof ways[0]; ++i)
    if (strcmp(argv[1], ways[i].name) == 0) ways[i].run();
  MPI_Finalize();
  return 0;
}
