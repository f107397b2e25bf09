/* Receives from anybody: who is first is witnessed. */
#include "phases.h"

enum { numbers_most = 70000 };

/* What each sends: its rank, the how-manieth it is, then bytes that follow from these. */
typedef struct {
  int from, index;
  unsigned char bytes[numbers_most];
} Parcel;

static int parcel_bytes(int from, int index) {
  static const uint64_t most[] = {60, 60, 60, 60, 2200, 2200, 10000, numbers_most};
  return 8 + (int)(value_of(from, index, 8) % most[value_of(from, index, 7) % 8]);
}

static void make_parcel(Parcel* parcel, int from, int index) {
  parcel->from = from;
  parcel->index = index;
  write_bytes(parcel->bytes, value_of(from, index, 9), 0, (size_t)parcel_bytes(from, index) - 8);
}

static void check_parcel(const Parcel* parcel, MPI_Status* status, int from, int index) {
  static Parcel expected;
  int bytes;
  make_parcel(&expected, from, index);
  MPI_Get_count(status, MPI_BYTE, &bytes);
  CHECK(bytes == parcel_bytes(from, index));
  CHECK(memcmp(parcel, &expected, (size_t)bytes) == 0);
  if (phase.certain) count_in(mix(value_of(from, index, 9), 1));
}

static void send_parcel(const Members* where, int leader, int index, int tag) {
  static Parcel parcel;
  int from = where->world[where->me], bytes = parcel_bytes(from, index);
  make_parcel(&parcel, from, index);
  linger();
  if (own(3) == 0)
    MPI_Ssend(&parcel, bytes, MPI_BYTE, leader, tag, where->comm);
  else
    MPI_Send(&parcel, bytes, MPI_BYTE, leader, tag, where->comm);
}

static void take(const Members* where, int tag, Parcel* parcel, MPI_Status* status) {
  MPI_Message message;
  MPI_Request request;
  int there = 0;
  uint64_t times = 0;
  switch (own(6)) {
    case 4: /* the one that was found, but for Open MPI, which may take another one */
      MPI_Probe(MPI_ANY_SOURCE, tag, where->comm, status);
      int found = status->MPI_SOURCE;
      MPI_Recv(parcel, sizeof *parcel, MPI_BYTE, MPI_ANY_SOURCE, tag, where->comm, status);
#ifndef OPEN_MPI
      CHECK(status->MPI_SOURCE == found);
#else
      (void)found;
#endif
      break;
    case 0:
      MPI_Probe(MPI_ANY_SOURCE, tag, where->comm, status);
      MPI_Recv(parcel, sizeof *parcel, MPI_BYTE, status->MPI_SOURCE, status->MPI_TAG, where->comm, status);
      break;
    case 1:
      for (; !there; times++) MPI_Iprobe(MPI_ANY_SOURCE, tag, where->comm, &there, status);
      MPI_Recv(parcel, sizeof *parcel, MPI_BYTE, status->MPI_SOURCE, status->MPI_TAG, where->comm, status);
      break;
    case 2:
      for (; !there; times++) MPI_Improbe(MPI_ANY_SOURCE, tag, where->comm, &there, &message, status);
      MPI_Mrecv(parcel, sizeof *parcel, MPI_BYTE, &message, status);
      break;
    case 3:
      MPI_Irecv(parcel, sizeof *parcel, MPI_BYTE, MPI_ANY_SOURCE, tag, where->comm, &request);
      for (; !there; times++) MPI_Test(&request, &there, status);
      break;
    default:
      MPI_Recv(parcel, sizeof *parcel, MPI_BYTE, MPI_ANY_SOURCE, tag, where->comm, status);
  }
  witness(times);
}

/* One takes what all others send, whoever comes first; of each sender in order. */
static void crowd_on(const Members* where, int any_tag_too) {
  int leader = (int)draw((uint64_t)where->size), each = 1 + (int)draw(6), seen[ranks_most] = {0};
  if (where->me != leader) {
    for (int i = 0; i < each; i++) send_parcel(where, leader, i, tag_of(any_tag_too ? i : 0));
    return;
  }
  for (int left = each * (where->size - 1); left > 0; left--) {
    static Parcel parcel;
    MPI_Status status;
    take(where, any_tag_too ? MPI_ANY_TAG : tag_of(0), &parcel, &status);
    int source = status.MPI_SOURCE;
    CHECK(source >= 0 && source < where->size);
    CHECK(status.MPI_TAG == tag_of(any_tag_too ? seen[source] : 0));
    check_parcel(&parcel, &status, where->world[source], seen[source]++);
    witness((uint64_t)source);
  }
}

void crowd(void) {
  const Members* where = draw_members();
  if (where->comm != MPI_COMM_NULL) crowd_on(where, 0);
}

/* On a communicator of its own, as any tag matches everything. */
void any_tag(void) {
  const Members* where = draw_members();
  if (where->comm == MPI_COMM_NULL) return;
  Members own_one = *where;
  MPI_Comm_dup(where->comm, &own_one.comm);
  crowd_on(&own_one, 1);
  MPI_Comm_free(&own_one.comm);
}

