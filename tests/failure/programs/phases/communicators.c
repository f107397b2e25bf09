/* Communicators that are made and freed while messages are under way on them, their groups and attributes. */
#include "phases.h"

enum { places = 6 };
static Members members[places]; /* the first one stays MPI_COMM_WORLD */
static int copies, deletions, keyval;

Members members_of(MPI_Comm comm) {
  Members all = {comm, 0, 0, {0}};
  if (comm == MPI_COMM_NULL) return all;
  MPI_Group group, world;
  int order[ranks_most];
  MPI_Comm_size(comm, &all.size);
  MPI_Comm_rank(comm, &all.me);
  MPI_Comm_group(comm, &group);
  MPI_Comm_group(MPI_COMM_WORLD, &world);
  for (int i = 0; i < all.size; i++) order[i] = i;
  MPI_Group_translate_ranks(group, all.size, order, world, all.world);
  MPI_Group_free(&group);
  MPI_Group_free(&world);
  CHECK(all.world[all.me] == rank);
  return all;
}

static MPI_Comm split(void) {
  MPI_Comm made;
  int colours[ranks_most], keys[ranks_most], size = 0;
  for (int i = 0; i < ranks; i++) {
    colours[i] = (int)draw(3);
    keys[i] = (int)draw(5);
  }
  int mine = colours[rank] == 2 && draw(2) ? MPI_UNDEFINED : colours[rank];
  for (int i = 0; i < ranks; i++) size += colours[i] == colours[rank];
  MPI_Comm_split(MPI_COMM_WORLD, mine, keys[rank], &made);
  CHECK((made == MPI_COMM_NULL) == (mine == MPI_UNDEFINED));
  if (made == MPI_COMM_NULL) return made;
  Members all = members_of(made);
  CHECK(all.size == size);
  for (int i = 1; i < size; i++)
    CHECK(keys[all.world[i]] > keys[all.world[i - 1]] ||
          (keys[all.world[i]] == keys[all.world[i - 1]] && all.world[i] > all.world[i - 1]));
  return made;
}

/* Of some ranks, in any order. */
static MPI_Comm create(int by_group) {
  int some[ranks_most], count = 1 + (int)draw((uint64_t)ranks), first = (int)draw((uint64_t)ranks), in_it = 0;
  MPI_Group world, group;
  MPI_Comm made = MPI_COMM_NULL;
  for (int i = 0; i < count; i++) {
    some[i] = (first + i) % ranks;
    in_it |= some[i] == rank;
  }
  MPI_Comm_group(MPI_COMM_WORLD, &world);
  MPI_Group_incl(world, count, some, &group);
  if (!by_group)
    MPI_Comm_create(MPI_COMM_WORLD, group, &made);
  else if (in_it)
    MPI_Comm_create_group(MPI_COMM_WORLD, group, tag_of(0), &made);
  MPI_Group_free(&group);
  MPI_Group_free(&world);
  CHECK((made != MPI_COMM_NULL) == in_it);
  return made;
}

static MPI_Comm duplicate(const Members* of, int nonblocking) {
  MPI_Comm made = MPI_COMM_NULL;
  if (of->comm == MPI_COMM_NULL) return made;
  if (!nonblocking) {
    MPI_Comm_dup(of->comm, &made);
  } else {
    MPI_Request request;
    MPI_Comm_idup(of->comm, &made, &request);
    linger();
    MPI_Wait(&request, MPI_STATUS_IGNORE);
  }
  return made;
}

static MPI_Comm make_communicator(const Members* from) {
  switch (draw(6)) {
    case 0:
      return duplicate(from, 0);
    case 1:
      return duplicate(from, 1);
    case 2:
      return create(0);
    case 3:
      return create(1);
    default:
      return split();
  }
}

/* What is under way on the old one goes on. Certain phases are on communicators that follow from the seed. */
void remake_communicator(void) {
  if (!phase.certain) return;
  Members* place = &members[1 + draw(places - 1)];
  const Members* from = draw_members();
  MPI_Comm made = make_communicator(from), old = place->comm;
  *place = members_of(made);
  if (is_mpich) settle_all(); /* under MPICH 4.0 collectives under way do not survive their communicator */
  if (old != MPI_COMM_NULL) MPI_Comm_free(&old);
}

const Members* draw_members(void) { return draw(3) ? &members[draw(places)] : &members[0]; }

static int copy_attribute(MPI_Comm comm, int key, void* extra, void* in, void* out, int* flag) {
  (void)comm, (void)key, (void)extra;
  copies++;
  *(void**)out = (char*)in + 1;
  *flag = 1;
  return MPI_SUCCESS;
}

static int delete_attribute(MPI_Comm comm, int key, void* value, void* extra) {
  (void)comm, (void)key, (void)value, (void)extra;
  deletions++;
  return MPI_SUCCESS;
}

void attributes(void) {
  const Members* where = draw_members();
  static char values[10];
  void* found;
  int flag;
  MPI_Comm copy;
  if (where->comm == MPI_COMM_NULL) return;
  copies = deletions = 0;
  MPI_Comm_set_attr(where->comm, keyval, values);
  MPI_Comm_dup(where->comm, &copy);
  MPI_Comm_get_attr(copy, keyval, &found, &flag);
  CHECK(flag && found == values + 1 && copies == 1);
  MPI_Comm_free(&copy);
  MPI_Comm_delete_attr(where->comm, keyval);
  CHECK(deletions == 2);
}

void groups(void) {
  MPI_Group world, some, others, all, none;
  int wanted[ranks_most], size, compared;
  int count = (int)draw((uint64_t)ranks + 1);
  for (int i = 0; i < count; i++) wanted[i] = i;
  MPI_Comm_group(MPI_COMM_WORLD, &world);
  MPI_Group_incl(world, count, wanted, &some);
  MPI_Group_difference(world, some, &others);
  MPI_Group_union(some, others, &all);
  MPI_Group_intersection(some, others, &none);
  MPI_Group_compare(all, world, &compared);
  CHECK(compared == MPI_IDENT);
  MPI_Group_size(others, &size);
  CHECK(size == ranks - count);
  MPI_Group_size(none, &size);
  CHECK(size == 0);
  MPI_Group_free(&all);
  if (count > 0) MPI_Group_free(&some);
  if (count < ranks) MPI_Group_free(&others);
  MPI_Group_free(&world);
}

void begin_communicators(void) {
  MPI_Comm_create_keyval(copy_attribute, delete_attribute, &keyval, NULL);
  members[0] = members_of(MPI_COMM_WORLD);
  for (int i = 1; i < places; i++) members[i] = members_of(MPI_COMM_NULL);
}

void end_communicators(void) {
  for (int i = 1; i < places; i++)
    if (members[i].comm != MPI_COMM_NULL) MPI_Comm_free(&members[i].comm);
  MPI_Comm_free_keyval(&keyval);
}
