/* Collectives whose members disagree about lengths: who is given more than fits gets MPI_ERR_TRUNCATE, and
 * nothing behind its buffer; nobody gets wrong data without being told. Lengths lie around what the library
 * may cut data into (64 KiB), and where it may go other ways. */
#include "check.h"

enum { good = MPI_SUCCESS, too_long = MPI_ERR_TRUNCATE, other = MPI_ERR_ARG, any_error = -1, anything = -2 };
enum { KiB = 1024, part_max = 256 * KiB, guard = 4096 };

static MPI_Comm comm;
static char *given, *taken;
static int last_code;
static char last_text[MPI_MAX_ERROR_STRING];

static int class_of(int code) {
  int class = -1;
  OK(MPI_Error_class(code, &class));
  return class;
}

static void open_case(void) {
  OK(MPI_Comm_dup(MPI_COMM_WORLD, &comm));
  OK(MPI_Comm_set_errhandler(comm, MPI_ERRORS_RETURN));
  const size_t bytes = (size_t)ranks * part_max + guard;
  memset(given, 1 + rank, bytes);
  memset(taken, 0x77, bytes);
}

/* Every member goes on to another call, so that those notice who still wait; nobody is left behind. */
static void close_case(const char* what, int code, int expected) {
  int length;
  last_code = class_of(code);
  OK(MPI_Error_string(code, last_text, &length));
  MPI_Barrier(comm);
  OK(MPI_Comm_free(&comm));
  OK(MPI_Barrier(MPI_COMM_WORLD));
  if (expected == anything || (expected == any_error && last_code != good) || expected == last_code) return;
  fprintf(stderr, "rank %d of %d: %s: class %d (%s), not %d\n", rank, ranks, what, last_code, last_text,
          expected);
  CHECK(expected == last_code);
}

