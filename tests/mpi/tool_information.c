/* The tool information interface (MPI 3.1, 14.3): before, with and after MPI; the library's own variables. */
#include "check.h"

static int index_of(const char* name) {
  int index = -1;
  OK(MPI_T_pvar_get_index(name, MPI_T_PVAR_CLASS_COUNTER, &index));
  return index;
}

static void without(void) {
  int count;
  CHECK_EQ(MPI_T_cvar_get_num(&count), MPI_T_ERR_NOT_INITIALIZED);
  CHECK_EQ(MPI_T_finalize(), MPI_T_ERR_NOT_INITIALIZED);
}

/* Names, and what is said of each variable. */
static void descriptions(void) {
  int count = 0, index = -1;
  char name[200], text[2000], item[50];
  OK(MPI_T_cvar_get_num(&count));
  CHECK(count > 0);
  for (int i = 0; i < count; i++) {
    int name_length = sizeof name, text_length = sizeof text, verbosity = 0, bind = 0, scope = 0, items = 0;
    MPI_Datatype type;
    MPI_T_enum enumeration;
    OK(MPI_T_cvar_get_info(i, name, &name_length, &verbosity, &type, &enumeration, text, &text_length, &bind,
                           &scope));
    CHECK_EQ(name_length, strlen(name) + 1);
    CHECK_EQ(text_length, strlen(text) + 1);
    CHECK_EQ(bind, MPI_T_BIND_NO_OBJECT);
    OK(MPI_T_cvar_get_index(name, &index));
    CHECK_EQ(index, i);
    name_length = 4;
    OK(MPI_T_cvar_get_info(i, name, &name_length, NULL, NULL, NULL, NULL, NULL, NULL, NULL));
    CHECK(strlen(name) == 3 && name_length > 4);
    if (enumeration == MPI_T_ENUM_NULL) continue;
    OK(MPI_T_enum_get_info(enumeration, &items, NULL, NULL));
    CHECK(items > 1);
    for (int k = 0; k < items; k++) {
      int value, item_length = sizeof item;
      OK(MPI_T_enum_get_item(enumeration, k, &value, item, &item_length));
      CHECK_EQ(item_length, strlen(item) + 1);
    }
    CHECK_EQ(MPI_T_enum_get_item(enumeration, items, &index, item, NULL), MPI_T_ERR_INVALID_INDEX);
  }
  CHECK_EQ(MPI_T_cvar_get_info(count, name, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL),
           MPI_T_ERR_INVALID_INDEX);
  CHECK_EQ(MPI_T_cvar_get_index("there is none", &index), MPI_T_ERR_INVALID_NAME);
  OK(MPI_T_pvar_get_num(&count));
  for (int i = 0; i < count; i++) {
    int name_length = sizeof name, kind, readonly, continuous, atomic;
    OK(MPI_T_pvar_get_info(i, name, &name_length, NULL, &kind, NULL, NULL, NULL, NULL, NULL, &readonly,
                           &continuous, &atomic));
    OK(MPI_T_pvar_get_index(name, kind, &index));
    CHECK_EQ(index, i);
  }
  CHECK_EQ(MPI_T_pvar_get_index("there is none", MPI_T_PVAR_CLASS_COUNTER, &index), MPI_T_ERR_INVALID_NAME);
  OK(MPI_T_event_get_num(&count));
  OK(MPI_T_source_get_num(&count));
  CHECK_EQ(MPI_T_event_get_index("there is none", &index), MPI_T_ERR_INVALID_NAME);
}

/* Each variable is in one category, and each category but the first in the first. */
static void categories(void) {
  int count, cvars, pvars, subs, all_cvars = 0, all_pvars = 0, expected, stamp, list[100], index;
  char name[200];
  OK(MPI_T_category_get_num(&count));
  for (int i = 0; i < count; i++) {
    int name_length = sizeof name;
    OK(MPI_T_category_get_info(i, name, &name_length, NULL, NULL, &cvars, &pvars, &subs));
    OK(MPI_T_category_get_index(name, &index));
    CHECK_EQ(index, i);
    CHECK(cvars <= 100 && pvars <= 100 && subs <= 100);
    OK(MPI_T_category_get_cvars(i, cvars, list));
    OK(MPI_T_category_get_pvars(i, pvars, list));
    for (int k = 1; k < pvars; k++) CHECK(list[k] > list[k - 1]);
    OK(MPI_T_category_get_categories(i, subs, list));
    for (int k = 0; k < subs; k++) CHECK(list[k] > 0 && list[k] < count);
    all_cvars += cvars;
    all_pvars += pvars;
  }
  OK(MPI_T_cvar_get_num(&expected));
  CHECK_EQ(all_cvars, expected);
  OK(MPI_T_pvar_get_num(&expected));
  CHECK_EQ(all_pvars, expected);
  OK(MPI_T_category_changed(&stamp));
  CHECK_EQ(MPI_T_category_get_index("there is none", &index), MPI_T_ERR_INVALID_NAME);
}

