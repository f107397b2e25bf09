/* collectives [changed] [SIZE,...] NAME...: collectives on all ranks, by size, in microseconds for each call.
 * SIZE,...: of these sizes instead of the usual ones. The size is what one rank contributes to one other: of
 * Alltoall, Allgather, Gather, Scatter, the same with lengths for each rank (Alltoallv, …) and Reduce_scatter
 * the piece, of the others the buffer. "changed": what is given changes from call to call. */
#include "bench.h"

enum { batches = 7, ranks_max = 64 };

static int rank, count_of_ranks, changes;
static char *in, *out;
static int counts[ranks_max], parts[ranks_max], places[ranks_max];

static void call(const char* name, int size) {
  int doubles = size / 8;
  if (strcmp(name, "Barrier") == 0)
    MPI_Barrier(MPI_COMM_WORLD);
  else if (strcmp(name, "Bcast") == 0)
    MPI_Bcast(in, size, MPI_BYTE, 0, MPI_COMM_WORLD);
  else if (strcmp(name, "Allreduce") == 0)
    MPI_Allreduce(in, out, doubles, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
  else if (strcmp(name, "Reduce") == 0)
    MPI_Reduce(in, out, doubles, MPI_DOUBLE, MPI_SUM, 0, MPI_COMM_WORLD);
  else if (strcmp(name, "Alltoall") == 0)
    MPI_Alltoall(in, size, MPI_BYTE, out, size, MPI_BYTE, MPI_COMM_WORLD);
  else if (strcmp(name, "Allgather") == 0)
    MPI_Allgather(in, size, MPI_BYTE, out, size, MPI_BYTE, MPI_COMM_WORLD);
  else if (strcmp(name, "Gather") == 0)
    MPI_Gather(in, size, MPI_BYTE, out, size, MPI_BYTE, 0, MPI_COMM_WORLD);
  else if (strcmp(name, "Scatter") == 0)
    MPI_Scatter(in, size, MPI_BYTE, out, size, MPI_BYTE, 0, MPI_COMM_WORLD);
  else if (strcmp(name, "Alltoallv") == 0)
    MPI_Alltoallv(in, parts, places, MPI_BYTE, out, parts, places, MPI_BYTE, MPI_COMM_WORLD);
  else if (strcmp(name, "Allgatherv") == 0)
    MPI_Allgatherv(in, size, MPI_BYTE, out, parts, places, MPI_BYTE, MPI_COMM_WORLD);
  else if (strcmp(name, "Gatherv") == 0)
    MPI_Gatherv(in, size, MPI_BYTE, out, parts, places, MPI_BYTE, 0, MPI_COMM_WORLD);
  else if (strcmp(name, "Scatterv") == 0)
    MPI_Scatterv(in, parts, places, MPI_BYTE, out, size, MPI_BYTE, 0, MPI_COMM_WORLD);
  else if (strcmp(name, "Reduce_scatter") == 0)
    MPI_Reduce_scatter(in, out, counts, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
  else
    MPI_Abort(MPI_COMM_WORLD, 2);
}

static double seconds_for(const char* name, int size, int rounds) {
  MPI_Barrier(MPI_COMM_WORLD);
  double start = MPI_Wtime();
  int parts_given = strcmp(name, "Alltoall") == 0 ? count_of_ranks : 1;
  for (int i = 0; i < rounds; i++) {
    for (int part = 0; part < parts_given && changes; part++) change(in + (size_t)part * size, (size_t)size);
    call(name, size);
  }
  return MPI_Wtime() - start;
}

/* As many as take some milliseconds, the same on all ranks; few of large ones, for the fault-tolerant profile
 * keeps all that is sent. */
static int rounds_for(const char* name, int size) {
  const double enough = 4e-3;
  long most = (16l << 20) / (size ? size : 1) / count_of_ranks;
  int rounds = 1;
  if (most > 2000) most = 2000;
  if (most < 1) most = 1;
  for (; rounds < most; rounds *= 4) {
    /* One of two: what else the machine does may have taken as long. */
    double first = seconds_for(name, size, rounds), second = seconds_for(name, size, rounds);
    int more = first < enough / 2 || second < enough / 2;
    MPI_Bcast(&more, 1, MPI_INT, 0, MPI_COMM_WORLD);
    if (!more) break;
  }
  return rounds < most ? rounds : (int)most;
}

static void measure(const char* name, int size) {
  char figure[80];
  struct series each;
  for (int r = 0; r < count_of_ranks; r++) counts[r] = size / 8, parts[r] = size, places[r] = r * size;
  int rounds = rounds_for(name, size);
  series_begin(&each, batches, meeting, meeting_side);
  while (series_has_next(&each)) series_add(&each, seconds_for(name, size, rounds) / rounds * 1e6);
  snprintf(figure, sizeof figure, "%s%s_%d", changes ? "changed-" : "", name, count_of_ranks);
  if (rank == 0) series_print(&each, figure, size, "us");
}

enum { sizes_max = 16, size_max = 1 << 20 };
static int sizes[sizes_max] = {8, 1024, 16384, 131072, size_max}, count_of_sizes = 5;

/* Whether it is a list of sizes, which then are those to be measured. */
static int read_sizes(char* text) {
  if (*text < '0' || *text > '9') return 0;
  count_of_sizes = 0;
  for (char* word = strtok(text, ","); word && count_of_sizes < sizes_max; word = strtok(NULL, ",")) {
    int size = atoi(word);
    if (size < 8 || size > size_max) MPI_Abort(MPI_COMM_WORLD, 2);
    sizes[count_of_sizes++] = size;
  }
  return 1;
}

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &count_of_ranks);
  if (argc < 2 || count_of_ranks > ranks_max) MPI_Abort(MPI_COMM_WORLD, 2);
  pin_rank(rank);
  if (count_of_ranks == 2) share_meeting(rank);
  in = memory((size_t)count_of_ranks << 20);
  out = memory((size_t)count_of_ranks << 20);
  memset(in, 0, (size_t)count_of_ranks << 20);
  changes = strcmp(argv[1], "changed") == 0;
  char** name = argv + 1 + changes;
  int are_given = *name && read_sizes(*name);
  for (name += are_given; *name; name++)
    if (strcmp(*name, "Barrier") == 0)
      measure("Barrier", 0);
    else
      for (int i = changes && !are_given ? 2 : 0; i < count_of_sizes; i++) measure(*name, sizes[i]);
  MPI_Finalize();
  return 0;
}
