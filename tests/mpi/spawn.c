/* Dynamic processes (MPI 3.1, chapter 10): the program starts itself again, with the name of a part in its
 * arguments. */
#include "check.h"

#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <unistd.h>

static char* program;

static int sum_over(MPI_Comm comm, int value) {
  int sum = 0;
  OK(MPI_Allreduce(&value, &sum, 1, MPI_INT, MPI_SUM, comm));
  return sum;
}

/* Each process of one group and its like of the other exchange a short and a long message. */
static void exchange(MPI_Comm inter) {
  enum { long_count = 200000 };
  int here, there, self;
  OK(MPI_Comm_size(inter, &here));
  OK(MPI_Comm_remote_size(inter, &there));
  OK(MPI_Comm_rank(inter, &self));
  if (self >= there) return;
  int mine = 100 + self, theirs = 0;
  MPI_Status status;
  OK(MPI_Sendrecv(&mine, 1, MPI_INT, self, 1, &theirs, 1, MPI_INT, self, 1, inter, &status));
  CHECK_EQ(theirs, 100 + self);
  CHECK_EQ(status.MPI_SOURCE, self);
  int* out = malloc(long_count * sizeof *out);
  int* in = malloc(long_count * sizeof *in);
  fill(out, long_count, 3, (uint32_t)self);
  OK(MPI_Sendrecv(out, long_count, MPI_INT, self, 2, in, long_count, MPI_INT, MPI_ANY_SOURCE, 2, inter,
                  &status));
  CHECK_EQ(status.MPI_SOURCE, self);
  CHECK(memcmp(in, out, long_count * sizeof *in) == 0);
  free(out);
  free(in);
}

static void merge_and_sum(MPI_Comm inter, int high) {
  int here, there, size, self;
  MPI_Comm both;
  OK(MPI_Comm_size(inter, &here));
  OK(MPI_Comm_remote_size(inter, &there));
  OK(MPI_Comm_rank(inter, &self));
  OK(MPI_Intercomm_merge(inter, high, &both));
  OK(MPI_Comm_size(both, &size));
  CHECK_EQ(size, here + there);
  int merged;
  OK(MPI_Comm_rank(both, &merged));
  CHECK_EQ(merged, high ? there + self : self);
  CHECK_EQ(sum_over(both, merged + 1), size * (size + 1) / 2);
  OK(MPI_Comm_disconnect(&both));
  CHECK_EQ(both, MPI_COMM_NULL);
}

/* ---- what spawned processes do */

static void child_basic(int argc, char** argv, MPI_Comm parent) {
  CHECK_EQ(argc, 5);
  CHECK(strcmp(argv[2], "two words") == 0);
  CHECK(strcmp(argv[3], "") == 0);
  CHECK(strcmp(argv[4], "\"quoted\"\\n") == 0);
  char name[MPI_MAX_OBJECT_NAME];
  int length;
  OK(MPI_Comm_get_name(parent, name, &length));
  CHECK(strcmp(name, "MPI_COMM_PARENT") == 0);
  exchange(parent);
  merge_and_sum(parent, 1);
  OK(MPI_Comm_disconnect(&parent));
}

static void child_directory(MPI_Comm parent) {
  char directory[4096];
  CHECK(getcwd(directory, sizeof directory) != NULL);
  OK(MPI_Send(directory, (int)strlen(directory) + 1, MPI_CHAR, 0, 5, parent));
}

static void child_appnum(char** argv, MPI_Comm parent) {
  int *number, found;
  OK(MPI_Comm_get_attr(MPI_COMM_WORLD, MPI_APPNUM, &number, &found));
  CHECK(found);
  CHECK_EQ(*number, atoi(argv[2]));
  int both[2] = {*number, rank};
  OK(MPI_Send(both, 2, MPI_INT, 0, 6, parent));
}

