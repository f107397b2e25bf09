/* Barrier, Bcast, Gather, Scatter, Allgather, Alltoall and their v and w forms, from nothing to several MiB,
 * with MPI_IN_PLACE, on the world and on communicators made of it; MPI 5. */
#include "check.h"

static MPI_Comm comm;
static int me, size;

static int* some(size_t count) {
  int* values = allocate(sizeof(int) * (count + 1));
  memset(values, 0xff, sizeof(int) * (count + 1));
  return values;
}

static void bcast(int count) {
  int* values = some((size_t)count);
  for (int root = 0; root < size; root++) {
    if (me == root)
      fill(values, count, (uint32_t)root, 1);
    else
      memset(values, 0, sizeof(int) * (size_t)count);
    OK(MPI_Bcast(values, count, MPI_INT, root, comm));
    CHECK(filled(values, count, (uint32_t)root, 1));
    CHECK_EQ(values[count], -1);
  }
  free(values);
}

static void gather_scatter(int count) {
  size_t total = (size_t)count * (size_t)size;
  int *mine = some((size_t)count), *all = some(total);
  for (int root = 0; root < size; root++) {
    fill(mine, count, (uint32_t)me, 2);
    memset(all, 0, sizeof(int) * total);
    OK(MPI_Gather(mine, count, MPI_INT, all, count, MPI_INT, root, comm));
    for (int r = 0; r < size && me == root; r++)
      CHECK(filled(all + (size_t)r * count, count, (uint32_t)r, 2));
    if (me == root) {
      memset(all, 0, sizeof(int) * total);
      fill(all + (size_t)me * count, count, (uint32_t)me, 2);
      OK(MPI_Gather(MPI_IN_PLACE, 0, MPI_DATATYPE_NULL, all, count, MPI_INT, root, comm));
      for (int r = 0; r < size; r++) CHECK(filled(all + (size_t)r * count, count, (uint32_t)r, 2));
    } else {
      OK(MPI_Gather(mine, count, MPI_INT, NULL, 0, MPI_DATATYPE_NULL, root, comm));
    }
    for (int r = 0; r < size; r++) fill(all + (size_t)r * count, count, (uint32_t)r, 3);
    memset(mine, 0, sizeof(int) * (size_t)count);
    OK(MPI_Scatter(me == root ? all : NULL, count, MPI_INT, mine, count, MPI_INT, root, comm));
    CHECK(filled(mine, count, (uint32_t)me, 3));
    memset(mine, 0, sizeof(int) * (size_t)count);
    if (me == root)
      OK(MPI_Scatter(all, count, MPI_INT, MPI_IN_PLACE, count, MPI_INT, root, comm));
    else
      OK(MPI_Scatter(NULL, 0, MPI_INT, mine, count, MPI_INT, root, comm));
    CHECK(me == root || filled(mine, count, (uint32_t)me, 3));
  }
  CHECK_EQ(all[total], -1);
  free(mine);
  free(all);
}

static void allgather(int count) {
  size_t total = (size_t)count * (size_t)size;
  int *mine = some((size_t)count), *all = some(total);
  fill(mine, count, (uint32_t)me, 4);
  OK(MPI_Allgather(mine, count, MPI_INT, all, count, MPI_INT, comm));
  for (int r = 0; r < size; r++) CHECK(filled(all + (size_t)r * count, count, (uint32_t)r, 4));
  memset(all, 0, sizeof(int) * total);
  fill(all + (size_t)me * count, count, (uint32_t)me, 5);
  OK(MPI_Allgather(MPI_IN_PLACE, 0, MPI_DATATYPE_NULL, all, count, MPI_INT, comm));
  for (int r = 0; r < size; r++) CHECK(filled(all + (size_t)r * count, count, (uint32_t)r, 5));
  CHECK_EQ(all[total], -1);
  free(mine);
  free(all);
}

static void alltoall(int count) {
  size_t total = (size_t)count * (size_t)size;
  int *out = some(total), *in = some(total);
  for (int r = 0; r < size; r++) fill(out + (size_t)r * count, count, (uint32_t)me, (uint32_t)r);
  OK(MPI_Alltoall(out, count, MPI_INT, in, count, MPI_INT, comm));
  for (int r = 0; r < size; r++) CHECK(filled(in + (size_t)r * count, count, (uint32_t)r, (uint32_t)me));
  OK(MPI_Alltoall(MPI_IN_PLACE, 0, MPI_DATATYPE_NULL, out, count, MPI_INT, comm));
  CHECK(memcmp(in, out, sizeof(int) * total) == 0);
  CHECK_EQ(in[total], -1);
  free(out);
  free(in);
}

/* Unequal parts with gaps; part r has base * (r % 3) + r values. */
typedef struct {
  int *counts, *places, total;
} Parts;

static int part(int base, int r) { return base * (r % 3) + r; }