/* A receive that is cancelled while its message may be on its way: either may be. */
void cancelled(void) {
  const Members* where = draw_members();
  MPI_Request request;
  MPI_Status status;
  int never, given_up, nothing = 0;
  if (where->comm == MPI_COMM_NULL) return;
  MPI_Irecv(&never, 1, MPI_INT, MPI_ANY_SOURCE, tag_of(1), where->comm, &request);
  int one = (int)draw((uint64_t)where->size), other = (one + 1) % where->size;
  if (where->me == one && where->size > 1) MPI_Send(&one, 1, MPI_INT, other, tag_of(0), where->comm);
  if (where->me == other && where->size > 1) {
    MPI_Request racing;
    MPI_Irecv(&nothing, 1, MPI_INT, own(2) ? one : MPI_ANY_SOURCE, tag_of(0), where->comm, &racing);
    linger();
    MPI_Cancel(&racing);
    MPI_Wait(&racing, &status);
    MPI_Test_cancelled(&status, &given_up);
    witness((uint64_t)given_up);
    if (given_up) MPI_Recv(&nothing, 1, MPI_INT, one, tag_of(0), where->comm, &status);
    CHECK(nothing == one && status.MPI_SOURCE == one);
  }
  MPI_Cancel(&request);
  MPI_Wait(&request, &status);
  MPI_Test_cancelled(&status, &given_up);
  CHECK(given_up);
}

/* Messages that are matched now and received later, in another order. */
void matched(void) {
  enum { each_most = 4 };
  const Members* where = draw_members();
  int each = 1 + (int)draw(each_most), order[each_most * ranks_most], seen[ranks_most] = {0};
  int from[each_most * ranks_most], index[each_most * ranks_most];
  MPI_Message held[each_most * ranks_most];
  MPI_Status status;
  if (where->comm == MPI_COMM_NULL) return;
  int leader = (int)draw((uint64_t)where->size), many = each * (where->size - 1);
  if (where->me != leader) {
    for (int i = 0; i < each; i++) send_parcel(where, leader, i, tag_of(0));
    return;
  }
  Parcel* parcel = allocate(sizeof *parcel);
  for (int i = 0; i < many; i++) {
    int there = 0;
    uint64_t times = 0;
    /* An MPI_Ssend is over when its message is received: then the sender's next one cannot be waited for
     * here. */
    for (; !there && times < 200; times++)
      MPI_Improbe(MPI_ANY_SOURCE, tag_of(0), where->comm, &there, &held[i], &status);
    witness(times);
    if (!there) {
      many = i;
      break;
    }
    from[i] = status.MPI_SOURCE;
    index[i] = seen[from[i]]++;
    witness((uint64_t)from[i]);
  }
  for (int i = 0; i < many; i++) order[i] = i;
  shuffle(order, many);
  for (int i = 0; i < many; i++) {
    int which = order[i];
    MPI_Request request;
    if (own(2)) {
      MPI_Mrecv(parcel, sizeof *parcel, MPI_BYTE, &held[which], &status);
    } else {
      MPI_Imrecv(parcel, sizeof *parcel, MPI_BYTE, &held[which], &request);
      MPI_Wait(&request, &status);
    }
    CHECK(status.MPI_SOURCE == from[which]);
    check_parcel(parcel, &status, where->world[from[which]], index[which]);
  }
  for (int left = each * (where->size - 1) - many; left > 0; left--) {
    MPI_Recv(parcel, sizeof *parcel, MPI_BYTE, MPI_ANY_SOURCE, tag_of(0), where->comm, &status);
    witness((uint64_t)status.MPI_SOURCE);
    check_parcel(parcel, &status, where->world[status.MPI_SOURCE], seen[status.MPI_SOURCE]++);
  }
  free(parcel);
}

/* A send that is given up while its receive may be on its way; the receiver is told whether it comes. */
void cancelled_send(void) {
  const Members* where = draw_members();
  int given_up, value = (int)draw(1000), got;
  if (where->comm == MPI_COMM_NULL || where->size < 2) return;
  int one = (int)draw((uint64_t)where->size), other = (one + 1) % where->size;
  if (where->me == one) {
    MPI_Request request;
    MPI_Status status;
    MPI_Issend(&value, 1, MPI_INT, other, tag_of(0), where->comm, &request);
    linger();
    MPI_Cancel(&request);
    MPI_Wait(&request, &status);
    MPI_Test_cancelled(&status, &given_up);
    witness((uint64_t)given_up);
    MPI_Send(&given_up, 1, MPI_INT, other, tag_of(1), where->comm);
  } else if (where->me == other) {
    MPI_Request request;
    MPI_Status status;
    int taken;
    MPI_Irecv(&got, 1, MPI_INT, one, tag_of(0), where->comm, &request);
    MPI_Recv(&given_up, 1, MPI_INT, one, tag_of(1), where->comm, MPI_STATUS_IGNORE);
    if (given_up) MPI_Cancel(&request);
    MPI_Wait(&request, &status);
    MPI_Test_cancelled(&status, &taken);
    CHECK(taken == given_up && (given_up || got == value));
  }
}
