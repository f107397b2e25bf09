/* Ports and published names (MPI 3.1, 10.4) between the processes of one job. */
#include "check.h"

static const char* const service = "llamada-ports";

static int class_of(int code) {
  int error_class = -1;
  MPI_Error_class(code, &error_class);
  return error_class;
}

static void errors_are_returned(void) {
  char port[MPI_MAX_PORT_NAME];
  MPI_Comm other = MPI_COMM_NULL;
  MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
  MPI_Comm_set_errhandler(MPI_COMM_SELF, MPI_ERRORS_RETURN);
  CHECK_EQ(class_of(MPI_Lookup_name("nobody has this name", MPI_INFO_NULL, port)), MPI_ERR_NAME);
  CHECK_EQ(class_of(MPI_Unpublish_name("nobody has this name", MPI_INFO_NULL, port)), MPI_ERR_SERVICE);
  OK(MPI_Open_port(MPI_INFO_NULL, port));
  OK(MPI_Close_port(port));
  CHECK_EQ(class_of(MPI_Comm_connect(port, MPI_INFO_NULL, 0, MPI_COMM_SELF, &other)), MPI_ERR_PORT);
  CHECK_EQ(class_of(MPI_Comm_connect("no port", MPI_INFO_NULL, 0, MPI_COMM_SELF, &other)), MPI_ERR_PORT);
}

/* Numbers go both ways, and messages of some length. */
static void talk(MPI_Comm other, int is_server, int count) {
  enum { length = 20000 };
  static int sent[length], got[length];
  MPI_Status status;
  for (int i = 0; i < length; i++) sent[i] = count * 1000 + is_server * 7 + i;
  OK(MPI_Sendrecv(sent, length, MPI_INT, 0, 3, got, length, MPI_INT, 0, 3, other, &status));
  for (int i = 0; i < length; i++) CHECK_EQ(got[i], count * 1000 + !is_server * 7 + i);
  int value = is_server ? 40 : 2, sum = 0;
  OK(MPI_Allreduce(&value, &sum, 1, MPI_INT, MPI_SUM, other));
  CHECK_EQ(sum, is_server ? 2 : 40);
}

/* Each of the others connects to the first process, one after the other. */
static void serve(void) {
  char port[MPI_MAX_PORT_NAME], again[MPI_MAX_PORT_NAME];
  MPI_Comm client;
  OK(MPI_Open_port(MPI_INFO_NULL, port));
  OK(MPI_Publish_name(service, MPI_INFO_NULL, port));
  CHECK_EQ(class_of(MPI_Publish_name(service, MPI_INFO_NULL, port)), MPI_ERR_SERVICE);
  OK(MPI_Lookup_name(service, MPI_INFO_NULL, again));
  CHECK_EQ(strcmp(port, again), 0);
  OK(MPI_Barrier(MPI_COMM_WORLD));
  for (int count = 1; count < ranks; count++) {
    OK(MPI_Comm_accept(port, MPI_INFO_NULL, 0, MPI_COMM_SELF, &client));
    talk(client, 1, count);
    OK(MPI_Comm_disconnect(&client));
    OK(MPI_Barrier(MPI_COMM_WORLD));
  }
  OK(MPI_Unpublish_name(service, MPI_INFO_NULL, port));
  OK(MPI_Close_port(port));
  OK(MPI_Barrier(MPI_COMM_WORLD));
}

static void call(void) {
  char port[MPI_MAX_PORT_NAME];
  MPI_Comm server;
  OK(MPI_Barrier(MPI_COMM_WORLD));
  OK(MPI_Lookup_name(service, MPI_INFO_NULL, port));
  for (int count = 1; count < ranks; count++) {
    if (count == rank) {
      OK(MPI_Comm_connect(port, MPI_INFO_NULL, 0, MPI_COMM_SELF, &server));
      talk(server, 0, count);
      OK(MPI_Comm_disconnect(&server));
    }
    OK(MPI_Barrier(MPI_COMM_WORLD));
  }
  OK(MPI_Barrier(MPI_COMM_WORLD));
  CHECK_EQ(class_of(MPI_Lookup_name(service, MPI_INFO_NULL, port)), MPI_ERR_NAME);
  CHECK_EQ(class_of(MPI_Comm_connect(port, MPI_INFO_NULL, 0, MPI_COMM_SELF, &server)), MPI_ERR_PORT);
}

/* The two halves of the job become one, though they know of each other only by a name. */
static void join_halves(void) {
  char port[MPI_MAX_PORT_NAME] = "";
  MPI_Comm half, other, all;
  int is_second = rank >= ranks / 2, own = 0, members = 0, sum = 0, value = rank;
  OK(MPI_Comm_split(MPI_COMM_WORLD, is_second, rank, &half));
  OK(MPI_Comm_rank(half, &own));
  if (!is_second && own == 0) {
    OK(MPI_Open_port(MPI_INFO_NULL, port));
    OK(MPI_Publish_name(service, MPI_INFO_NULL, port));
  }
  OK(MPI_Barrier(MPI_COMM_WORLD));
  if (is_second && own == 0) OK(MPI_Lookup_name(service, MPI_INFO_NULL, port));
  if (is_second)
    OK(MPI_Comm_connect(port, MPI_INFO_NULL, 0, half, &other));
  else
    OK(MPI_Comm_accept(port, MPI_INFO_NULL, 0, half, &other));
  OK(MPI_Intercomm_merge(other, is_second, &all));
  OK(MPI_Comm_size(all, &members));
  CHECK_EQ(members, ranks);
  OK(MPI_Allreduce(&value, &sum, 1, MPI_INT, MPI_SUM, all));
  CHECK_EQ(sum, ranks * (ranks - 1) / 2);
  OK(MPI_Comm_free(&all));
  OK(MPI_Comm_disconnect(&other));
  if (!is_second && own == 0) {
    OK(MPI_Unpublish_name(service, MPI_INFO_NULL, port));
    OK(MPI_Close_port(port));
  }
  OK(MPI_Comm_free(&half));
}

int main(int argc, char** argv) {
  begin("ports", &argc, &argv);
  errors_are_returned();
  if (rank == 0)
    serve();
  else
    call();
  if (ranks > 1) join_halves();
  return finish();
}
