/* Large messages, which may go from memory to memory: sizes about pages and limits, buffers at any address,
 * receives that are too short, gaps on either side, many at once, unexpected ones, a sender that is busy
 * elsewhere. */
#define _GNU_SOURCE
#include <signal.h>
#include <sys/mman.h>
#include <sys/uio.h>
#include <unistd.h>

#include "check.h"

enum { guard = 64, most = 5 << 20 };
static unsigned char *out_memory, *in_memory;
static int left, right;

static void paint(unsigned char* bytes, int count, int from, int tag) {
  uint32_t value = pattern((uint32_t)from, (uint32_t)tag, 1);
  for (int i = 0; i < count; i++) bytes[i] = (unsigned char)(value + (uint32_t)i * 7 + ((uint32_t)i >> 12));
}

static int painted(const unsigned char* bytes, int count, int from, int tag) {
  uint32_t value = pattern((uint32_t)from, (uint32_t)tag, 1);
  for (int i = 0; i < count; i++)
    if (bytes[i] != (unsigned char)(value + (uint32_t)i * 7 + ((uint32_t)i >> 12))) return 0;
  return 1;
}

static int untouched(const unsigned char* bytes) {
  for (int i = 0; i < guard; i++)
    if (bytes[i] != 0xee) return 0;
  return 1;
}

/* `changed`: of what was painted, this byte, if there is one. */
static void pass_on(const unsigned char* out, int bytes, unsigned char* in, int room, int tag, int changed) {
  MPI_Request request;
  MPI_Status status;
  int taken = bytes < room ? bytes : room, count = -1;
  memset(in - guard, 0xee, guard);
  memset(in + taken, 0xee, guard);
  OK(MPI_Irecv(in, room, MPI_BYTE, left, tag, MPI_COMM_WORLD, &request));
  OK(MPI_Send(out, bytes, MPI_BYTE, right, tag, MPI_COMM_WORLD));
  int code = MPI_Wait(&request, &status), class = MPI_SUCCESS;
  if (code != MPI_SUCCESS) MPI_Error_class(code, &class);
  CHECK_EQ(class, bytes > room ? MPI_ERR_TRUNCATE : MPI_SUCCESS);
  if (bytes <= room) {
    OK(MPI_Get_count(&status, MPI_BYTE, &count));
    CHECK_EQ(count, bytes);
    if (changed >= 0) in[changed] ^= 1;
    CHECK(painted(in, taken, left, tag));
  }
  CHECK(untouched(in - guard));
  CHECK(untouched(in + taken));
}

/* Round the ring, at places that are not aligned; `room` for what may be longer. Several times, for what has
 * not changed since may come another way; as may what has seemed so, and was not. */
static void once(int bytes, int room, int out_offset, int in_offset, int tag) {
  unsigned char* out = out_memory + out_offset;
  int middle = bytes / 2;
  paint(out, bytes, rank, tag);
  for (int times = 0; times < 5; times++) {
    if (times == 2) out[middle] ^= 1;
    pass_on(out, bytes, in_memory + guard + in_offset, room, tag, times < 2 ? -1 : middle);
  }
}

static void sizes(void) {
  static const int list[] = {32768,  65535,  65536,   65537,   69632,   69633,   98303,   131072,
                             131073, 262143, 1000003, 1048576, 2097151, 2097152, 3145729, 4194307};
  for (int i = 0; i < (int)(sizeof list / sizeof *list); i++) {
    once(list[i], list[i], 0, 0, 10 + i);
    once(list[i], list[i] + guard, 13 * i % 4096, 4001 * i % 4096, 30 + i);
  }
}

/* What does not fit is an error, writes nothing behind the buffer, and hurts nobody after it. */
static void too_short(void) {
  MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
  static const int rooms[] = {0, 1, 100, 4095, 65536, 70001, 299999};
  for (int i = 0; i < (int)(sizeof rooms / sizeof *rooms); i++) {
    once(300000, rooms[i], 5, 9, 100 + i);
    once(300000, 300000, 0, 0, 120 + i);
  }
  MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_ARE_FATAL);
}