/* A world of its own with the parents' leader: one that none of the others has met. */
static void child_grandparent(MPI_Comm parent) {
  MPI_Comm inter;
  char* arguments[] = {"grandchild", NULL};
  OK(MPI_Comm_spawn(program, arguments, 2, MPI_INFO_NULL, 0, MPI_COMM_WORLD, &inter, MPI_ERRCODES_IGNORE));
  MPI_Comm family, everybody;
  OK(MPI_Intercomm_merge(parent, 1, &family));
  /* The oldest and the youngest meet, by way of those between. */
  int sizes[2], size;
  OK(MPI_Comm_size(family, &sizes[0]));
  OK(MPI_Comm_remote_size(inter, &sizes[1]));
  MPI_Comm whole;
  OK(MPI_Intercomm_merge(inter, 0, &whole));
  OK(MPI_Comm_size(whole, &size));
  CHECK_EQ(size, ranks + sizes[1]);
  /* Rank 0 of this world leads `family`, and the first grandchild leads the grandchildren. */
  int self;
  OK(MPI_Comm_rank(family, &self));
  MPI_Comm bridge;
  int leader = rank == 0 ? self : 0;
  OK(MPI_Allreduce(MPI_IN_PLACE, &leader, 1, MPI_INT, MPI_MAX, family));
  OK(MPI_Intercomm_create(family, leader, whole, ranks, 9, &bridge));
  OK(MPI_Intercomm_merge(bridge, 0, &everybody));
  int total;
  OK(MPI_Comm_size(everybody, &total));
  CHECK_EQ(total, sizes[0] + sizes[1]);
  CHECK_EQ(sum_over(everybody, 1), total);
  OK(MPI_Comm_free(&everybody));
  OK(MPI_Comm_free(&bridge));
  OK(MPI_Comm_free(&whole));
  OK(MPI_Comm_free(&family));
  OK(MPI_Comm_free(&inter));
}

static void child_grandchild(MPI_Comm parent) {
  MPI_Comm whole, bridge, everybody;
  OK(MPI_Intercomm_merge(parent, 1, &whole));
  OK(MPI_Intercomm_create(MPI_COMM_WORLD, 0, whole, 0, 9, &bridge));
  OK(MPI_Intercomm_merge(bridge, 1, &everybody));
  int total;
  OK(MPI_Comm_size(everybody, &total));
  CHECK_EQ(sum_over(everybody, 1), total);
  OK(MPI_Comm_free(&everybody));
  OK(MPI_Comm_free(&bridge));
  OK(MPI_Comm_free(&whole));
}

static void child_port(MPI_Comm parent) {
  char found[MPI_MAX_PORT_NAME];
  MPI_Comm inter;
  OK(MPI_Lookup_name("spawn test", MPI_INFO_NULL, found));
  OK(MPI_Bcast(found, MPI_MAX_PORT_NAME, MPI_CHAR, 0, MPI_COMM_WORLD));
  OK(MPI_Comm_disconnect(&parent));
  OK(MPI_Comm_get_parent(&parent));
  CHECK_EQ(parent, MPI_COMM_NULL);
  OK(MPI_Comm_connect(found, MPI_INFO_NULL, 0, MPI_COMM_WORLD, &inter));
  exchange(inter);
  OK(MPI_Comm_disconnect(&inter));
}

static int child(int argc, char** argv) {
  MPI_Comm parent;
  OK(MPI_Comm_get_parent(&parent));
  CHECK(parent != MPI_COMM_NULL);
  const char* part = argv[1];
  if (strcmp(part, "basic") == 0) child_basic(argc, argv, parent);
  if (strcmp(part, "directory") == 0) child_directory(parent);
  if (strcmp(part, "appnum") == 0) child_appnum(argv, parent);
  if (strcmp(part, "family") == 0) child_grandparent(parent);
  if (strcmp(part, "grandchild") == 0) child_grandchild(parent);
  if (strcmp(part, "port") == 0) child_port(parent);
  if (strcmp(part, "slow") == 0) {
    OK(MPI_Comm_disconnect(&parent));
    OK(MPI_Barrier(MPI_COMM_WORLD));
  }
  MPI_Finalize();
  return 0;
}

/* ---- what the first world does */

static void test_basic(int count, int root) {
  MPI_Comm inter;
  char* arguments[] = {"basic", "two words", "", "\"quoted\"\\n", NULL};
  int codes[4] = {-1, -1, -1, -1};
  OK(MPI_Comm_spawn(rank == root ? program : NULL, arguments, count, MPI_INFO_NULL, root, MPI_COMM_WORLD,
                    &inter, codes));
  for (int i = 0; i < count; i++) CHECK_EQ(codes[i], MPI_SUCCESS);
  for (int i = count; i < 4; i++) CHECK_EQ(codes[i], -1);
  int inter_flag, size;
  OK(MPI_Comm_test_inter(inter, &inter_flag));
  CHECK(inter_flag);
  OK(MPI_Comm_remote_size(inter, &size));
  CHECK_EQ(size, count);
  exchange(inter);
  merge_and_sum(inter, 0);
  OK(MPI_Comm_disconnect(&inter));
}