static MPI_T_cvar_handle control(const char* name) {
  int index, count;
  MPI_T_cvar_handle handle;
  OK(MPI_T_cvar_get_index(name, &index));
  OK(MPI_T_cvar_handle_alloc(index, NULL, &handle, &count));
  CHECK_EQ(count, 1);
  return handle;
}

/* A setting is kept, from before MPI_Init too; what must not be set is not. */
static void settings(unsigned long long expected, unsigned long long next) {
  unsigned long long value = 0, too_much = 1ull << 40;
  MPI_T_cvar_handle handle = control("llamada_eager_bytes_max"), copy = handle;
  OK(MPI_T_cvar_read(handle, &value));
  if (expected) CHECK_EQ(value, expected);
  OK(MPI_T_cvar_write(handle, &next));
  OK(MPI_T_cvar_read(handle, &value));
  CHECK_EQ(value, next);
  CHECK(MPI_T_cvar_write(handle, &too_much) != MPI_SUCCESS);
  OK(MPI_T_cvar_handle_free(&handle));
  CHECK(handle == MPI_T_CVAR_HANDLE_NULL);
  CHECK_EQ(MPI_T_cvar_read(copy, &value), MPI_T_ERR_INVALID_HANDLE);
  handle = control("llamada_log_bytes_max");
  CHECK_EQ(MPI_T_cvar_write(handle, &next), MPI_T_ERR_CVAR_SET_NEVER);
  OK(MPI_T_cvar_handle_free(&handle));
}

static MPI_T_pvar_session session;

static unsigned long long read_handle(MPI_T_pvar_handle handle) {
  unsigned long long value = ~0ull;
  OK(MPI_T_pvar_read(session, handle, &value));
  return value;
}

static void exchange(int bytes) {
  char out[3000] = {1}, in[3000];
  OK(MPI_Sendrecv(out, bytes, MPI_CHAR, (rank + 1) % ranks, 0, in, bytes, MPI_CHAR,
                  (rank + ranks - 1) % ranks, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE));
}

/* What a rank gives to a collective is counted as messages and as bytes. */
static MPI_T_pvar_handle bytes_sent;
static unsigned long long sent_before;

/* The rank must have sent at least so many bytes since the last time. */
static void check_sent(const char* what, int least) {
  /* A part may be lent: the loan is over once the others have answered. */
  OK(MPI_Barrier(MPI_COMM_WORLD));
  const unsigned long long sent = read_handle(bytes_sent) - sent_before;
  if (sent < (unsigned long long)least) {
    fprintf(stderr, "%s of %d bytes:\n", what, least);
    CHECK_EQ(sent, least);
  }
  sent_before += sent;
}

static void contributions(void) {
  enum { largest = 1 << 20, ranks_most = 5 };
  static char data[largest * ranks_most], taken[largest * ranks_most];
  int count;
  OK(MPI_T_pvar_session_create(&session));
  OK(MPI_T_pvar_handle_alloc(session, index_of("llamada_bytes_sent"), NULL, &bytes_sent, &count));
  OK(MPI_T_pvar_start(session, bytes_sent));
  for (int size = 8; size <= largest && ranks > 1 && ranks <= ranks_most; size *= 8) {
    const int from_root = rank == 0 ? size : 0, to_root = rank == 0 ? 0 : size;
    OK(MPI_Bcast(data, size, MPI_CHAR, 0, MPI_COMM_WORLD));
    check_sent("a broadcast", from_root);
    OK(MPI_Scatter(data, size, MPI_CHAR, taken, size, MPI_CHAR, 0, MPI_COMM_WORLD));
    check_sent("a scatter", from_root);
    OK(MPI_Gather(data, size, MPI_CHAR, taken, size, MPI_CHAR, 0, MPI_COMM_WORLD));
    check_sent("a gather", to_root);
    OK(MPI_Reduce(data, taken, size, MPI_BYTE, MPI_BOR, 0, MPI_COMM_WORLD));
    check_sent("a reduction", to_root);
    OK(MPI_Allreduce(data, taken, size, MPI_BYTE, MPI_BOR, MPI_COMM_WORLD));
    check_sent("a reduction for all", size);
    OK(MPI_Allgather(data, size, MPI_CHAR, taken, size, MPI_CHAR, MPI_COMM_WORLD));
    check_sent("a gather for all", size);
    OK(MPI_Alltoall(data, size, MPI_CHAR, taken, size, MPI_CHAR, MPI_COMM_WORLD));
    check_sent("an exchange", size);
  }
  OK(MPI_T_pvar_handle_free(session, &bytes_sent));
  OK(MPI_T_pvar_session_free(&session));
}