/* Gaps at the sender, at the receiver, at both; the same bytes arrive. */
static void gaps(void) {
  enum { pieces = 3000, piece = 40, apart = 56 };
  MPI_Datatype type;
  OK(MPI_Type_vector(pieces, piece, apart, MPI_BYTE, &type));
  OK(MPI_Type_commit(&type));
  for (int way = 0; way < 4; way++) {
    int out_gaps = way & 1, in_gaps = way >> 1;
    paint(out_memory, pieces * apart, rank, 200 + way);
    memset(in_memory, 0xee, pieces * apart);
    OK(MPI_Sendrecv(out_memory, out_gaps ? 1 : pieces * piece, out_gaps ? type : MPI_BYTE, right, 200 + way,
                    in_memory, in_gaps ? 1 : pieces * piece, in_gaps ? type : MPI_BYTE, left, 200 + way,
                    MPI_COMM_WORLD, MPI_STATUS_IGNORE));
    paint(out_memory, pieces * apart, left, 200 + way);
    for (int i = 0; i < pieces * piece; i++) {
      int from = out_gaps ? i / piece * apart + i % piece : i;
      int to = in_gaps ? i / piece * apart + i % piece : i;
      if (in_memory[to] != out_memory[from]) CHECK(!"the bytes are those that were sent");
    }
    if (in_gaps) CHECK_EQ(in_memory[piece], 0xee);
  }
  OK(MPI_Type_free(&type));
}

/* More than either side has under way at a time, each of another size and with other bytes, some too long for
 * their receive; posted before and after they come. */
static void many(int posted_first) {
  enum { messages = 150, step = 65536 + 77, little = 40000 };
  static MPI_Request requests[2 * messages];
  static MPI_Status statuses[2 * messages];
  unsigned char* in =
      mmap(NULL, (size_t)messages * step, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  CHECK(in != MAP_FAILED);
  paint(out_memory, step + messages, rank, 300);
  MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
  for (int phase = 0; phase < 2; phase++)
    for (int i = 0; i < messages; i++)
      if ((phase == 0) == posted_first)
        OK(MPI_Irecv(in + (size_t)i * step, i % 7 == 6 ? little : step, MPI_BYTE, left, i % 3, MPI_COMM_WORLD,
                     &requests[i]));
      else
        OK(MPI_Isend(out_memory + i, step - i, MPI_BYTE, right, i % 3, MPI_COMM_WORLD,
                     &requests[messages + i]));
  /* The last first. */
  OK(MPI_Wait(&requests[2 * messages - 1], MPI_STATUS_IGNORE));
  CHECK_EQ(MPI_Waitall(2 * messages, requests, statuses), MPI_ERR_IN_STATUS);
  MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_ARE_FATAL);
  OK(MPI_Barrier(MPI_COMM_WORLD)); /* what is sent is painted over */
  paint(out_memory, step + messages, left, 300);
  for (int i = 0; i < messages; i++) {
    const unsigned char* at = in + (size_t)i * step;
    int is_short = i % 7 == 6, class = MPI_SUCCESS;
    if (statuses[i].MPI_ERROR != MPI_SUCCESS) MPI_Error_class(statuses[i].MPI_ERROR, &class);
    CHECK_EQ(class, is_short ? MPI_ERR_TRUNCATE : MPI_SUCCESS);
    CHECK(memcmp(at, out_memory + i, (size_t)(is_short ? little : step - i)) == 0);
    if (is_short) CHECK_EQ(at[little], 0);
  }
  munmap(in, (size_t)messages * step);
}

/* Messages that wait for their receive: seen by a probe, taken by a matched receive, by wildcards, in another
 * order. */
