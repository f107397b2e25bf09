/* Cartesian topologies; MPI 7. */
#include "check.h"

static void dims(void) {
  int a[2] = {0, 0}, b[3] = {0, 2, 0}, c[3] = {0, 0, 0}, d[1] = {0};
  OK(MPI_Dims_create(6, 2, a));
  CHECK(a[0] == 3 && a[1] == 2);
  OK(MPI_Dims_create(12, 3, b));
  CHECK(b[0] == 3 && b[1] == 2 && b[2] == 2);
  OK(MPI_Dims_create(8, 3, c));
  CHECK(c[0] == 2 && c[1] == 2 && c[2] == 2);
  OK(MPI_Dims_create(7, 1, d));
  CHECK_EQ(d[0], 7);
  int e[3] = {0, 0, 0}, f[5] = {0, 0, 0, 0, 0};
  OK(MPI_Dims_create(5040, 3, e));
  CHECK(e[0] == 21 && e[1] == 16 && e[2] == 15);
  OK(MPI_Dims_create(98784, 5, f));
  CHECK(f[0] == 14 && f[1] == 14 && f[2] == 9 && f[3] == 8 && f[4] == 7);
}

/* A grid of no dimension, and so of one rank, in which all functions answer (7.5.1). */
static void no_dimension(MPI_Comm comm) {
  int count = -1, size = -1, status = -1, at = -1, mapped = -2, keep = 1, sent = 7, got = 5;
  MPI_Comm part;
  OK(MPI_Topo_test(comm, &status));
  CHECK_EQ(status, MPI_CART);
  OK(MPI_Cartdim_get(comm, &count));
  OK(MPI_Comm_size(comm, &size));
  CHECK(count == 0 && size == 1);
  OK(MPI_Cart_get(comm, 0, NULL, NULL, NULL));
  OK(MPI_Cart_coords(comm, 0, 0, NULL));
  OK(MPI_Cart_rank(comm, NULL, &at));
  CHECK_EQ(at, 0);
  OK(MPI_Cart_map(comm, 0, NULL, NULL, &mapped));
  CHECK_EQ(mapped, 0);
  OK(MPI_Neighbor_allgather(&sent, 1, MPI_INT, &got, 1, MPI_INT, comm));
  OK(MPI_Neighbor_alltoall(&sent, 1, MPI_INT, &got, 1, MPI_INT, comm));
  CHECK_EQ(got, 5);
  OK(MPI_Cart_sub(comm, &keep, &part));
  CHECK(part != MPI_COMM_NULL);
  OK(MPI_Cartdim_get(part, &count));
  CHECK_EQ(count, 0);
  OK(MPI_Comm_free(&part));
}

/* Only one rank of the parent is in a grid of no dimension; the others have none. */
static void made_without_dimensions(void) {
  MPI_Comm comm;
  int mapped = -2;
  OK(MPI_Cart_create(MPI_COMM_WORLD, 0, NULL, NULL, 1, &comm));
  CHECK_EQ(comm == MPI_COMM_NULL, rank != 0);
  if (comm != MPI_COMM_NULL) {
    no_dimension(comm);
    OK(MPI_Comm_free(&comm));
  }
  OK(MPI_Cart_map(MPI_COMM_WORLD, 0, NULL, NULL, &mapped));
  CHECK_EQ(mapped, rank == 0 ? 0 : MPI_UNDEFINED);
}

