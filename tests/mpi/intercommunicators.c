/* Intercommunicators (MPI 3.1, 6.6): two groups of the world, the even ranks and the odd ones. */
#include "check.h"

static int odd, group_size, remote_size, group_rank;

static MPI_Comm make_inter(MPI_Comm* local) {
  MPI_Comm inter;
  OK(MPI_Comm_split(MPI_COMM_WORLD, rank % 2, rank, local));
  OK(MPI_Intercomm_create(*local, 0, MPI_COMM_WORLD, odd ? 0 : 1, 12, &inter));
  return inter;
}

static void sizes(MPI_Comm inter, MPI_Comm local) {
  int value, result;
  MPI_Group group, remote, expected;
  OK(MPI_Comm_test_inter(inter, &value));
  CHECK(value);
  OK(MPI_Comm_test_inter(local, &value));
  CHECK(!value);
  OK(MPI_Comm_size(inter, &value));
  CHECK_EQ(value, group_size);
  OK(MPI_Comm_remote_size(inter, &value));
  CHECK_EQ(value, remote_size);
  OK(MPI_Comm_rank(inter, &value));
  CHECK_EQ(value, group_rank);
  OK(MPI_Comm_remote_group(inter, &remote));
  OK(MPI_Group_size(remote, &value));
  CHECK_EQ(value, remote_size);
  OK(MPI_Comm_group(inter, &group));
  OK(MPI_Group_intersection(group, remote, &expected));
  OK(MPI_Group_compare(expected, MPI_GROUP_EMPTY, &result));
  CHECK_EQ(result, MPI_IDENT);
  OK(MPI_Comm_compare(inter, inter, &result));
  CHECK_EQ(result, MPI_IDENT);
  OK(MPI_Comm_compare(inter, local, &result));
  CHECK_EQ(result, MPI_UNEQUAL);
  OK(MPI_Group_free(&group));
  OK(MPI_Group_free(&remote));
}

/* The ranks are dealt out to so many nodes in their order, as many to each. */
static void split_type(MPI_Comm inter, int nodes) {
  MPI_Comm shared, none;
  int size, remote;
  OK(MPI_Comm_split_type(inter, MPI_COMM_TYPE_SHARED, 0, MPI_INFO_NULL, &shared));
  OK(MPI_Comm_size(shared, &size));
  OK(MPI_Comm_remote_size(shared, &remote));
  CHECK(size == group_size / nodes && remote == remote_size / nodes);
  OK(MPI_Comm_free(&shared));
  OK(MPI_Comm_split_type(inter, MPI_UNDEFINED, 0, MPI_INFO_NULL, &none));
  CHECK(none == MPI_COMM_NULL);
}

/* Each sends to all of the other group and takes from any of them. */
static void messages(MPI_Comm inter, int tag) {
  int heard[16] = {0};
  MPI_Request requests[16];
  for (int to = 0; to < remote_size; to++) OK(MPI_Isend(&rank, 1, MPI_INT, to, tag, inter, &requests[to]));
  for (int i = 0; i < remote_size; i++) {
    int value;
    MPI_Status status;
    OK(MPI_Recv(&value, 1, MPI_INT, MPI_ANY_SOURCE, tag, inter, &status));
    CHECK_EQ(value, 2 * status.MPI_SOURCE + !odd);
    CHECK(!heard[status.MPI_SOURCE]++);
  }
  OK(MPI_Waitall(remote_size, requests, MPI_STATUSES_IGNORE));
  if (group_rank < remote_size) {
    char mine[20000], theirs[20000];
    MPI_Status status;
    memset(mine, rank, sizeof mine);
    OK(MPI_Sendrecv(mine, sizeof mine, MPI_CHAR, group_rank, tag + 100, theirs, sizeof theirs, MPI_CHAR,
                    group_rank, tag + 100, inter, &status));
    CHECK_EQ(status.MPI_SOURCE, group_rank);
    CHECK_EQ(theirs[19999], 2 * group_rank + !odd);
  }
  OK(MPI_Barrier(inter));
}