static void unexpected(void) {
  enum { bytes = 200000 };
  MPI_Request requests[4];
  MPI_Status status;
  MPI_Message message;
  int count = -1;
  unsigned char* out[4];
  for (int i = 0; i < 4; i++) {
    out[i] = out_memory + i * bytes;
    paint(out[i], bytes, rank, 400 + i);
    OK(MPI_Isend(out[i], bytes, MPI_BYTE, right, 400 + i, MPI_COMM_WORLD, &requests[i]));
  }
  OK(MPI_Probe(left, 402, MPI_COMM_WORLD, &status));
  OK(MPI_Get_count(&status, MPI_BYTE, &count));
  CHECK_EQ(count, bytes);
  OK(MPI_Recv(in_memory, bytes, MPI_BYTE, left, 403, MPI_COMM_WORLD, &status));
  CHECK(painted(in_memory, bytes, left, 403));
  OK(MPI_Mprobe(MPI_ANY_SOURCE, 401, MPI_COMM_WORLD, &message, &status));
  OK(MPI_Mrecv(in_memory, bytes, MPI_BYTE, &message, &status));
  CHECK(status_is(&status, left, 401, MPI_BYTE, bytes));
  CHECK(painted(in_memory, bytes, left, 401));
  for (int i = 0; i < 2; i++) {
    OK(MPI_Recv(in_memory, bytes, MPI_BYTE, MPI_ANY_SOURCE, MPI_ANY_TAG, MPI_COMM_WORLD, &status));
    CHECK(status.MPI_SOURCE == left && status.MPI_TAG == 400 + 2 * i);
    CHECK(painted(in_memory, bytes, left, 400 + 2 * i));
  }
  OK(MPI_Waitall(4, requests, MPI_STATUSES_IGNORE));
  OK(MPI_Barrier(MPI_COMM_WORLD)); /* nobody else's message comes before the wildcards have theirs */
}

static long resident_kib(void) {
  long kib = 0;
  char line[200];
  FILE* status = fopen("/proc/self/status", "r");
  CHECK(status != NULL);
  while (fgets(line, sizeof line, status)) sscanf(line, "VmRSS: %ld", &kib);
  fclose(status);
  return kib;
}

/* Many that wait for their receive, and have all been sent from one buffer, which does not change between
 * most of them: they take little memory. */
static void unexpected_again(void) {
  enum { bytes = 250000, count = 200 };
  static MPI_Request requests[count];
  int last = 0;
  paint(out_memory, bytes, rank, 600);
  OK(MPI_Sendrecv(out_memory, bytes, MPI_BYTE, right, 1, in_memory, bytes, MPI_BYTE, left, 1, MPI_COMM_WORLD,
                  MPI_STATUS_IGNORE));
  long before = resident_kib();
  for (int i = 0; i < count; i++)
    OK(MPI_Isend(out_memory, bytes, MPI_BYTE, right, 2, MPI_COMM_WORLD, &requests[i]));
  OK(MPI_Sendrecv(&last, 1, MPI_INT, right, 3, &last, 1, MPI_INT, left, 3, MPI_COMM_WORLD,
                  MPI_STATUS_IGNORE));
  CHECK(resident_kib() - before < count * (bytes / 1024) / 4);
  for (int i = 0; i < count; i++) {
    memset(in_memory, 0xee, bytes);
    OK(MPI_Recv(in_memory, bytes, MPI_BYTE, left, 2, MPI_COMM_WORLD, MPI_STATUS_IGNORE));
    CHECK(painted(in_memory, bytes, left, 600));
  }
  OK(MPI_Waitall(count, requests, MPI_STATUSES_IGNORE));
}

/* All to all at once, from memory that may not be written to. */
static void crossing(void) {
  enum { bytes = 90000, rounds = 10 };
  MPI_Request requests[20];
  if (ranks > 10) return;
  unsigned char* in = allocate((size_t)ranks * bytes);
  unsigned char* out = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  CHECK(out != MAP_FAILED);
  paint(out, bytes, rank, 500);
  CHECK(mprotect(out, bytes, PROT_READ) == 0);
  for (int round = 0; round < rounds; round++) {
    memset(in, 0, (size_t)ranks * bytes);
    for (int peer = 0; peer < ranks; peer++) {
      OK(MPI_Irecv(in + (size_t)peer * bytes, bytes, MPI_BYTE, peer, 1, MPI_COMM_WORLD, &requests[peer]));
      OK(MPI_Issend(out, bytes, MPI_BYTE, peer, 1, MPI_COMM_WORLD, &requests[ranks + peer]));
    }
    for (int done = 0; !done;) OK(MPI_Testall(2 * ranks, requests, &done, MPI_STATUSES_IGNORE));
    for (int peer = 0; peer < ranks; peer++) CHECK(painted(in + (size_t)peer * bytes, bytes, peer, 500));
  }
  munmap(out, bytes);
  free(in);
}

