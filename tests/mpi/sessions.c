/* Sessions (MPI 4.0, chapter 11): before MPI_Init, beside it and behind MPI_Finalize. */
#include "check.h"

static int sum_over(MPI_Comm comm, int value) {
  int sum = 0;
  OK(MPI_Allreduce(&value, &sum, 1, MPI_INT, MPI_SUM, comm));
  return sum;
}

static MPI_Comm make(MPI_Session session, const char* set, const char* tag) {
  MPI_Group group;
  MPI_Comm comm;
  OK(MPI_Group_from_session_pset(session, set, &group));
  OK(MPI_Comm_create_from_group(group, tag, MPI_INFO_NULL, MPI_ERRORS_RETURN, &comm));
  OK(MPI_Group_free(&group));
  return comm;
}

static void test_world(const char* tag) {
  MPI_Session session;
  OK(MPI_Session_init(MPI_INFO_NULL, MPI_ERRORS_RETURN, &session));
  MPI_Comm comm = make(session, "mpi://WORLD", tag);
  OK(MPI_Comm_rank(comm, &rank));
  OK(MPI_Comm_size(comm, &ranks));
  CHECK_EQ(sum_over(comm, rank + 1), ranks * (ranks + 1) / 2);
  /* The halves, which meet again. */
  MPI_Group all, half, other;
  OK(MPI_Comm_group(comm, &all));
  if (ranks > 1) {
    int lower = rank < ranks / 2;
    int low[1][3] = {{0, ranks / 2 - 1, 1}}, high[1][3] = {{ranks / 2, ranks - 1, 1}};
    OK(MPI_Group_range_incl(all, 1, lower ? low : high, &half));
    OK(MPI_Group_range_incl(all, 1, lower ? high : low, &other));
    MPI_Comm inter, merged;
    OK(MPI_Intercomm_create_from_groups(half, 0, other, 0, "halves", MPI_INFO_NULL, MPI_ERRORS_RETURN,
                                        &inter));
    OK(MPI_Intercomm_merge(inter, !lower, &merged));
    int self;
    OK(MPI_Comm_rank(merged, &self));
    CHECK_EQ(self, rank);
    CHECK_EQ(sum_over(merged, 1), ranks);
    OK(MPI_Comm_free(&merged));
    OK(MPI_Comm_free(&inter));
    OK(MPI_Group_free(&half));
    OK(MPI_Group_free(&other));
  }
  OK(MPI_Group_free(&all));
  OK(MPI_Comm_free(&comm));
  OK(MPI_Session_finalize(&session));
  CHECK_EQ(session, MPI_SESSION_NULL);
}

static void test_sets(void) {
  MPI_Session session;
  OK(MPI_Session_init(MPI_INFO_NULL, MPI_ERRORS_RETURN, &session));
  int count, found_self = 0, found_world = 0;
  OK(MPI_Session_get_num_psets(session, MPI_INFO_NULL, &count));
  for (int i = 0; i < count; i++) {
    char name[64] = "";
    int length = 0, flag;
    OK(MPI_Session_get_nth_pset(session, MPI_INFO_NULL, i, &length, NULL));
    int capacity = (int)sizeof name;
    OK(MPI_Session_get_nth_pset(session, MPI_INFO_NULL, i, &capacity, name));
    CHECK_EQ(capacity, length);
    CHECK_EQ(strlen(name) + 1, length);
    found_self += strcmp(name, "mpi://SELF") == 0;
    found_world += strcmp(name, "mpi://WORLD") == 0;
    MPI_Info info;
    char value[32];
    OK(MPI_Session_get_pset_info(session, name, &info));
    OK(MPI_Info_get(info, "mpi_size", sizeof value - 1, value, &flag));
    CHECK(flag);
    CHECK_EQ(atoi(value), strcmp(name, "mpi://SELF") == 0 ? 1 : ranks);
    OK(MPI_Info_free(&info));
  }
  CHECK(found_self && found_world);
  MPI_Group group;
  CHECK(MPI_Group_from_session_pset(session, "no such set", &group) != MPI_SUCCESS);
  CHECK(MPI_Session_get_nth_pset(session, MPI_INFO_NULL, count, &count, NULL) != MPI_SUCCESS);
  MPI_Comm self = make(session, "mpi://self", "self");
  int size;
  OK(MPI_Comm_size(self, &size));
  CHECK_EQ(size, 1);
  OK(MPI_Comm_free(&self));
  OK(MPI_Session_finalize(&session));
}

static int handled;
static void handler(MPI_Session* session, int* code, ...) {
  (void)session;
  handled = *code;
}

static void file_handler(MPI_File* file, int* code, ...) {
  (void)file;
  (void)code;
}

/* A handler for files is no handler for a session, nor for a communicator: each call that takes one says so.
 */
static void test_handler_of_files(MPI_Session session, MPI_Errhandler of_files) {
  MPI_Session refused = MPI_SESSION_NULL;
  MPI_Comm comm = MPI_COMM_NULL;
  MPI_Group self;
  OK(MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN));
  CHECK_EQ(MPI_Session_init(MPI_INFO_NULL, of_files, &refused), MPI_ERR_ARG);
  CHECK_EQ(refused, MPI_SESSION_NULL);
  OK(MPI_Group_from_session_pset(session, "mpi://SELF", &self));
  CHECK_EQ(MPI_Comm_create_from_group(self, "files", MPI_INFO_NULL, of_files, &comm), MPI_ERR_ARG);
  CHECK_EQ(MPI_Intercomm_create_from_groups(self, 0, self, 0, "files", MPI_INFO_NULL, of_files, &comm),
           MPI_ERR_ARG);
  CHECK_EQ(comm, MPI_COMM_NULL);
  OK(MPI_Group_free(&self));
  OK(MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_ARE_FATAL));
}

