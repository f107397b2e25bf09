/* Each collective in a loop with checked answers; -k names one, else all take turns. */
#include "program.h"

enum { largest = 20000 };

static int *out, *in;

static int value(int from, int step, int i) {
  return (int)(mix((uint64_t)from * 1000003 + (uint64_t)step, (uint64_t)i) % 1000000);
}

static void fill(int* to, int from, int step, int count) {
  for (int i = 0; i < count; i++) to[i] = value(from, step, i);
}

static void check_filled(const int* got, int from, int step, int count) {
  for (int i = 0; i < count; i++) CHECK(got[i] == value(from, step, i));
}

static int sum(int first, int last, int step, int i) {
  int total = 0;
  for (int r = first; r <= last; r++) total += value(r, step, i);
  return total;
}

static void bcast(int step, int count) {
  int root = step % ranks;
  if (rank == root) fill(in, root, step, count);
  MPI_Bcast(in, count, MPI_INT, root, MPI_COMM_WORLD);
  check_filled(in, root, step, count);
}

static void reduce(int step, int count) {
  int root = step % ranks;
  fill(out, rank, step, count);
  MPI_Reduce(out, in, count, MPI_INT, MPI_SUM, root, MPI_COMM_WORLD);
  for (int i = 0; i < count && rank == root; i++) CHECK(in[i] == sum(0, ranks - 1, step, i));
}

static void allreduce(int step, int count) {
  fill(out, rank, step, count);
  MPI_Allreduce(out, in, count, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
  for (int i = 0; i < count; i++) CHECK(in[i] == sum(0, ranks - 1, step, i));
}

static void scan(int step, int count) {
  fill(out, rank, step, count);
  MPI_Scan(out, in, count, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
  for (int i = 0; i < count; i++) CHECK(in[i] == sum(0, rank, step, i));
}

static void gather(int step, int count) {
  int root = step % ranks;
  fill(out, rank, step, count);
  MPI_Gather(out, count, MPI_INT, in, count, MPI_INT, root, MPI_COMM_WORLD);
  for (int r = 0; r < ranks && rank == root; r++) check_filled(in + r * count, r, step, count);
}

static void scatter(int step, int count) {
  int root = step % ranks;
  for (int r = 0; r < ranks; r++) fill(out + r * count, r, step, count);
  MPI_Scatter(out, count, MPI_INT, in, count, MPI_INT, root, MPI_COMM_WORLD);
  check_filled(in, rank, step, count);
}

static void allgather(int step, int count) {
  fill(out, rank, step, count);
  MPI_Allgather(out, count, MPI_INT, in, count, MPI_INT, MPI_COMM_WORLD);
  for (int r = 0; r < ranks; r++) check_filled(in + r * count, r, step, count);
}

static void alltoall(int step, int count) {
  for (int r = 0; r < ranks; r++) fill(out + r * count, rank * 64 + r, step, count);
  MPI_Alltoall(out, count, MPI_INT, in, count, MPI_INT, MPI_COMM_WORLD);
  for (int r = 0; r < ranks; r++) check_filled(in + r * count, r * 64 + rank, step, count);
}

static void alltoallv(int step, int count) {
  int counts[64], places[64], in_counts[64], at = 0;
  for (int r = 0; r < ranks; r++) {
    counts[r] = (rank + r) % 2 ? count : count / 2;
    in_counts[r] = counts[r];
    places[r] = at;
    fill(out + at, rank * 64 + r, step, counts[r]);
    at += counts[r];
  }
  MPI_Alltoallv(out, counts, places, MPI_INT, in, in_counts, places, MPI_INT, MPI_COMM_WORLD);
  for (int r = 0; r < ranks; r++) check_filled(in + places[r], r * 64 + rank, step, in_counts[r]);
}

static void reduce_scatter(int step, int count) {
  int counts[64];
  for (int r = 0; r < ranks; r++) counts[r] = count;
  fill(out, rank, step, count * ranks);
  MPI_Reduce_scatter(out, in, counts, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
  for (int i = 0; i < count; i++) CHECK(in[i] == sum(0, ranks - 1, step, rank * count + i));
}

static void v_forms(int step, int count) {
  int counts[64], places[64], root = step % ranks;
  for (int r = 0, at = 0; r < ranks; r++) {
    counts[r] = r % 2 ? count : count / 3;
    places[r] = at;
    at += counts[r];
  }
  fill(out, rank, step, counts[rank]);
  MPI_Gatherv(out, counts[rank], MPI_INT, in, counts, places, MPI_INT, root, MPI_COMM_WORLD);
  for (int r = 0; r < ranks && rank == root; r++) check_filled(in + places[r], r, step, counts[r]);
  memset(out, 0, sizeof(int) * (size_t)count);
  MPI_Scatterv(in, counts, places, MPI_INT, out, counts[rank], MPI_INT, root, MPI_COMM_WORLD);
  check_filled(out, rank, step, counts[rank]);
  MPI_Allgatherv(out, counts[rank], MPI_INT, in, counts, places, MPI_INT, MPI_COMM_WORLD);
  for (int r = 0; r < ranks; r++) check_filled(in + places[r], r, step, counts[r]);
}

static void barrier(int step, int count) {
  (void)step, (void)count;
  MPI_Barrier(MPI_COMM_WORLD);
}

static const struct {
  const char* name;
  void (*run)(int step, int count);
} all[] = {{"barrier", barrier},     {"bcast", bcast},         {"reduce", reduce},
           {"allreduce", allreduce}, {"scan", scan},           {"gather", gather},
           {"scatter", scatter},     {"allgather", allgather}, {"alltoall", alltoall},
           {"alltoallv", alltoallv}, {"v", v_forms},           {"reduce_scatter", reduce_scatter}};
enum { all_count = sizeof all / sizeof all[0] };

int main(int argc, char** argv) {
  begin(argc, argv);
  static const int counts[] = {1, 100, 3000, 0, largest, 17};
  int chosen = -1;
  for (int i = 0; i < all_count; i++)
    if (strcmp(kind, all[i].name) == 0) chosen = i;
  CHECK(chosen >= 0 || !*kind);
  out = allocate(sizeof(int) * largest * (size_t)ranks);
  in = allocate(sizeof(int) * largest * (size_t)ranks);
  for (int step = 0; step < steps; step++) {
    int count = counts[(step / 7) % 6];
    all[chosen >= 0 ? chosen : step % all_count].run(step, step % 20 == 0 || count < 10000 ? count : 50);
    pause_step();
  }
  free(out);
  free(in);
  return finish("collectives");
}