static volatile sig_atomic_t told;
static void be_told(int signal) {
  (void)signal;
  told = 1;
}

/* Whether ranks 0 and 1 share memory as MPI sees it. Nodes of a test may be processes of one machine, which
 * could reach each other's memory all the same. */
static int share_memory;

static void find_whether_memory_is_shared(void) {
  MPI_Comm near;
  MPI_Group world_group, near_group;
  int first_two[2] = {0, 1}, there[2];
  if (ranks < 2) return;
  OK(MPI_Comm_split_type(MPI_COMM_WORLD, MPI_COMM_TYPE_SHARED, 0, MPI_INFO_NULL, &near));
  OK(MPI_Comm_group(MPI_COMM_WORLD, &world_group));
  OK(MPI_Comm_group(near, &near_group));
  OK(MPI_Group_translate_ranks(world_group, 2, first_two, near_group, there));
  share_memory = there[0] != MPI_UNDEFINED && there[1] != MPI_UNDEFINED;
  OK(MPI_Group_free(&world_group));
  OK(MPI_Group_free(&near_group));
  OK(MPI_Comm_free(&near));
}

/* Whether a large message from this process can be copied from memory to memory. */
static int reaches(const long long place[2]) {
  if (!share_memory) return 0;
  char byte;
  struct iovec here = {&byte, 1}, there = {(void*)place[1], 1};
  return process_vm_readv((pid_t)place[0], &here, 1, &there, 1, 0) == 1;
}

/* Rank 0 is outside of MPI until rank 1 has the whole message, which it can take by itself if it reaches rank
 * 0. That it has it is told without MPI_Send, which would hand on what is large, too. */
static void busy_sender(void) {
  enum { bytes = 3000000 };
  if (ranks < 2 || rank > 1) return;
  if (rank == 0) {
    long long place[2] = {getpid(), (long long)out_memory};
    int reached;
    MPI_Request request;
    signal(SIGUSR1, be_told);
    paint(out_memory, bytes, 0, 600);
    OK(MPI_Send(place, 2, MPI_LONG_LONG, 1, 600, MPI_COMM_WORLD));
    OK(MPI_Recv(&reached, 1, MPI_INT, 1, 602, MPI_COMM_WORLD, MPI_STATUS_IGNORE));
    OK(MPI_Isend(out_memory, bytes, MPI_BYTE, 1, 601, MPI_COMM_WORLD, &request));
    while (reached && !told) usleep(200);
    OK(MPI_Wait(&request, MPI_STATUS_IGNORE));
  } else {
    long long place[2];
    OK(MPI_Recv(place, 2, MPI_LONG_LONG, 0, 600, MPI_COMM_WORLD, MPI_STATUS_IGNORE));
    int reached = reaches(place);
    OK(MPI_Send(&reached, 1, MPI_INT, 0, 602, MPI_COMM_WORLD));
    OK(MPI_Recv(in_memory, bytes, MPI_BYTE, 0, 601, MPI_COMM_WORLD, MPI_STATUS_IGNORE));
    CHECK(painted(in_memory, bytes, 0, 601 - 1));
    CHECK(kill((pid_t)place[0], SIGUSR1) == 0);
  }
}

/* Rank 1, which has more to receive than is under way at a time, is outside of MPI until rank 0 has copied
 * all that is: then it finds all of it over at once. */