static void test_self(void) {
  /* Each for itself, at the same time. */
  MPI_Comm inter;
  char* arguments[] = {"slow", NULL};
  OK(MPI_Comm_spawn(program, arguments, 1, MPI_INFO_NULL, 0, MPI_COMM_SELF, &inter, MPI_ERRCODES_IGNORE));
  OK(MPI_Comm_disconnect(&inter));
}

static void test_failure(void) {
  MPI_Comm inter = MPI_COMM_SELF;
  int codes[2] = {-1, -1}, error_class, length;
  char text[MPI_MAX_ERROR_STRING];
  MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
  int code =
      MPI_Comm_spawn("/no/such/program", MPI_ARGV_NULL, 2, MPI_INFO_NULL, 0, MPI_COMM_WORLD, &inter, codes);
  CHECK(code != MPI_SUCCESS);
  OK(MPI_Error_class(code, &error_class));
  CHECK_EQ(error_class, MPI_ERR_SPAWN);
  OK(MPI_Error_string(code, text, &length));
  CHECK(strstr(text, "/no/such/program") != NULL && strstr(text, "No such file or directory") != NULL);
  for (int i = 0; i < 2; i++) {
    OK(MPI_Error_class(codes[i], &error_class));
    CHECK_EQ(error_class, MPI_ERR_SPAWN);
  }
  CHECK_EQ(inter, MPI_COMM_NULL);
  code = MPI_Comm_spawn(program, MPI_ARGV_NULL, -1, MPI_INFO_NULL, 0, MPI_COMM_WORLD, &inter,
                        MPI_ERRCODES_IGNORE);
  MPI_Error_class(code, &error_class);
  CHECK_EQ(error_class, MPI_ERR_ARG);
  code = MPI_Comm_spawn(program, MPI_ARGV_NULL, 1, MPI_INFO_NULL, ranks, MPI_COMM_WORLD, &inter,
                        MPI_ERRCODES_IGNORE);
  MPI_Error_class(code, &error_class);
  CHECK_EQ(error_class, MPI_ERR_ROOT);
  MPI_Info info;
  OK(MPI_Info_create(&info));
  OK(MPI_Info_set(info, "host", "no-such-host.invalid"));
  code = MPI_Comm_spawn(program, MPI_ARGV_NULL, 1, info, 0, MPI_COMM_WORLD, &inter, MPI_ERRCODES_IGNORE);
  MPI_Error_class(code, &error_class);
  CHECK_EQ(error_class, MPI_ERR_SPAWN);
  OK(MPI_Info_free(&info));
  OK(MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_ARE_FATAL));
}

static void test_hints(void) {
  /* path and wdir: the program's own folder is on the path, its name alone is said. */
  char path[4096];
  snprintf(path, sizeof path, "%s", program);
  char* slash = strrchr(path, '/');
  CHECK(slash != NULL);
  *slash = '\0';
  MPI_Info info;
  OK(MPI_Info_create(&info));
  OK(MPI_Info_set(info, "path", path));
  OK(MPI_Info_set(info, "wdir", "/usr"));
  MPI_Comm inter;
  char* arguments[] = {"directory", NULL};
  OK(MPI_Comm_spawn(slash + 1, arguments, 1, info, 0, MPI_COMM_WORLD, &inter, MPI_ERRCODES_IGNORE));
  if (rank == 0) {
    char directory[4096];
    OK(MPI_Recv(directory, sizeof directory, MPI_CHAR, 0, 5, inter, MPI_STATUS_IGNORE));
    CHECK(strcmp(directory, "/usr") == 0);
  }
  OK(MPI_Info_free(&info));
  OK(MPI_Comm_free(&inter));
}

static void test_multiple(void) {
  char* commands[] = {program, program};
  char* first[] = {"appnum", "0", NULL};
  char* second[] = {"appnum", "1", NULL};
  char** lists[] = {first, second};
  int counts[] = {1, 2}, codes[3] = {-1, -1, -1};
  MPI_Info infos[] = {MPI_INFO_NULL, MPI_INFO_NULL};
  MPI_Comm inter;
  OK(MPI_Comm_spawn_multiple(2, commands, lists, counts, infos, ranks - 1, MPI_COMM_WORLD, &inter, codes));
  for (int i = 0; i < 3; i++) CHECK_EQ(codes[i], MPI_SUCCESS);
  for (int i = 0; i < 3 && rank == 0; i++) {
    int both[2];
    OK(MPI_Recv(both, 2, MPI_INT, i, 6, inter, MPI_STATUS_IGNORE));
    CHECK_EQ(both[0], i == 0 ? 0 : 1);
    CHECK_EQ(both[1], i);
  }
  OK(MPI_Comm_free(&inter));
}

