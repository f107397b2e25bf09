/* Reduce, Allreduce, Scan, Exscan, Reduce_scatter and Reduce_scatter_block, with MPI_IN_PLACE, from nothing
 * to several MiB; MPI 5.9 to 5.11. */
#include "check.h"

static MPI_Comm comm;
static int me, size;

static unsigned value_of(int from, int i) { return pattern((uint32_t)from, 3, (uint32_t)i); }

static unsigned* mine_of(int count) {
  unsigned* values = allocate(sizeof(unsigned) * (size_t)(count + 1));
  for (int i = 0; i < count; i++) values[i] = value_of(me, i);
  values[count] = 77;
  return values;
}

static unsigned sum_of(int first, int last, int i) {
  unsigned sum = 0;
  for (int r = first; r <= last; r++) sum += value_of(r, i);
  return sum;
}

static void check_sum(const unsigned* got, int count, int first, int last, int offset) {
  for (int i = 0; i < count; i++) CHECK_EQ(got[i], sum_of(first, last, offset + i));
}

static void reduce(int count) {
  for (int root = 0; root < size; root++) {
    unsigned *mine = mine_of(count), *got = allocate(sizeof(unsigned) * (size_t)(count + 1));
    OK(MPI_Reduce(mine, got, count, MPI_UNSIGNED, MPI_SUM, root, comm));
    if (me == root) check_sum(got, count, 0, size - 1, 0);
    check_sum(mine, count, me, me, 0);
    if (root > 0 && !is_strict()) {
      free(mine);
      free(got);
      continue;
    }
    if (me == root)
      OK(MPI_Reduce(MPI_IN_PLACE, mine, count, MPI_UNSIGNED, MPI_SUM, root, comm));
    else
      OK(MPI_Reduce(mine, NULL, count, MPI_UNSIGNED, MPI_SUM, root, comm));
    if (me == root) check_sum(mine, count, 0, size - 1, 0);
    CHECK_EQ(mine[count], 77);
    free(mine);
    free(got);
  }
}

static void allreduce_and_scans(int count) {
  unsigned *mine = mine_of(count), *got = allocate(sizeof(unsigned) * (size_t)(count + 1));
  OK(MPI_Allreduce(mine, got, count, MPI_UNSIGNED, MPI_SUM, comm));
  check_sum(got, count, 0, size - 1, 0);
  OK(MPI_Scan(mine, got, count, MPI_UNSIGNED, MPI_SUM, comm));
  check_sum(got, count, 0, me, 0);
  OK(MPI_Exscan(mine, got, count, MPI_UNSIGNED, MPI_SUM, comm));
  if (me > 0) check_sum(got, count, 0, me - 1, 0);
  memcpy(got, mine, sizeof(unsigned) * (size_t)count);
  OK(MPI_Allreduce(MPI_IN_PLACE, got, count, MPI_UNSIGNED, MPI_SUM, comm));
  check_sum(got, count, 0, size - 1, 0);
  memcpy(got, mine, sizeof(unsigned) * (size_t)count);
  OK(MPI_Scan(MPI_IN_PLACE, got, count, MPI_UNSIGNED, MPI_SUM, comm));
  check_sum(got, count, 0, me, 0);
  memcpy(got, mine, sizeof(unsigned) * (size_t)count);
  OK(MPI_Exscan(MPI_IN_PLACE, got, count, MPI_UNSIGNED, MPI_SUM, comm));
  if (me > 0) check_sum(got, count, 0, me - 1, 0);
  CHECK_EQ(mine[count], 77);
  free(mine);
  free(got);
}

static void reduce_scatter(int base) {
  int *counts = allocate(sizeof(int) * (size_t)size), total = 0, offset = 0;
  for (int r = 0; r < size; r++) {
    counts[r] = base * (r % 3) + r;
    if (r == me) offset = total;
    total += counts[r];
  }
  unsigned *mine = mine_of(total), *got = allocate(sizeof(unsigned) * (size_t)(counts[me] + 1));
  OK(MPI_Reduce_scatter(mine, got, counts, MPI_UNSIGNED, MPI_SUM, comm));
  check_sum(got, counts[me], 0, size - 1, offset);
  if (is_strict()) {
    OK(MPI_Reduce_scatter(MPI_IN_PLACE, mine, counts, MPI_UNSIGNED, MPI_SUM, comm));
    check_sum(mine, counts[me], 0, size - 1, offset);
  }
  free(mine);
  free(got);
  free(counts);
}

static void reduce_scatter_block(int count) {
  unsigned *mine = mine_of(count * size), *got = allocate(sizeof(unsigned) * (size_t)(count + 1));
  OK(MPI_Reduce_scatter_block(mine, got, count, MPI_UNSIGNED, MPI_SUM, comm));
  check_sum(got, count, 0, size - 1, me * count);
  OK(MPI_Reduce_scatter_block(MPI_IN_PLACE, mine, count, MPI_UNSIGNED, MPI_SUM, comm));
  check_sum(mine, count, 0, size - 1, me * count);
  free(mine);
  free(got);
}

static void local(void) {
  int a[3] = {1, 2, 3}, b[3] = {10, 20, 30};
  OK(MPI_Reduce_local(a, b, 3, MPI_INT, MPI_SUM));
  CHECK(b[0] == 11 && b[1] == 22 && b[2] == 33 && a[0] == 1);
}

static void all_of_it(MPI_Comm where, int largest) {
  static const int counts[] = {0, 1, 2, 5, 100, 3000, 50001, 1300000};
  comm = where;
  OK(MPI_Comm_rank(comm, &me));
  OK(MPI_Comm_size(comm, &size));
  for (int i = 0; i < 8 && counts[i] <= largest; i++) {
    reduce(counts[i]);
    allreduce_and_scans(counts[i]);
    reduce_scatter(counts[i] > 100000 ? counts[i] / 4 : counts[i]);
    reduce_scatter_block(counts[i] > 100000 ? counts[i] / 4 : counts[i]);
  }
}

int main(int argc, char** argv) {
  begin("coll_reduce", &argc, &argv);
  local();
  all_of_it(MPI_COMM_WORLD, 1300000);
  all_of_it(MPI_COMM_SELF, 3000);
  MPI_Comm half;
  OK(MPI_Comm_split(MPI_COMM_WORLD, rank < 2, rank, &half));
  all_of_it(half, 50001);
  OK(MPI_Comm_free(&half));
  return finish();
}