static Parts parts_of(int base) {
  Parts parts = {allocate(sizeof(int) * (size_t)size), allocate(sizeof(int) * (size_t)size), 1};
  for (int r = size - 1; r >= 0; r--) {
    parts.counts[r] = part(base, r);
    parts.places[r] = parts.total;
    parts.total += parts.counts[r] + 2;
  }
  return parts;
}

static void free_parts(Parts* parts) {
  free(parts->counts);
  free(parts->places);
}

static void check_parts(const Parts* parts, const int* all, uint32_t salt) {
  for (int r = 0; r < size; r++) {
    CHECK(filled(all + parts->places[r], parts->counts[r], (uint32_t)r, salt));
    CHECK_EQ(all[parts->places[r] - 1], -1);
    CHECK_EQ(all[parts->places[r] + parts->counts[r]], -1);
  }
}

static void v_forms(int base) {
  Parts parts = parts_of(base);
  int my_count = parts.counts[me];
  int *mine = some((size_t)my_count), *all = some((size_t)parts.total);
  for (int root = 0; root < size; root++) {
    memset(all, 0xff, sizeof(int) * (size_t)parts.total);
    fill(mine, my_count, (uint32_t)me, 6);
    OK(MPI_Gatherv(mine, my_count, MPI_INT, all, parts.counts, parts.places, MPI_INT, root, comm));
    if (me == root) check_parts(&parts, all, 6);
    memset(mine, 0, sizeof(int) * (size_t)my_count);
    OK(MPI_Scatterv(all, parts.counts, parts.places, MPI_INT, mine, my_count, MPI_INT, root, comm));
    CHECK(filled(mine, my_count, (uint32_t)me, 6));
  }
  memset(all, 0xff, sizeof(int) * (size_t)parts.total);
  OK(MPI_Allgatherv(mine, my_count, MPI_INT, all, parts.counts, parts.places, MPI_INT, comm));
  check_parts(&parts, all, 6);
  memset(all, 0xff, sizeof(int) * (size_t)parts.total);
  fill(all + parts.places[me], my_count, (uint32_t)me, 7);
  OK(MPI_Allgatherv(MPI_IN_PLACE, 0, MPI_DATATYPE_NULL, all, parts.counts, parts.places, MPI_INT, comm));
  check_parts(&parts, all, 7);
  free_parts(&parts);
  free(mine);
  free(all);
}

/* From s to r go base * ((s + 2r) % 3) + s values. */
static int flow(int base, int s, int r) { return base * ((s + 2 * r) % 3) + s; }

static void alltoallv(int base) {
  int *out_counts = some((size_t)size), *out_places = some((size_t)size), *in_counts = some((size_t)size),
      *in_places = some((size_t)size), out_total = 0, in_total = 1;
  for (int r = 0; r < size; r++) {
    out_counts[r] = flow(base, me, r);
    out_places[r] = out_total;
    out_total += out_counts[r] + 1;
    in_counts[r] = flow(base, r, me);
    in_places[r] = in_total;
    in_total += in_counts[r] + 1;
  }
  int *out = some((size_t)out_total), *in = some((size_t)in_total);
  for (int r = 0; r < size; r++) fill(out + out_places[r], out_counts[r], (uint32_t)me, (uint32_t)r);
  OK(MPI_Alltoallv(out, out_counts, out_places, MPI_INT, in, in_counts, in_places, MPI_INT, comm));
  for (int r = 0; r < size; r++) {
    CHECK(filled(in + in_places[r], in_counts[r], (uint32_t)r, (uint32_t)me));
    CHECK_EQ(in[in_places[r] + in_counts[r]], -1);
  }
#ifdef WITH_ALLTOALLW
  MPI_Datatype* types = allocate(sizeof(MPI_Datatype) * (size_t)size);
  for (int r = 0; r < size; r++) {
    types[r] = MPI_INT;
    out_places[r] *= (int)sizeof(int);
    in_places[r] *= (int)sizeof(int);
  }
  memset(in, 0xff, sizeof(int) * (size_t)in_total);
  OK(MPI_Alltoallw(out, out_counts, out_places, types, in, in_counts, in_places, types, comm));
  for (int r = 0; r < size; r++)
    CHECK(filled(in + in_places[r] / (int)sizeof(int), in_counts[r], (uint32_t)r, (uint32_t)me));
  free(types);
#endif
  free(out_counts);
  free(out_places);
  free(in_counts);
  free(in_places);
  free(out);
  free(in);
}

