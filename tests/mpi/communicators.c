/* Communicators: dup, split, create, free, compare, names; MPI 6. */
#include "check.h"

/* What only works when all members are in the right order: the sum of rank × place and a ring. */
static void check_works(MPI_Comm comm, int size_expected, int rank_expected) {
  int me, size, sum = 0, got = -1;
  OK(MPI_Comm_rank(comm, &me));
  OK(MPI_Comm_size(comm, &size));
  CHECK_EQ(size, size_expected);
  CHECK_EQ(me, rank_expected);
  OK(MPI_Allreduce(&me, &sum, 1, MPI_INT, MPI_SUM, comm));
  CHECK_EQ(sum, size * (size - 1) / 2);
  OK(MPI_Sendrecv(&me, 1, MPI_INT, (me + 1) % size, 0, &got, 1, MPI_INT, (me + size - 1) % size, 0, comm,
                  MPI_STATUS_IGNORE));
  CHECK_EQ(got, (me + size - 1) % size);
}

static int compare(MPI_Comm a, MPI_Comm b) {
  int result = -1;
  OK(MPI_Comm_compare(a, b, &result));
  return result;
}

static void predefined(void) {
  check_works(MPI_COMM_SELF, 1, 0);
  CHECK_EQ(compare(MPI_COMM_WORLD, MPI_COMM_WORLD), MPI_IDENT);
  CHECK_EQ(compare(MPI_COMM_WORLD, MPI_COMM_SELF), ranks == 1 ? MPI_CONGRUENT : MPI_UNEQUAL);
  int inter = 1;
  OK(MPI_Comm_test_inter(MPI_COMM_WORLD, &inter));
  CHECK(!inter);
}

static void dup(void) {
  MPI_Comm copies[20];
  for (int i = 0; i < 20; i++) {
    OK(MPI_Comm_dup(i ? copies[i - 1] : MPI_COMM_WORLD, &copies[i]));
    CHECK_EQ(compare(copies[i], MPI_COMM_WORLD), MPI_CONGRUENT);
  }
  /* The same source and tag on all of them, taken in another order than sent. */
  MPI_Request requests[20];
  int values[20], got;
  for (int i = 0; i < 20; i++) {
    values[i] = rank * 100 + i;
    OK(MPI_Isend(&values[i], 1, MPI_INT, (rank + 1) % ranks, 0, copies[i], &requests[i]));
  }
  for (int i = 19; i >= 0; i--) {
    OK(MPI_Recv(&got, 1, MPI_INT, MPI_ANY_SOURCE, MPI_ANY_TAG, copies[i], MPI_STATUS_IGNORE));
    CHECK_EQ(got, (rank + ranks - 1) % ranks * 100 + i);
  }
  OK(MPI_Waitall(20, requests, MPI_STATUSES_IGNORE));
  for (int i = 0; i < 20; i++) {
    OK(MPI_Comm_free(&copies[i]));
    CHECK(copies[i] == MPI_COMM_NULL);
  }
}

static void split(void) {
  MPI_Comm comm, inner;
  OK(MPI_Comm_split(MPI_COMM_WORLD, 0, ranks - rank, &comm));
  check_works(comm, ranks, ranks - 1 - rank);
  CHECK_EQ(compare(comm, MPI_COMM_WORLD), ranks == 1 ? MPI_CONGRUENT : MPI_SIMILAR);
  OK(MPI_Comm_split(comm, rank % 2, 0, &inner));
  int members = (ranks + 1 - rank % 2) / 2;
  check_works(inner, members, members - 1 - rank / 2);
  OK(MPI_Comm_free(&comm));
  check_works(inner, members, members - 1 - rank / 2);
  OK(MPI_Comm_free(&inner));
  OK(MPI_Comm_split(MPI_COMM_WORLD, rank == 0 ? MPI_UNDEFINED : 5, 0, &comm));
  if (rank == 0)
    CHECK(comm == MPI_COMM_NULL);
  else {
    check_works(comm, ranks - 1, rank - 1);
    OK(MPI_Comm_free(&comm));
  }
  OK(MPI_Comm_split(MPI_COMM_WORLD, rank, 0, &comm));
  check_works(comm, 1, 0);
  OK(MPI_Comm_free(&comm));
}

static void create(void) {
  MPI_Group world, group;
  MPI_Comm comm;
  OK(MPI_Comm_group(MPI_COMM_WORLD, &world));
  int range[1][3] = {{ranks - 1, 0, -2}}, members = (ranks + 1) / 2;
  OK(MPI_Group_range_incl(world, 1, range, &group));
  OK(MPI_Comm_create(MPI_COMM_WORLD, group, &comm));
  int in_it = (ranks - 1 - rank) % 2 == 0;
  CHECK((comm != MPI_COMM_NULL) == in_it);
  if (in_it) {
    check_works(comm, members, (ranks - 1 - rank) / 2);
    OK(MPI_Comm_free(&comm));
  }
#ifdef WITH_CREATE_GROUP
  if (in_it) {
    OK(MPI_Comm_create_group(MPI_COMM_WORLD, group, 3, &comm));
    check_works(comm, members, (ranks - 1 - rank) / 2);
    OK(MPI_Comm_free(&comm));
  }
#endif
  OK(MPI_Group_free(&group));
  OK(MPI_Comm_create(MPI_COMM_WORLD, MPI_GROUP_EMPTY, &comm));
  CHECK(comm == MPI_COMM_NULL);
  OK(MPI_Group_free(&world));
}