static void merged(MPI_Comm inter, int high_ones) {
  MPI_Comm all;
  int value, sum, high = high_ones == 2 ? 0 : odd == high_ones;
  OK(MPI_Intercomm_merge(inter, high, &all));
  OK(MPI_Comm_size(all, &value));
  CHECK_EQ(value, ranks);
  OK(MPI_Comm_rank(all, &value));
  if (high_ones == 2)
    CHECK_EQ(value, odd ? remote_size + group_rank : group_rank);
  else
    CHECK_EQ(value, group_rank + (high ? remote_size : 0));
  OK(MPI_Allreduce(&rank, &sum, 1, MPI_INT, MPI_SUM, all));
  CHECK_EQ(sum, ranks * (ranks - 1) / 2);
  OK(MPI_Comm_free(&all));
}

static void copies(MPI_Comm inter) {
  MPI_Comm copy, part;
  int result, value;
  OK(MPI_Comm_dup(inter, &copy));
  OK(MPI_Comm_compare(inter, copy, &result));
  CHECK_EQ(result, MPI_CONGRUENT);
  messages(copy, 3);
  merged(copy, 1);
  OK(MPI_Comm_free(&copy));
  /* The first of each side, and the rest. */
  OK(MPI_Comm_split(inter, group_rank == 0, 0, &part));
  const int partners = group_rank == 0 ? 1 : remote_size - 1;
  CHECK_EQ(part == MPI_COMM_NULL, partners == 0);
  if (part == MPI_COMM_NULL) return;
  OK(MPI_Comm_remote_size(part, &value));
  CHECK_EQ(value, partners);
  OK(MPI_Barrier(part));
  OK(MPI_Comm_free(&part));
}

static void refused(MPI_Comm inter, MPI_Comm local) {
  int value = 0;
  if (!is_strict()) return;
  OK(MPI_Comm_set_errhandler(inter, MPI_ERRORS_RETURN));
  OK(MPI_Comm_set_errhandler(local, MPI_ERRORS_RETURN));
  CHECK_EQ(MPI_Scan(&value, &value, 1, MPI_INT, MPI_SUM, inter), MPI_ERR_COMM);
  CHECK_EQ(MPI_Comm_remote_size(local, &value), MPI_ERR_COMM);
  CHECK_EQ(MPI_Send(&value, 1, MPI_INT, remote_size, 0, inter), MPI_ERR_RANK);
}

/* Only the members of the group call it. */
static void from_group(void) {
  MPI_Group world, some;
  MPI_Comm comm;
  int ranks_of[2] = {ranks - 1, 0}, value;
  OK(MPI_Comm_group(MPI_COMM_WORLD, &world));
  OK(MPI_Group_incl(world, 2, ranks_of, &some));
  if (rank == 0 || rank == ranks - 1) {
    OK(MPI_Comm_create_group(MPI_COMM_WORLD, some, 5, &comm));
    OK(MPI_Comm_rank(comm, &value));
    CHECK_EQ(value, rank == 0);
    OK(MPI_Allreduce(MPI_IN_PLACE, &value, 1, MPI_INT, MPI_SUM, comm));
    CHECK_EQ(value, 1);
    OK(MPI_Comm_free(&comm));
  }
  OK(MPI_Group_free(&some));
  OK(MPI_Group_free(&world));
}

int main(int argc, char** argv) {
  chapter = "intercommunicators";
  OK(MPI_Init(&argc, &argv));
  OK(MPI_Comm_rank(MPI_COMM_WORLD, &rank));
  OK(MPI_Comm_size(MPI_COMM_WORLD, &ranks));
  if (ranks > 1) {
    MPI_Comm local, inter;
    odd = rank % 2;
    group_rank = rank / 2;
    group_size = (ranks + !odd) / 2;
    remote_size = ranks - group_size;
    inter = make_inter(&local);
    sizes(inter, local);
    messages(inter, 0);
    split_type(inter, argc > 1 ? atoi(argv[1]) : 1);
    for (int high = 0; high < 3; high++) merged(inter, high);
    copies(inter);
    refused(inter, local);
    from_group();
    OK(MPI_Comm_free(&inter));
    OK(MPI_Comm_free(&local));
  }
  OK(MPI_Barrier(MPI_COMM_WORLD));
  if (rank == 0) printf("ok %s\n", chapter);
  OK(MPI_Finalize());
  return 0;
}