static void busy_receiver(void) {
  enum { messages = 150, under_way = 64, bytes = 66000 };
  static MPI_Request requests[messages];
  unsigned char* in = NULL;
  if (ranks < 2 || rank > 1) return;
  if (rank == 0) {
    long long place[2];
    OK(MPI_Recv(place, 2, MPI_LONG_LONG, 1, 800, MPI_COMM_WORLD, MPI_STATUS_IGNORE));
    long long own[3] = {getpid(), (long long)out_memory, reaches(place)};
    OK(MPI_Send(own, 3, MPI_LONG_LONG, 1, 801, MPI_COMM_WORLD));
    paint(out_memory, bytes + messages, 0, 800);
    for (int i = 0; i < messages; i++)
      OK(MPI_Isend(out_memory + i, bytes, MPI_BYTE, 1, i == messages - 1 ? 803 : 802, MPI_COMM_WORLD,
                   &requests[i]));
    OK(MPI_Waitall(under_way, requests, MPI_STATUSES_IGNORE));
    CHECK(kill((pid_t)place[0], SIGUSR1) == 0);
  } else {
    long long place[2] = {getpid(), (long long)in_memory}, theirs[3];
    in = allocate((size_t)messages * bytes);
    told = 0;
    signal(SIGUSR1, be_told);
    OK(MPI_Send(place, 2, MPI_LONG_LONG, 0, 800, MPI_COMM_WORLD));
    OK(MPI_Recv(theirs, 3, MPI_LONG_LONG, 0, 801, MPI_COMM_WORLD, MPI_STATUS_IGNORE));
    int reached = theirs[2] && reaches(theirs);
    OK(MPI_Probe(0, 803, MPI_COMM_WORLD, MPI_STATUS_IGNORE));
    for (int i = 0; i < messages; i++)
      OK(MPI_Irecv(in + (size_t)i * bytes, bytes, MPI_BYTE, 0, i == messages - 1 ? 803 : 802, MPI_COMM_WORLD,
                   &requests[i]));
    while (reached && !told) usleep(200);
  }
  OK(MPI_Waitall(messages, requests, MPI_STATUSES_IGNORE));
  if (rank == 0) return;
  paint(out_memory, bytes + messages, 0, 800);
  for (int i = 0; i < messages; i++) CHECK(memcmp(in + (size_t)i * bytes, out_memory + i, bytes) == 0);
  free(in);
}

/* A request that is given up, and a large buffered send: both are whole when the program ends. */
static void given_up(void) {
  enum { bytes = 400000 };
  MPI_Request request;
  int size = bytes + MPI_BSEND_OVERHEAD;
  void *memory = allocate((size_t)size), *detached;
  paint(out_memory, bytes, rank, 700);
  OK(MPI_Isend(out_memory, bytes, MPI_BYTE, right, 700, MPI_COMM_WORLD, &request));
  OK(MPI_Request_free(&request));
  OK(MPI_Buffer_attach(memory, size));
  paint(out_memory + bytes, bytes, rank, 701);
  OK(MPI_Bsend(out_memory + bytes, bytes, MPI_BYTE, right, 701, MPI_COMM_WORLD));
  paint(out_memory + bytes, bytes, rank, 702); /* the copy counts */
  for (int tag = 701; tag >= 700; tag--) {
    OK(MPI_Recv(in_memory, bytes, MPI_BYTE, left, tag, MPI_COMM_WORLD, MPI_STATUS_IGNORE));
    CHECK(painted(in_memory, bytes, left, tag));
  }
  OK(MPI_Buffer_detach(&detached, &size));
  OK(MPI_Barrier(MPI_COMM_WORLD));
  free(memory);
}

int main(int argc, char** argv) {
  begin("p2p_direct", &argc, &argv);
  find_whether_memory_is_shared();
  left = (rank + ranks - 1) % ranks;
  right = (rank + 1) % ranks;
  out_memory = allocate(most + 8192);
  in_memory = allocate(most + 8192);
  sizes();
  too_short();
  gaps();
  many(1);
  many(0);
  unexpected();
  unexpected_again();
  crossing();
  busy_sender();
  busy_receiver();
  given_up();
  free(out_memory);
  free(in_memory);
  return finish();
}