static void test_handlers(void) {
  MPI_Session session;
  MPI_Errhandler made, got, of_files;
  OK(MPI_Session_init(MPI_INFO_NULL, MPI_ERRORS_RETURN, &session));
  OK(MPI_Session_get_errhandler(session, &got));
  CHECK_EQ(got, MPI_ERRORS_RETURN);
  OK(MPI_File_create_errhandler(file_handler, &of_files));
  CHECK_EQ(MPI_Session_set_errhandler(session, of_files), MPI_ERR_ARG);
  if (is_strict()) test_handler_of_files(session, of_files);
  OK(MPI_Errhandler_free(&of_files));
  OK(MPI_Session_create_errhandler(handler, &made));
  OK(MPI_Session_set_errhandler(session, made));
  OK(MPI_Errhandler_free(&made));
  OK(MPI_Session_call_errhandler(session, MPI_ERR_OTHER));
  CHECK_EQ(handled, MPI_ERR_OTHER);
  MPI_Group group;
  CHECK(MPI_Group_from_session_pset(session, "no such set", &group) != MPI_SUCCESS);
  CHECK_EQ(handled, MPI_ERR_ARG);
  MPI_Info info;
  char level[64];
  int flag;
  OK(MPI_Session_get_info(session, &info));
  OK(MPI_Info_get(info, "thread_level", sizeof level - 1, level, &flag));
  CHECK(flag && strcmp(level, "MPI_THREAD_SINGLE") == 0);
  OK(MPI_Info_free(&info));
  /* What one session was granted holds for the next one that asks for nothing. */
  MPI_Session serialized, next;
  OK(MPI_Info_create(&info));
  OK(MPI_Info_set(info, "thread_level", "MPI_THREAD_SERIALIZED"));
  OK(MPI_Session_init(info, MPI_ERRORS_RETURN, &serialized));
  OK(MPI_Info_free(&info));
  OK(MPI_Session_init(MPI_INFO_NULL, MPI_ERRORS_RETURN, &next));
  OK(MPI_Session_get_info(next, &info));
  OK(MPI_Info_get(info, "thread_level", sizeof level - 1, level, &flag));
  CHECK(flag && strcmp(level, "MPI_THREAD_SERIALIZED") == 0);
  OK(MPI_Info_free(&info));
  OK(MPI_Session_finalize(&next));
  OK(MPI_Session_finalize(&serialized));
  OK(MPI_Session_finalize(&session));
}

static int heard;
static void hear(MPI_Session* session, int* code, ...) {
  (void)session;
  heard = *code;
}

/* What may be called at any time (MPI 4.0, table 11.1), but for info objects, which are in outside.c. */
static void at_any_time(void) {
  char text[MPI_MAX_LIBRARY_VERSION_STRING];
  int length = 0, class = -1, flag, version, subversion;
  MPI_Errhandler handler, predefined = MPI_ERRORS_RETURN;
  MPI_Session session = MPI_SESSION_NULL;
  MPI_Info hints, freed;
  OK(MPI_Initialized(&flag));
  OK(MPI_Finalized(&flag));
  OK(MPI_Get_version(&version, &subversion));
  OK(MPI_Get_library_version(text, &length));
  OK(MPI_Error_string(MPI_ERR_COMM, text, &length));
  CHECK(length == (int)strlen(text) && strstr(text, "communicator"));
  OK(MPI_Error_class(MPI_ERR_COMM, &class));
  CHECK_EQ(class, MPI_ERR_COMM);
  OK(MPI_Session_create_errhandler(hear, &handler));
  CHECK(MPI_Errhandler_f2c(MPI_Errhandler_c2f(handler)) == handler);
  OK(MPI_Info_create(&hints));
  CHECK(MPI_Info_f2c(MPI_Info_c2f(hints)) == hints);
  freed = hints;
  OK(MPI_Info_free(&hints));
  /* It is told of a session that cannot be made, and of those that are called with it. */
  if (is_strict()) {
    heard = 0;
    CHECK_EQ(MPI_Session_init(freed, handler, &session), MPI_ERR_INFO);
    CHECK(heard == MPI_ERR_INFO && session == MPI_SESSION_NULL);
  }
  OK(MPI_Session_init(MPI_INFO_NULL, handler, &session));
  OK(MPI_Session_call_errhandler(session, MPI_ERR_OTHER));
  CHECK_EQ(heard, MPI_ERR_OTHER);
  OK(MPI_Session_finalize(&session));
  OK(MPI_Errhandler_free(&handler));
  CHECK(handler == MPI_ERRHANDLER_NULL);
  OK(MPI_Errhandler_free(&predefined));
}

int main(int argc, char** argv) {
  chapter = "sessions";
  int flag;
  char text[MPI_MAX_ERROR_STRING];
  /* Before anything else. */
  OK(MPI_Error_string(MPI_ERR_RANK, text, &flag));
  at_any_time();
  test_world("before");
  test_world("again");
  test_sets();
  test_handlers();
  at_any_time();
  OK(MPI_Initialized(&flag));
  CHECK(!flag);
  MPI_Init(&argc, &argv);
  at_any_time();
  test_world("beside");
  CHECK_EQ(sum_over(MPI_COMM_WORLD, 1), ranks);
  MPI_Finalize();
  OK(MPI_Finalized(&flag));
  CHECK(flag);
  at_any_time();
  test_world("behind");
  at_any_time();
  if (rank == 0) printf("ok %s\n", chapter);
  return 0;
}
