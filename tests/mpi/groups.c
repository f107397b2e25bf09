/* Groups: all set operations, translation, ranges; MPI 6.3. */
#include "check.h"

static MPI_Group world;

static MPI_Group of(int count, const int* members) {
  MPI_Group group;
  OK(MPI_Group_incl(world, count, members, &group));
  return group;
}

static void is(MPI_Group group, int count, const int* members) {
  int size, me, expected = MPI_UNDEFINED;
  OK(MPI_Group_size(group, &size));
  CHECK_EQ(size, count);
  for (int i = 0; i < count; i++) {
    int there = -1;
    OK(MPI_Group_translate_ranks(group, 1, &i, world, &there));
    CHECK_EQ(there, members[i]);
    if (members[i] == rank) expected = i;
  }
  OK(MPI_Group_rank(group, &me));
  CHECK_EQ(me, expected);
}

static int compare(MPI_Group a, MPI_Group b) {
  int result = -1;
  OK(MPI_Group_compare(a, b, &result));
  return result;
}

static void drop(MPI_Group* group) {
  if (*group != MPI_GROUP_EMPTY) OK(MPI_Group_free(group));
}

static void sets(void) {
  if (ranks < 4) return;
  static const int a_members[3] = {3, 1, 0}, b_members[3] = {2, 0, 3}, all[4] = {3, 1, 0, 2},
                   both[2] = {3, 0}, only[1] = {1};
  static const int sorted[3] = {0, 1, 3};
  MPI_Group a = of(3, a_members), b = of(3, b_members), c = of(3, sorted), got;
  is(a, 3, a_members);
  OK(MPI_Group_union(a, b, &got));
  is(got, 4, all);
  drop(&got);
  OK(MPI_Group_intersection(a, b, &got));
  is(got, 2, both);
  drop(&got);
  OK(MPI_Group_difference(a, b, &got));
  is(got, 1, only);
  drop(&got);
  OK(MPI_Group_difference(a, c, &got));
  CHECK_EQ(compare(got, MPI_GROUP_EMPTY), MPI_IDENT);
  drop(&got);
  CHECK_EQ(compare(a, c), MPI_SIMILAR);
  CHECK_EQ(compare(a, a), MPI_IDENT);
  CHECK_EQ(compare(a, b), MPI_UNEQUAL);
  static const int out[1] = {1}, left_over[2] = {3, 0};
  OK(MPI_Group_excl(a, 1, out, &got));
  is(got, 2, left_over);
  drop(&got);
  drop(&a);
  drop(&b);
  drop(&c);
}

static void ranges(void) {
  if (ranks < 4) return;
  int two[2][3] = {{3, 2, -1}, {0, 0, 1}}, one[1][3] = {{1, 3, 2}};
  static const int first[3] = {3, 2, 0};
  MPI_Group got;
  OK(MPI_Group_range_incl(world, 2, two, &got));
  is(got, 3, first);
  drop(&got);
  OK(MPI_Group_range_excl(world, 1, one, &got));
  int size, translated[2], from[2] = {1, 2};
  OK(MPI_Group_size(got, &size));
  CHECK_EQ(size, ranks - 2);
  OK(MPI_Group_translate_ranks(world, 2, from, got, translated));
  CHECK_EQ(translated[0], MPI_UNDEFINED);
  CHECK_EQ(translated[1], 1);
  drop(&got);
}

int main(int argc, char** argv) {
  begin("groups", &argc, &argv);
  OK(MPI_Comm_group(MPI_COMM_WORLD, &world));
  MPI_Group again, empty, self;
  int size, me;
  OK(MPI_Group_size(world, &size));
  OK(MPI_Group_rank(world, &me));
  CHECK(size == ranks && me == rank);
  OK(MPI_Comm_group(MPI_COMM_WORLD, &again));
  CHECK_EQ(compare(world, again), MPI_IDENT);
  OK(MPI_Group_incl(world, 0, NULL, &empty));
  CHECK_EQ(compare(empty, MPI_GROUP_EMPTY), MPI_IDENT);
  OK(MPI_Group_rank(MPI_GROUP_EMPTY, &me));
  CHECK_EQ(me, MPI_UNDEFINED);
  OK(MPI_Comm_group(MPI_COMM_SELF, &self));
  is(self, 1, &rank);
  OK(MPI_Group_free(&self));
  int null_rank = MPI_PROC_NULL, translated = 0;
  OK(MPI_Group_translate_ranks(world, 1, &null_rank, again, &translated));
  CHECK_EQ(translated, MPI_PROC_NULL);
  OK(MPI_Group_free(&again));
  CHECK(again == MPI_GROUP_NULL);
  sets();
  ranges();
  OK(MPI_Group_free(&world));
  return finish();
}
