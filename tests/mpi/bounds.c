/* How many messages a rank may have under way (SEND_WINDOW, RESOURCE_LIMITS), and that ranks at that bound
 * free each other. "bounds FILE": rank 0 counts its sends that are over while the others are outside MPI, and
 * prints the number; then every rank sends all its messages before it receives any. */
#include <fcntl.h>
#include <unistd.h>

#include "check.h"

enum { early = 64, floods = 300, longest = 3000 };

static void await_file(const char* path) {
  while (access(path, F_OK) != 0) usleep(1000);
}

/* Sends to ranks that take nothing; gives how many are over. */
static int send_early(MPI_Request* requests, int* values) {
  int over = 0, count = (ranks - 1) * early;
  for (int i = 0; i < count; i++) {
    values[i] = i;
    OK(MPI_Isend(&values[i], 1, MPI_INT, 1 + i % (ranks - 1), 0, MPI_COMM_WORLD, &requests[i]));
  }
  for (int round = 0; round < 50; round++) {
    int some = 0;
    static int indices[4096];
    OK(MPI_Testsome(count, requests, &some, indices, MPI_STATUSES_IGNORE));
    if (some != MPI_UNDEFINED) over += some;
    usleep(1000);
  }
  return over;
}

static void count_early(const char* path) {
  static MPI_Request requests[4096];
  static int values[4096];
  if (rank > 0) {
    await_file(path);
    for (int i = 0, value; i < early; i++) {
      OK(MPI_Recv(&value, 1, MPI_INT, 0, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE));
      CHECK_EQ(value, i * (ranks - 1) + rank - 1);
    }
    return;
  }
  printf("early %d\n", send_early(requests, values));
  close(open(path, O_CREAT | O_WRONLY, 0600));
  OK(MPI_Waitall((ranks - 1) * early, requests, MPI_STATUSES_IGNORE));
}

static int length_of(int from, int to, int number) { return (int)(pattern(from, to, number) % longest); }

/* Every rank is at its bound to all others, and nobody has received anything. */
static void flood(void) {
  static char out[longest], in[longest];
  for (int i = 0; i < floods; i++)
    for (int to = 0; to < ranks; to++) {
      memset(out, rank + i, sizeof out);
      OK(MPI_Send(out, length_of(rank, to, i), MPI_CHAR, to, i, MPI_COMM_WORLD));
    }
  for (int i = 0; i < floods; i++)
    for (int from = 0; from < ranks; from++) {
      MPI_Status status;
      OK(MPI_Recv(in, longest, MPI_CHAR, from, i, MPI_COMM_WORLD, &status));
      CHECK(status_is(&status, from, i, MPI_CHAR, length_of(from, rank, i)));
      for (int at = 0; at < length_of(from, rank, i); at++) CHECK(in[at] == (char)(from + i));
    }
}

/* One takes slowly what all others send to it, by wildcards. */
static void to_one(void) {
  long long sum = 0;
  if (rank > 0) {
    for (int i = 0; i < floods; i++) OK(MPI_Send(&i, 1, MPI_INT, 0, 1, MPI_COMM_WORLD));
    return;
  }
  for (int i = 0, value; i < floods * (ranks - 1); i++) {
    OK(MPI_Recv(&value, 1, MPI_INT, MPI_ANY_SOURCE, 1, MPI_COMM_WORLD, MPI_STATUS_IGNORE));
    sum += value;
  }
  CHECK_EQ(sum, (long long)(ranks - 1) * floods * (floods - 1) / 2);
}

int main(int argc, char** argv) {
  begin("bounds", &argc, &argv);
  CHECK(argc == 2 && ranks > 1 && (ranks - 1) * early <= 4096);
  count_early(argv[1]);
  MPI_Barrier(MPI_COMM_WORLD);
  flood();
  to_one();
  return finish();
}