static void grid(int periodic) {
  int dims[2] = {0, 0}, periods[2] = {periodic, 0}, coords[2], me, got, status = 0, count, low, high;
  MPI_Comm comm, row;
  OK(MPI_Dims_create(ranks, 2, dims));
  CHECK_EQ(dims[0] * dims[1], ranks);
  OK(MPI_Cart_create(MPI_COMM_WORLD, 2, dims, periods, 0, &comm));
  OK(MPI_Topo_test(comm, &status));
  CHECK_EQ(status, MPI_CART);
  OK(MPI_Topo_test(MPI_COMM_WORLD, &status));
  CHECK_EQ(status, MPI_UNDEFINED);
  OK(MPI_Cartdim_get(comm, &count));
  CHECK_EQ(count, 2);
  int got_dims[2], got_periods[2], got_coords[2];
  OK(MPI_Comm_rank(comm, &me));
  OK(MPI_Cart_get(comm, 2, got_dims, got_periods, got_coords));
  OK(MPI_Cart_coords(comm, me, 2, coords));
  CHECK(got_dims[0] == dims[0] && got_dims[1] == dims[1]);
  CHECK((got_periods[0] != 0) == periodic && got_periods[1] == 0);
  CHECK(got_coords[0] == coords[0] && got_coords[1] == coords[1]);
  CHECK_EQ(coords[0] * dims[1] + coords[1], me);
  OK(MPI_Cart_rank(comm, coords, &got));
  CHECK_EQ(got, me);
  if (periodic) {
    int wrapped[2] = {coords[0] - dims[0], coords[1]};
    OK(MPI_Cart_rank(comm, wrapped, &got));
    CHECK_EQ(got, me);
  }
  OK(MPI_Cart_shift(comm, 0, 1, &low, &high));
  int expected_high = coords[0] + 1 < dims[0] ? me + dims[1] : periodic ? coords[1] : MPI_PROC_NULL;
  int expected_low = coords[0] > 0 ? me - dims[1]
                     : periodic    ? (dims[0] - 1) * dims[1] + coords[1]
                                   : MPI_PROC_NULL;
  CHECK_EQ(high, expected_high);
  CHECK_EQ(low, expected_low);
  int value = me, from = -5;
  OK(MPI_Sendrecv(&value, 1, MPI_INT, high, 0, &from, 1, MPI_INT, low, 0, comm, MPI_STATUS_IGNORE));
  CHECK_EQ(from, low == MPI_PROC_NULL ? -5 : low);
  OK(MPI_Cart_shift(comm, 1, -1, &low, &high));
  CHECK_EQ(high, coords[1] > 0 ? me - 1 : MPI_PROC_NULL);
  int keep[2] = {0, 1}, size, row_rank;
  OK(MPI_Cart_sub(comm, keep, &row));
  OK(MPI_Comm_size(row, &size));
  OK(MPI_Comm_rank(row, &row_rank));
  CHECK(size == dims[1] && row_rank == coords[1]);
  OK(MPI_Cartdim_get(row, &count));
  CHECK_EQ(count, 1);
  OK(MPI_Allreduce(&me, &got, 1, MPI_INT, MPI_MIN, row));
  CHECK_EQ(got, coords[0] * dims[1]);
  OK(MPI_Comm_free(&row));
  keep[0] = keep[1] = 0;
  OK(MPI_Cart_sub(comm, keep, &row));
  no_dimension(row);
  OK(MPI_Comm_free(&row));
  MPI_Comm copy;
  OK(MPI_Comm_dup(comm, &copy));
  OK(MPI_Topo_test(copy, &status));
  CHECK_EQ(status, MPI_CART);
  OK(MPI_Comm_free(&copy));
  OK(MPI_Comm_free(&comm));
}

/* A grid smaller than its parent leaves the rest with MPI_COMM_NULL. */
static void smaller(void) {
  int dims[1] = {ranks > 1 ? ranks - 1 : 1}, periods[1] = {1};
  MPI_Comm comm;
  OK(MPI_Cart_create(MPI_COMM_WORLD, 1, dims, periods, 1, &comm));
  int in_it = comm != MPI_COMM_NULL, total = 0;
  OK(MPI_Allreduce(&in_it, &total, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD));
  CHECK_EQ(total, dims[0]);
  if (in_it) OK(MPI_Comm_free(&comm));
}

int main(int argc, char** argv) {
  begin("cartesian", &argc, &argv);
  dims();
  grid(0);
  grid(1);
  made_without_dimensions();
  smaller();
  return finish();
}