#define CASE(call, expected)              \
  do {                                    \
    open_case();                          \
    int code_ = (call);                   \
    close_case(#call, code_, (expected)); \
  } while (0)

/* Nothing was written from `bytes` on. */
static void untouched_from(size_t bytes) {
  const size_t end = (size_t)ranks * part_max + guard;
  for (size_t at = bytes; at < end; at++)
    if (taken[at] != 0x77) CHECK_EQ(at, end);
}

/* Both lengths are in the text. */
static void names(int from, int one, int two) {
  char number[100];
  snprintf(number, sizeof number, "rank %d of the communicator gives %d bytes", from, one);
  if (strstr(last_text, number) == NULL) fprintf(stderr, "%s\n", last_text);
  CHECK(strstr(last_text, number) != NULL);
  snprintf(number, sizeof number, "rank %d expects %d", rank, two);
  CHECK(strstr(last_text, number) != NULL);
}

/* The root gives `sent` bytes, the others have room for `room`. */
static void broadcasts(int sent, int room) {
  const int misfit = sent > room ? too_long : other;
  char* data = rank == 0 ? given : taken;
  CASE(MPI_Bcast(data, rank == 0 ? sent : room, MPI_BYTE, 0, comm), rank == 0 ? anything : misfit);
  if (rank != 0) untouched_from((size_t)room), names(0, sent, room);

  MPI_Request request;
  open_case();
  OK(MPI_Ibcast(data, rank == 0 ? sent : room, MPI_BYTE, 0, comm, &request));
  close_case("Ibcast", MPI_Wait(&request, MPI_STATUS_IGNORE), rank == 0 ? anything : misfit);
  if (rank != 0) untouched_from((size_t)room), names(0, sent, room);
}

static void persistent_broadcasts(int sent, int room) {
  char* data = rank == 0 ? given : taken;
  MPI_Request request;
  open_case();
  OK(MPI_Bcast_init(data, rank == 0 ? sent : room, MPI_BYTE, 0, comm, MPI_INFO_NULL, &request));
  for (int round = 0; round < 2; round++) {
    OK(MPI_Start(&request));
    const int code = MPI_Wait(&request, MPI_STATUS_IGNORE);
    CHECK_EQ(class_of(code), rank == 0 ? good : too_long);
    if (rank != 0) untouched_from((size_t)room);
  }
  OK(MPI_Request_free(&request));
  close_case("Barrier", MPI_Barrier(comm), good);
}

/* The last rank gives `sent` bytes, the others and the root mean `room` for each. */
static void gathers(int sent, int room) {
  const int odd = ranks - 1, misfit = sent > room ? too_long : other;
  CASE(MPI_Gather(given, rank == odd ? sent : room, MPI_BYTE, taken, room, MPI_BYTE, 0, comm),
       rank == 0 ? misfit : anything);
  if (rank == 0) untouched_from((size_t)ranks * (size_t)room);
  if (rank == 0 && ranks == 2) names(odd, sent, room);

  int* counts = allocate(sizeof(int) * (size_t)ranks);
  int* places = allocate(sizeof(int) * (size_t)ranks);
  for (int r = 0; r < ranks; r++) counts[r] = room, places[r] = r * room;
  const int later = sent == 0 || room == 0;
  CASE(MPI_Gatherv(given, rank == odd ? sent : room, MPI_BYTE, taken, counts, places, MPI_BYTE, 0, comm),
       later       ? anything
       : rank == 0 ? misfit
                   : good);
  if (rank == 0) untouched_from((size_t)ranks * (size_t)room);
  if (rank == 0 && !later) names(odd, sent, room);
  free(counts), free(places);
}

/* The root gives `sent` bytes to each, the last rank has room for `room`. */
static void scatters(int sent, int room) {
  const int odd = ranks - 1, misfit = sent > room ? too_long : other;
  CASE(MPI_Scatter(given, sent, MPI_BYTE, taken, rank == odd ? room : sent, MPI_BYTE, 0, comm),
       rank == odd ? misfit : anything);
  if (rank == odd) untouched_from((size_t)room);
  if (rank == odd && ranks == 2) names(0, sent, room);

  int* counts = allocate(sizeof(int) * (size_t)ranks);
  int* places = allocate(sizeof(int) * (size_t)ranks);
  for (int r = 0; r < ranks; r++) counts[r] = sent, places[r] = r * sent;
  const int later = sent == 0 || room == 0;
  CASE(MPI_Scatterv(given, counts, places, MPI_BYTE, taken, rank == odd ? room : sent, MPI_BYTE, 0, comm),
       later         ? anything
       : rank == odd ? misfit
                     : good);
  if (rank == odd) untouched_from((size_t)room);
  if (rank == odd && !later) names(0, sent, room);
  free(counts), free(places);
}

/* The last rank gives `sent` bytes where all expect `room`; what it expects itself is `own_room`. */
static void all_to_all(int sent, int room, int own_room) {
  const int odd = ranks - 1, misfit = sent > room ? too_long : other;
  const int give = rank == odd ? sent : room, take = rank == odd ? own_room : room;
  /* Less than it expects of itself is no harm. */
  const int oneself = own_room == room && sent < room ? anything : any_error;
  CASE(MPI_Allgather(given, give, MPI_BYTE, taken, take, MPI_BYTE, comm), rank == odd ? oneself : misfit);
  untouched_from((size_t)ranks * (size_t)take);
  CASE(MPI_Alltoall(given, give, MPI_BYTE, taken, take, MPI_BYTE, comm), rank == odd ? oneself : misfit);
  untouched_from((size_t)ranks * (size_t)take);
  /* From one's neighbour alone. */
  int* counts = allocate(sizeof(int) * 4 * (size_t)ranks);
  int *wanted = counts + ranks, *from = wanted + ranks, *to = from + ranks;
  for (int r = 0; r < ranks; r++) {
    counts[r] = rank == odd && r == 0 ? sent : room;
    wanted[r] = room;
    from[r] = to[r] = r * room;
  }
  const int later = sent == 0 || room == 0;
  CASE(MPI_Alltoallv(given, counts, from, MPI_BYTE, taken, wanted, to, MPI_BYTE, comm), later       ? anything
                                                                                        : rank == 0 ? misfit
                                                                                                    : good);
  untouched_from((size_t)ranks * (size_t)room);
  if (rank == 0 && !later) names(odd, sent, room);
  free(counts);
}

/* What a process gives to itself is longer than what it expects. */
static void to_oneself(int sent, int room) {
  const int root = ranks - 1;
  int* counts = allocate(sizeof(int) * (size_t)ranks);
  int* places = allocate(sizeof(int) * (size_t)ranks);
  for (int r = 0; r < ranks; r++) counts[r] = room, places[r] = r * room;
  CASE(MPI_Gather(given, rank == root ? sent : room, MPI_BYTE, taken, room, MPI_BYTE, root, comm),
       rank == root ? too_long : good);
  untouched_from((size_t)ranks * (size_t)room);
  CASE(MPI_Gatherv(given, rank == root ? sent : room, MPI_BYTE, taken, counts, places, MPI_BYTE, root, comm),
       rank == root ? too_long : good);
  CASE(MPI_Scatter(given, sent, MPI_BYTE, taken, rank == root ? room : sent, MPI_BYTE, root, comm),
       rank == root ? too_long : good);
  untouched_from((size_t)(rank == root ? room : sent));
  free(counts), free(places);
}

/* All but the last rank contribute `bytes`, that one `odd_bytes`. */
static void reductions(int bytes, int odd_bytes) {
  const int count = (rank == ranks - 1 ? odd_bytes : bytes) / 4;
  const int longer = odd_bytes > bytes ? too_long : other;
  CASE(MPI_Allreduce(given, taken, count, MPI_INT, MPI_SUM, comm), any_error);
  CASE(MPI_Reduce(given, taken, count, MPI_INT, MPI_SUM, 0, comm), rank == 0 ? longer : anything);
  if (rank == 0 && ranks == 2) names(1, odd_bytes / 4 * 4, bytes / 4 * 4);
  CASE(MPI_Scan(given, taken, count, MPI_INT, MPI_SUM, comm), rank == ranks - 1 ? any_error : good);
  CASE(MPI_Exscan(given, taken, count, MPI_INT, MPI_SUM, comm), rank == ranks - 1 ? any_error : good);
  MPI_Request request;
  open_case();
  OK(MPI_Iallreduce(given, taken, count, MPI_INT, MPI_SUM, comm, &request));
  close_case("Iallreduce", MPI_Wait(&request, MPI_STATUS_IGNORE), any_error);
}

/* Each gets `bytes` of the result; the last rank means `odd_bytes`. */
static void reduce_scatters(int bytes, int odd_bytes) {
  CASE(MPI_Reduce_scatter_block(given, taken, (rank == ranks - 1 ? odd_bytes : bytes) / 4, MPI_INT, MPI_SUM,
                                comm),
       any_error);
  /* As much in sum, dealt out otherwise. */
  int* counts = allocate(sizeof(int) * (size_t)ranks);
  for (int r = 0; r < ranks; r++) counts[r] = (bytes + odd_bytes) / 8;
  counts[0] = (rank == ranks - 1 ? odd_bytes : bytes) / 4;
  counts[ranks - 1] = (rank == ranks - 1 ? bytes : odd_bytes) / 4;
  CASE(MPI_Reduce_scatter(given, taken, counts, MPI_INT, MPI_SUM, comm),
       ranks == 2 || rank == 0 || rank == ranks - 1 ? any_error : anything);
  free(counts);
}

/* Nothing in place of something, and the other way round. */
static void nothing(int bytes) {
  broadcasts(bytes, 0), broadcasts(0, bytes);
  gathers(bytes, 0), gathers(0, bytes);
  scatters(bytes, 0), scatters(0, bytes);
  all_to_all(bytes, 0, 0), all_to_all(0, bytes, bytes);
}

/* Who expects nothing from one of several that may give nothing is told with the next that it takes from it.
 */
static void nothing_expected(int sent) {
  int* counts = allocate(sizeof(int) * 2 * (size_t)ranks);
  int* none = counts + ranks;
  counts[0] = rank == ranks - 1 ? sent : 0;
  open_case();
  OK(MPI_Alltoallv(given, counts, none, MPI_BYTE, taken, none, none, MPI_BYTE, comm));
  untouched_from(0);
  close_case("Barrier after Alltoallv", MPI_Barrier(comm), rank == 0 ? too_long : good);
  if (rank == 0) names(ranks - 1, sent, 0);
  free(counts);
}

/* A reduction of nothing counts as a call, too. */
static void nothing_given(void) {
  open_case();
  int sum = -1;
  int code = MPI_Allreduce(&rank, &sum, rank == 0 ? 0 : 1, MPI_INT, MPI_SUM, comm);
  if (rank == 0) code = MPI_Allreduce(&rank, &sum, 1, MPI_INT, MPI_SUM, comm);
  close_case("Allreduce of nothing", code, rank == 0 ? anything : any_error);
}

/* Between groups: even and odd ranks. */
static void between_groups(int sent, int room) {
  MPI_Comm half, inter;
  OK(MPI_Comm_split(MPI_COMM_WORLD, rank % 2, rank, &half));
  OK(MPI_Intercomm_create(half, 0, MPI_COMM_WORLD, 1 - rank % 2, 1, &inter));
  OK(MPI_Comm_set_errhandler(inter, MPI_ERRORS_RETURN));
  const int misfit = sent > room ? too_long : other;
  const int root = rank % 2 == 1 ? 0 : rank == 0 ? MPI_ROOT : MPI_PROC_NULL;
  char* data = rank == 0 ? given : taken;
  open_case();
  int code = MPI_Bcast(data, rank == 0 ? sent : room, MPI_BYTE, root, inter);
  close_case("Bcast between groups", code, rank % 2 == 1 ? misfit : good);
  if (rank % 2 == 1) untouched_from((size_t)room);
  open_case();
  code = MPI_Allreduce(given, taken, (rank == 0 ? sent : room) / 4, MPI_INT, MPI_SUM, inter);
  close_case("Allreduce between groups", code, rank % 2 == 1 || rank == 0 ? any_error : anything);
  OK(MPI_Comm_free(&inter));
  OK(MPI_Comm_free(&half));
}

/* Along a ring; rank 0 gives `sent` to its right, where `room` is expected. */
static void neighbours(int sent, int room) {
  MPI_Comm ring;
  int wrap = 1;
  OK(MPI_Cart_create(MPI_COMM_WORLD, 1, &ranks, &wrap, 0, &ring));
  OK(MPI_Comm_set_errhandler(ring, MPI_ERRORS_RETURN));
  int counts[2] = {8, rank == 0 ? sent : room}, from[2] = {0, 16}, wanted[2] = {room, 8}, to[2] = {0, room};
  open_case();
  int code = MPI_Neighbor_alltoallv(given, counts, from, MPI_BYTE, taken, wanted, to, MPI_BYTE, ring);
  close_case("Neighbor_alltoallv", code, rank != 1 ? good : sent > room ? too_long : other);
  untouched_from((size_t)room + 8);
  OK(MPI_Comm_free(&ring));
}

int main(int argc, char** argv) {
  begin("coll_lengths", &argc, &argv);
  given = allocate((size_t)ranks * part_max + guard);
  taken = allocate((size_t)ranks * part_max + guard);
  if (is_strict()) {
    to_oneself(64, 40);
    to_oneself(256 * KiB, 128 * KiB);
  }
  if (ranks > 1 && is_strict()) {
    /* The same piece comes first; what describes a large one is as long as a small one. */
    static const int pairs[][2] = {
        {128 * KiB, 64 * KiB}, {192 * KiB, 128 * KiB}, {48, 40},       {100, 48},
        {64 * KiB, 48},        {64 * KiB, 24},         {64 * KiB, 40}, {16 * KiB, 8 * KiB}};
    for (int i = 0; i < (int)(sizeof pairs / sizeof pairs[0]); i++)
      for (int way = 0; way < 2; way++) {
        const int more = pairs[i][way], less = pairs[i][1 - way];
        broadcasts(more, less);
        gathers(more, less);
        scatters(more, less);
        all_to_all(more, less, less);
        all_to_all(more, less, more);
        reductions(more, less);
        reduce_scatters(more, less);
        if (i < 2) neighbours(more, less), between_groups(more, less);
      }
    persistent_broadcasts(128 * KiB, 64 * KiB);
    persistent_broadcasts(100, 48);
    nothing(8);
    nothing(64 * KiB);
    nothing_expected(8);
    nothing_expected(128 * KiB);
    nothing_given();
  }
  free(given), free(taken);
  return finish();
}