/* Counters count while they are started, for each handle alone. */
static void counters(void) {
  MPI_T_pvar_handle bytes, same, messages;
  int count;
  unsigned long long ten = 10;
  OK(MPI_T_pvar_session_create(&session));
  OK(MPI_T_pvar_handle_alloc(session, index_of("llamada_bytes_sent"), NULL, &bytes, &count));
  OK(MPI_T_pvar_handle_alloc(session, index_of("llamada_bytes_sent"), NULL, &same, &count));
  OK(MPI_T_pvar_handle_alloc(session, index_of("llamada_messages_received"), NULL, &messages, &count));
  exchange(100);
  CHECK_EQ(read_handle(bytes), 0);
  OK(MPI_T_pvar_start(session, bytes));
  exchange(1000);
  CHECK_EQ(read_handle(bytes), 1000);
  OK(MPI_T_pvar_stop(session, bytes));
  OK(MPI_T_pvar_start(session, MPI_T_PVAR_ALL_HANDLES));
  exchange(2000);
  CHECK_EQ(read_handle(bytes), 3000);
  CHECK_EQ(read_handle(same), 2000);
  CHECK_EQ(read_handle(messages), 1);
  OK(MPI_T_pvar_reset(session, bytes));
  CHECK_EQ(read_handle(bytes), 0);
  CHECK_EQ(read_handle(same), 2000);
  OK(MPI_T_pvar_write(session, same, &ten));
  exchange(5);
  CHECK_EQ(read_handle(same), 15);
  CHECK_EQ(MPI_T_pvar_readreset(session, same, &ten), MPI_T_ERR_PVAR_NO_ATOMIC);
  OK(MPI_T_pvar_stop(session, MPI_T_PVAR_ALL_HANDLES));
  exchange(5);
  CHECK_EQ(read_handle(same), 15);
  OK(MPI_T_pvar_handle_free(session, &same));
  CHECK(same == MPI_T_PVAR_HANDLE_NULL);
  CHECK_EQ(MPI_T_pvar_start(session, same), MPI_T_ERR_INVALID_HANDLE);
}

/* Queues as long as the program has made them. */
static void levels(void) {
  MPI_T_pvar_handle posted, unexpected;
  MPI_Request requests[5];
  int index, count, in[5], flag = 0;
  OK(MPI_T_pvar_get_index("llamada_posted_queue_length", MPI_T_PVAR_CLASS_LEVEL, &index));
  OK(MPI_T_pvar_handle_alloc(session, index, NULL, &posted, &count));
  OK(MPI_T_pvar_get_index("llamada_unexpected_queue_length", MPI_T_PVAR_CLASS_LEVEL, &index));
  OK(MPI_T_pvar_handle_alloc(session, index, NULL, &unexpected, &count));
  CHECK_EQ(MPI_T_pvar_start(session, posted), MPI_T_ERR_PVAR_NO_STARTSTOP);
  CHECK_EQ(MPI_T_pvar_reset(session, posted), MPI_T_ERR_PVAR_NO_WRITE);
  const unsigned long long before = read_handle(posted), early = read_handle(unexpected);
  for (int i = 0; i < 5; i++) OK(MPI_Irecv(&in[i], 1, MPI_INT, rank, i, MPI_COMM_WORLD, &requests[i]));
  CHECK_EQ(read_handle(posted), before + 5);
  for (int i = 4; i >= 0; i--) OK(MPI_Send(&i, 1, MPI_INT, rank, i, MPI_COMM_WORLD));
  OK(MPI_Waitall(5, requests, MPI_STATUSES_IGNORE));
  CHECK_EQ(read_handle(posted), before);
  OK(MPI_Send(&count, 1, MPI_INT, rank, 9, MPI_COMM_WORLD));
  while (!flag) OK(MPI_Iprobe(rank, 9, MPI_COMM_WORLD, &flag, MPI_STATUS_IGNORE));
  CHECK_EQ(read_handle(unexpected), early + 1);
  OK(MPI_Recv(&count, 1, MPI_INT, rank, 9, MPI_COMM_WORLD, MPI_STATUS_IGNORE));
  CHECK_EQ(read_handle(unexpected), early);
  MPI_T_pvar_session gone = session;
  OK(MPI_T_pvar_session_free(&session));
  CHECK(session == MPI_T_PVAR_SESSION_NULL);
  CHECK_EQ(MPI_T_pvar_start(gone, posted), MPI_T_ERR_INVALID_SESSION);
}

int main(int argc, char** argv) {
  int provided = -1;
  without();
  OK(MPI_T_init_thread(MPI_THREAD_MULTIPLE, &provided));
  CHECK_EQ(provided, MPI_THREAD_MULTIPLE);
  descriptions();
  settings(0, 5000);
  begin("tool_information", &argc, &argv);
  OK(MPI_T_init_thread(MPI_THREAD_SINGLE, &provided));
  descriptions();
  categories();
  settings(5000, 2000);
  exchange(3000);
  contributions();
  counters();
  levels();
  OK(MPI_T_finalize());
  int code = finish();
  descriptions();
  OK(MPI_T_finalize());
  without();
  return code;
}
