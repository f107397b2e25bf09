/* Error handlers, codes, classes and strings; MPI 8.3 to 8.5. */
#include "check.h"

static MPI_Comm comm;
static int handled, last_code;

static int class_of(int code) {
  int class = -1;
  OK(MPI_Error_class(code, &class));
  return class;
}

static int answer = -1; /* what the handler makes of the code, or -1 */
static void own_handler(MPI_Comm* where, int* code, ...) {
  CHECK(*where == comm);
  handled++;
  last_code = *code;
  if (answer != -1) *code = answer;
}

static void codes(void) {
  int value = 0;
  MPI_Request request = MPI_REQUEST_NULL;
  MPI_Comm none;
  CHECK_EQ(class_of(MPI_Send(&value, 1, MPI_INT, ranks, 0, comm)), MPI_ERR_RANK);
  CHECK_EQ(class_of(MPI_Send(&value, 1, MPI_INT, -17, 0, comm)), MPI_ERR_RANK);
  CHECK_EQ(class_of(MPI_Send(&value, 1, MPI_INT, 0, -3, comm)), MPI_ERR_TAG);
  CHECK_EQ(class_of(MPI_Send(&value, -1, MPI_INT, 0, 0, comm)), MPI_ERR_COUNT);
  CHECK_EQ(class_of(MPI_Send(&value, 1, MPI_DATATYPE_NULL, 0, 0, comm)), MPI_ERR_TYPE);
  CHECK_EQ(class_of(MPI_Send(NULL, 1, MPI_INT, 0, 0, comm)), MPI_ERR_BUFFER);
  CHECK_EQ(class_of(MPI_Recv(&value, 1, MPI_INT, ranks, 0, comm, MPI_STATUS_IGNORE)), MPI_ERR_RANK);
  CHECK_EQ(class_of(MPI_Irecv(&value, -1, MPI_INT, 0, 0, comm, &request)), MPI_ERR_COUNT);
  CHECK_EQ(class_of(MPI_Bcast(&value, 1, MPI_INT, ranks, comm)), MPI_ERR_ROOT);
  CHECK_EQ(class_of(MPI_Bcast(&value, -1, MPI_INT, 0, comm)), MPI_ERR_COUNT);
  int other = 0;
  CHECK_EQ(class_of(MPI_Allreduce(&value, &other, 1, MPI_INT, MPI_OP_NULL, comm)), MPI_ERR_OP);
  int bad_dims[1] = {ranks + 1}, periods[1] = {0};
  CHECK(MPI_Cart_create(comm, 1, bad_dims, periods, 0, &none) != MPI_SUCCESS);
}

static void strings(void) {
  char text[MPI_MAX_ERROR_STRING];
  int length;
  for (int class = 1; class <= MPI_ERR_IN_STATUS; class ++) {
    OK(MPI_Error_string(class, text, &length));
    CHECK(length > 0 && length < MPI_MAX_ERROR_STRING && strlen(text) == (size_t)length);
    CHECK_EQ(class_of(class), class);
  }
  /* A class of a later version. */
  CHECK_EQ(class_of(80), 80);
  OK(MPI_Error_string(80, text, &length));
  CHECK(length > 0);
  OK(MPI_Error_string(MPI_SUCCESS, text, &length));
  CHECK(length > 0);
}

static void own_codes(void) {
  int class, code, length, *last, flag;
  char text[MPI_MAX_ERROR_STRING];
  OK(MPI_Add_error_class(&class));
  OK(MPI_Add_error_code(class, &code));
  OK(MPI_Add_error_string(code, "the llama spat"));
  CHECK_EQ(class_of(code), class);
  OK(MPI_Error_string(code, text, &length));
  CHECK(strcmp(text, "the llama spat") == 0);
  OK(MPI_Comm_get_attr(MPI_COMM_WORLD, MPI_LASTUSEDCODE, &last, &flag));
  CHECK(flag && (!is_strict() || *last >= code));
  CHECK_EQ(MPI_Comm_call_errhandler(comm, code), MPI_SUCCESS);
}

static void handlers(void) {
  MPI_Errhandler handler, got;
  int value = 0;
  OK(MPI_Comm_create_errhandler(own_handler, &handler));
  OK(MPI_Comm_set_errhandler(comm, handler));
  OK(MPI_Comm_get_errhandler(comm, &got));
  CHECK(got == handler);
  OK(MPI_Errhandler_free(&got));
  OK(MPI_Errhandler_free(&handler));
  CHECK(handler == MPI_ERRHANDLER_NULL);
  int code = MPI_Send(&value, 1, MPI_INT, ranks, 0, comm);
  CHECK_EQ(handled, 1);
  CHECK_EQ(class_of(last_code), MPI_ERR_RANK);
  CHECK_EQ(class_of(code), MPI_ERR_RANK);
  OK(MPI_Comm_call_errhandler(comm, MPI_ERR_OTHER));
  CHECK_EQ(handled, 2);
  CHECK_EQ(class_of(last_code), MPI_ERR_OTHER);
  /* The handler decides which code is returned. */
  answer = MPI_ERR_INTERN;
  CHECK_EQ(class_of(MPI_Send(&value, 1, MPI_INT, ranks, 0, comm)), MPI_ERR_INTERN);
  CHECK_EQ(class_of(last_code), MPI_ERR_RANK);
  answer = -1;
  handled = 2;
  /* A copy inherits the handler. */
  MPI_Comm copy, kept = comm;
  OK(MPI_Comm_dup(comm, &copy));
  comm = copy;
  MPI_Send(&value, 1, MPI_INT, ranks, 0, copy);
  CHECK_EQ(handled, 3);
  OK(MPI_Comm_free(&copy));
  comm = kept;
}

/* MPI-4's, as binaries of MPICH 4 set it. */
static void aborting(void) {
  MPI_Errhandler handler = MPI_ERRHANDLER_NULL;
  OK(MPI_Comm_set_errhandler(comm, MPI_ERRORS_ABORT));
  OK(MPI_Comm_get_errhandler(comm, &handler));
  CHECK(handler == MPI_ERRORS_ABORT);
  OK(MPI_Comm_set_errhandler(comm, MPI_ERRORS_RETURN));
}

int main(int argc, char** argv) {
  begin("errors", &argc, &argv);
  OK(MPI_Comm_dup(MPI_COMM_WORLD, &comm));
  MPI_Errhandler handler;
  OK(MPI_Comm_get_errhandler(comm, &handler));
  CHECK(handler == MPI_ERRORS_ARE_FATAL);
  OK(MPI_Comm_set_errhandler(comm, MPI_ERRORS_RETURN));
  codes();
  strings();
  own_codes();
  handlers();
  aborting();
  OK(MPI_Comm_free(&comm));
  return finish();
}