static void test_family(void) {
  MPI_Comm inter, family, everybody, bridge;
  char* arguments[] = {"family", NULL};
  OK(MPI_Comm_spawn(program, arguments, 1, MPI_INFO_NULL, 0, MPI_COMM_WORLD, &inter, MPI_ERRCODES_IGNORE));
  OK(MPI_Intercomm_merge(inter, 0, &family));
  int leader = 0;
  OK(MPI_Allreduce(MPI_IN_PLACE, &leader, 1, MPI_INT, MPI_MAX, family));
  OK(MPI_Intercomm_create(family, leader, MPI_COMM_NULL, 0, 9, &bridge));
  OK(MPI_Intercomm_merge(bridge, 0, &everybody));
  int total;
  OK(MPI_Comm_size(everybody, &total));
  CHECK_EQ(total, ranks + 1 + 2);
  CHECK_EQ(sum_over(everybody, 1), total);
  OK(MPI_Comm_free(&everybody));
  OK(MPI_Comm_free(&bridge));
  OK(MPI_Comm_free(&family));
  OK(MPI_Comm_free(&inter));
}

static void test_ports(void) {
  char port[MPI_MAX_PORT_NAME] = "", found[MPI_MAX_PORT_NAME];
  MPI_Comm inter, children;
  int error_class;
  if (rank == 0) {
    OK(MPI_Open_port(MPI_INFO_NULL, port));
    OK(MPI_Publish_name("spawn test", MPI_INFO_NULL, port));
    OK(MPI_Lookup_name("spawn test", MPI_INFO_NULL, found));
    CHECK(strcmp(port, found) == 0);
  }
  char* arguments[] = {"port", NULL};
  OK(MPI_Comm_spawn(program, arguments, 2, MPI_INFO_NULL, 0, MPI_COMM_WORLD, &children, MPI_ERRCODES_IGNORE));
  OK(MPI_Comm_disconnect(&children));
  OK(MPI_Comm_accept(port, MPI_INFO_NULL, 0, MPI_COMM_WORLD, &inter));
  exchange(inter);
  OK(MPI_Comm_disconnect(&inter));
  MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
  MPI_Comm_set_errhandler(MPI_COMM_SELF, MPI_ERRORS_RETURN);
  if (rank == 0) {
    MPI_Error_class(MPI_Publish_name("spawn test", MPI_INFO_NULL, port), &error_class);
    CHECK_EQ(error_class, MPI_ERR_SERVICE);
    OK(MPI_Unpublish_name("spawn test", MPI_INFO_NULL, port));
    MPI_Error_class(MPI_Lookup_name("spawn test", MPI_INFO_NULL, found), &error_class);
    CHECK_EQ(error_class, MPI_ERR_NAME);
    MPI_Error_class(MPI_Unpublish_name("spawn test", MPI_INFO_NULL, port), &error_class);
    CHECK_EQ(error_class, MPI_ERR_SERVICE);
    OK(MPI_Close_port(port));
    MPI_Error_class(MPI_Close_port(port), &error_class);
    CHECK_EQ(error_class, MPI_ERR_PORT);
    MPI_Error_class(MPI_Comm_connect(port, MPI_INFO_NULL, 0, MPI_COMM_SELF, &inter), &error_class);
    CHECK_EQ(error_class, MPI_ERR_PORT);
  }
  MPI_Error_class(MPI_Comm_connect("no port", MPI_INFO_NULL, 0, MPI_COMM_WORLD, &inter), &error_class);
  CHECK_EQ(error_class, MPI_ERR_PORT);
  OK(MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_ARE_FATAL));
  OK(MPI_Comm_set_errhandler(MPI_COMM_SELF, MPI_ERRORS_ARE_FATAL));
}