/* Columns in, rows out: the types of the two ends differ. */
static void with_types(void) {
  enum { rows = 50 };
  MPI_Datatype vector, column;
  OK(MPI_Type_vector(rows, 1, size, MPI_INT, &vector));
  OK(MPI_Type_create_resized(vector, 0, sizeof(int), &column));
  OK(MPI_Type_commit(&column));
  int mine[rows], *table = some((size_t)(rows * size));
  fill(mine, rows, (uint32_t)me, 8);
  OK(MPI_Gather(mine, rows, MPI_INT, table, 1, column, 0, comm));
  for (int r = 0; r < size && me == 0; r++)
    for (int i = 0; i < rows; i++) CHECK_EQ(table[i * size + r], (int)pattern((uint32_t)r, 8, (uint32_t)i));
  memset(mine, 0, sizeof mine);
  OK(MPI_Scatter(table, 1, column, mine, rows, MPI_INT, 0, comm));
  CHECK(filled(mine, rows, (uint32_t)me, 8));
  memset(table, 0, sizeof(int) * (size_t)(rows * size));
  OK(MPI_Allgather(mine, rows, MPI_INT, table, 1, column, comm));
  CHECK_EQ(table[(rows - 1) * size + size - 1], (int)pattern((uint32_t)(size - 1), 8, rows - 1));
  OK(MPI_Type_free(&column));
  OK(MPI_Type_free(&vector));
  free(table);
}

/* Nobody leaves a barrier before all have come: told by messages sent before it. */
static void barrier(void) {
  for (int round = 0; round < 20; round++) {
    for (int r = 0; r < size; r++)
      if (r != me) OK(MPI_Send(NULL, 0, MPI_INT, r, round, comm));
    OK(MPI_Barrier(comm));
    for (int r = 0; r < size; r++)
      if (r != me) OK(MPI_Recv(NULL, 0, MPI_INT, r, round, comm, MPI_STATUS_IGNORE));
  }
}

/* Collectives and messages on one communicator do not see each other. */
static void mixed_with_messages(void) {
  int value = me, got = -1, sum = 0;
  MPI_Request request;
  OK(MPI_Irecv(&got, 1, MPI_INT, MPI_ANY_SOURCE, MPI_ANY_TAG, comm, &request));
  OK(MPI_Allreduce(&value, &sum, 1, MPI_INT, MPI_SUM, comm));
  OK(MPI_Barrier(comm));
  CHECK_EQ(sum, size * (size - 1) / 2);
  OK(MPI_Send(&value, 1, MPI_INT, (me + 1) % size, 0, comm));
  OK(MPI_Wait(&request, MPI_STATUS_IGNORE));
  CHECK_EQ(got, (me + size - 1) % size);
}

/* One gives and the others take, again and again, and then the other way round. */
static void one_way(void) {
  enum { calls = 700 };
  int *all = some((size_t)size), *theirs = some((size_t)size);
  for (int call = 0; call < calls; call++) {
    int value = me == 0 ? call : -1, mine = -1;
    OK(MPI_Bcast(&value, 1, MPI_INT, 0, comm));
    CHECK_EQ(value, call);
    for (int r = 0; r < size; r++) theirs[r] = 1000 * r + call;
    OK(MPI_Scatter(theirs, 1, MPI_INT, &mine, 1, MPI_INT, 0, comm));
    CHECK_EQ(mine, 1000 * me + call);
  }
  for (int call = 0; call < calls; call++) {
    int mine = 1000 * me - call;
    OK(MPI_Gather(&mine, 1, MPI_INT, all, 1, MPI_INT, 0, comm));
    for (int r = 0; r < size && me == 0; r++) CHECK_EQ(all[r], 1000 * r - call);
  }
  free(all);
  free(theirs);
}

static void all_of_it(MPI_Comm where, int largest) {
  static const int counts[] = {0, 1, 3, 16, 200, 4097, 40000, 1300000};
  comm = where;
  OK(MPI_Comm_rank(comm, &me));
  OK(MPI_Comm_size(comm, &size));
  barrier();
  for (int i = 0; i < 8 && counts[i] <= largest; i++) {
    bcast(counts[i]);
    gather_scatter(counts[i] / (counts[i] > 100000 ? 3 : 1));
    for (int again = 0; again < 2; again++) {  // Large ones go to and fro.
      allgather(counts[i] / (counts[i] > 100000 ? 3 : 1));
      alltoall(counts[i] / (counts[i] > 100000 ? 4 : 1));
    }
    v_forms(counts[i] / (counts[i] > 100000 ? 4 : 1));
    alltoallv(counts[i] / (counts[i] > 100000 ? 5 : 1));
  }
  one_way();
  with_types();
  mixed_with_messages();
}

int main(int argc, char** argv) {
  begin("coll_basic", &argc, &argv);
  all_of_it(MPI_COMM_WORLD, 1300000);
  all_of_it(MPI_COMM_SELF, 4097);
  MPI_Comm half, reversed;
  OK(MPI_Comm_split(MPI_COMM_WORLD, rank % 2, -rank, &half));
  all_of_it(half, 40000);
  OK(MPI_Comm_split(MPI_COMM_WORLD, 0, -rank, &reversed));
  all_of_it(reversed, 4097);
  OK(MPI_Comm_free(&half));
  OK(MPI_Comm_free(&reversed));
  return finish();
}