/* The ranks are dealt out to so many nodes in their order, as many to each. */
static void split_type(int nodes) {
  MPI_Comm comm;
  OK(MPI_Comm_split_type(MPI_COMM_WORLD, MPI_COMM_TYPE_SHARED, 0, MPI_INFO_NULL, &comm));
  check_works(comm, ranks / nodes, rank % (ranks / nodes));
  OK(MPI_Comm_free(&comm));
}

static void names(void) {
  char name[MPI_MAX_OBJECT_NAME];
  int length;
  OK(MPI_Comm_get_name(MPI_COMM_WORLD, name, &length));
  CHECK(strcmp(name, "MPI_COMM_WORLD") == 0 && length == 14);
  MPI_Comm comm;
  OK(MPI_Comm_dup(MPI_COMM_WORLD, &comm));
  OK(MPI_Comm_get_name(comm, name, &length));
  CHECK_EQ(length, 0);
  OK(MPI_Comm_set_name(comm, "herd"));
  OK(MPI_Comm_get_name(comm, name, &length));
  CHECK(strcmp(name, "herd") == 0 && length == 4);
  OK(MPI_Comm_free(&comm));
}

/* Many made and freed: ids are used again. */
static void storm(void) {
  for (int i = 0; i < 600; i++) {
    MPI_Comm comm;
    if (i % 3)
      OK(MPI_Comm_dup(MPI_COMM_WORLD, &comm));
    else
      OK(MPI_Comm_split(MPI_COMM_WORLD, rank % (1 + i % 4), 0, &comm));
    if (i % 50 == 0) OK(MPI_Barrier(comm));
    OK(MPI_Comm_free(&comm));
  }
}

/* Communicator freed while a message on it is under way. */
/* More communicators than there is room for at a time, made and freed in turn in every way. */
static void in_turn(void) {
  int rank = 0, size = 0;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &size);
  /* Where ranks are more than cores, only as many as show that all fits together. */
  const int rounds = size <= 2 ? 17000 : 400;
  for (int i = 0; i < rounds; i++) {
    MPI_Comm comm = MPI_COMM_NULL, half = MPI_COMM_NULL;
    MPI_Comm_dup(MPI_COMM_WORLD, &comm);
    int sum = 0;
    MPI_Allreduce(&i, &sum, 1, MPI_INT, MPI_SUM, comm);
    CHECK(sum == i * size);
    if (i % 50 == 0) {
      MPI_Request request;
      MPI_Comm later = MPI_COMM_NULL;
      /* Two exchanges under way, both for the same members. */
      MPI_Comm_idup(comm, &later, &request);
      MPI_Comm_split(MPI_COMM_WORLD, (rank + i / 50) % 2, -rank, &half);
      MPI_Wait(&request, MPI_STATUS_IGNORE);
      check_works(later, size, rank);
      int members = 0;
      int one = 1;
      MPI_Iallreduce(&one, &members, 1, MPI_INT, MPI_SUM, half, &request);
      MPI_Wait(&request, MPI_STATUS_IGNORE);
      int half_size = 0;
      MPI_Comm_size(half, &half_size);
      CHECK(members == half_size);
      if (i % 100 == 0) MPI_Comm_free(&half);
      MPI_Comm_free(&later);
    }
    MPI_Comm_free(&comm);
    if (half != MPI_COMM_NULL) MPI_Comm_free(&half);
  }
}

static void freed_early(void) {
  MPI_Comm comm;
  MPI_Request requests[2];
  int value = rank, got = -1;
  OK(MPI_Comm_dup(MPI_COMM_WORLD, &comm));
  OK(MPI_Irecv(&got, 1, MPI_INT, (rank + ranks - 1) % ranks, 0, comm, &requests[0]));
  OK(MPI_Isend(&value, 1, MPI_INT, (rank + 1) % ranks, 0, comm, &requests[1]));
  OK(MPI_Comm_free(&comm));
  OK(MPI_Waitall(2, requests, MPI_STATUSES_IGNORE));
  CHECK_EQ(got, (rank + ranks - 1) % ranks);
}

int main(int argc, char** argv) {
  begin("communicators", &argc, &argv);
  predefined();
  dup();
  split();
  create();
  split_type(argc > 1 ? atoi(argv[1]) : 1);
  names();
  freed_early();
  storm();
  in_turn();
  return finish();
}