/* Parts of one world, three times over one port; and a port that is closed while somebody waits at it. */
static void test_parts(void) {
  if (ranks < 2) return;
  char port[MPI_MAX_PORT_NAME];
  MPI_Comm part, inter;
  int accepts = rank % 2 == 0;
  OK(MPI_Comm_split(MPI_COMM_WORLD, accepts, 0, &part));
  if (rank == 0) OK(MPI_Open_port(MPI_INFO_NULL, port));
  OK(MPI_Bcast(port, MPI_MAX_PORT_NAME, MPI_CHAR, 0, MPI_COMM_WORLD));
  for (int round = 0; round < 3; round++) {
    if (accepts)
      OK(MPI_Comm_accept(port, MPI_INFO_NULL, 0, part, &inter));
    else
      OK(MPI_Comm_connect(port, MPI_INFO_NULL, 0, part, &inter));
    int there;
    OK(MPI_Comm_remote_size(inter, &there));
    CHECK_EQ(there, accepts ? ranks / 2 : (ranks + 1) / 2);
    exchange(inter);
    OK(MPI_Comm_disconnect(&inter));
  }
  int error_class;
  OK(MPI_Comm_set_errhandler(part, MPI_ERRORS_RETURN));
  /* Nobody accepts in time; who accepts afterwards gets who calls then. */
  if (!accepts) {
    MPI_Info patience;
    OK(MPI_Info_create(&patience));
    OK(MPI_Info_set(patience, "timeout", "1"));
    MPI_Error_class(MPI_Comm_connect(port, patience, 0, part, &inter), &error_class);
    CHECK_EQ(error_class, MPI_ERR_PORT);
    OK(MPI_Info_free(&patience));
  }
  OK(MPI_Barrier(MPI_COMM_WORLD));
  if (accepts)
    OK(MPI_Comm_accept(port, MPI_INFO_NULL, 0, part, &inter));
  else
    OK(MPI_Comm_connect(port, MPI_INFO_NULL, 0, part, &inter));
  exchange(inter);
  OK(MPI_Comm_disconnect(&inter));
  if (rank == 0) OK(MPI_Close_port(port));
  if (!accepts) {
    MPI_Error_class(MPI_Comm_connect(port, MPI_INFO_NULL, 0, part, &inter), &error_class);
    CHECK_EQ(error_class, MPI_ERR_PORT);
  }
  OK(MPI_Comm_free(&part));
}

static void test_join(void) {
  if (ranks < 2 || rank > 1) return;
  struct sockaddr_un address = {.sun_family = AF_UNIX};
  int socket_end, pid = getpid();
  if (rank == 0) {
    int listener = socket(AF_UNIX, SOCK_STREAM, 0);
    snprintf(address.sun_path + 1, sizeof address.sun_path - 1, "llamada-join-test-%d", pid);
    CHECK(bind(listener, (struct sockaddr*)&address, sizeof address) == 0);
    CHECK(listen(listener, 1) == 0);
    OK(MPI_Send(&pid, 1, MPI_INT, 1, 7, MPI_COMM_WORLD));
    socket_end = accept(listener, NULL, NULL);
    close(listener);
  } else {
    OK(MPI_Recv(&pid, 1, MPI_INT, 0, 7, MPI_COMM_WORLD, MPI_STATUS_IGNORE));
    snprintf(address.sun_path + 1, sizeof address.sun_path - 1, "llamada-join-test-%d", pid);
    socket_end = socket(AF_UNIX, SOCK_STREAM, 0);
    CHECK(connect(socket_end, (struct sockaddr*)&address, sizeof address) == 0);
  }
  CHECK(socket_end >= 0);
  MPI_Comm inter;
  OK(MPI_Comm_join(socket_end, &inter));
  CHECK(inter != MPI_COMM_NULL);
  exchange(inter);
  OK(MPI_Comm_disconnect(&inter));
  close(socket_end);
}

int main(int argc, char** argv) {
  chapter = "spawn";
  program = argv[0];
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &ranks);
  if (argc > 1) return child(argc, argv);
  MPI_Comm parent;
  OK(MPI_Comm_get_parent(&parent));
  CHECK_EQ(parent, MPI_COMM_NULL);
  test_basic(1, 0);
  test_basic(3, ranks - 1);
  test_self();
  test_failure();
  test_hints();
  test_multiple();
  test_family();
  test_ports();
  test_parts();
  test_join();
  MPI_Barrier(MPI_COMM_WORLD);
  MPI_Finalize();
  if (rank == 0) printf("ok %s\n", chapter);
  return 0;
}
