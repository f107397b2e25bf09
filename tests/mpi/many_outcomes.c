/* many_outcomes INTERVALS OUTCOMES LINES [FOLDER]: before each interval all ranks take a checkpoint. In it
 * rank 0 receives OUTCOMES messages, whoever comes first, by as many tests as it takes, asks the clock for
 * each, and prints LINES lines of what came of it. With a FOLDER each rank reads a file of its own there by
 * MPI, and writes into it. Rank 0 says at the end what the FNV-1a of all of its output is. */
#define _POSIX_C_SOURCE 200809L
#include <fcntl.h>
#include <llamada-checkpoint.h>
#include <string.h>

#include "digested.h"

static struct {
  int interval;
  uint32_t digest;
  uint32_t sum;
  double time;
} all = {0, DIGEST_BEGIN, DIGEST_BEGIN, 0};
static int nowhere;

static void mix(const void* bytes, size_t size) {
  for (size_t i = 0; i < size; i++) all.sum = (all.sum ^ ((const unsigned char*)bytes)[i]) * 16777619u;
}

/* What came, from whom, after how many vain tests and when. */
static void receive_one(void) {
  int value, done = 0, vain = 0;
  MPI_Status status;
  MPI_Request request;
  OK(MPI_Irecv(&value, 1, MPI_INT, MPI_ANY_SOURCE, 7, MPI_COMM_WORLD, &request));
  for (;; vain++) {
    OK(MPI_Test(&request, &done, &status));
    if (done) break;
  }
  const double now = MPI_Wtime();
  CHECK(now >= all.time);
  all.time = now;
  mix(&value, sizeof value);
  mix(&status.MPI_SOURCE, sizeof status.MPI_SOURCE);
  mix(&vain, sizeof vain);
  mix(&now, sizeof now);
}

/* The ledger of operations on files gets all that is read. */
static void use_file(const char* folder, int interval) {
  enum { pieces = 8, words = 1024 };
  static int read[words], written[words];
  char path[300];
  MPI_File file;
  snprintf(path, sizeof path, "%s/%d", folder, rank);
  OK(MPI_File_open(MPI_COMM_SELF, path, MPI_MODE_CREATE | MPI_MODE_RDWR, MPI_INFO_NULL, &file));
  for (int i = 0; i < words; i++) written[i] = interval * words + i;
  OK(MPI_File_write_at(file, 0, written, words, MPI_INT, MPI_STATUS_IGNORE));
  for (int piece = 0; piece < pieces; piece++) {
    OK(MPI_File_read_at(file, 0, read, words, MPI_INT, MPI_STATUS_IGNORE));
    CHECK(memcmp(read, written, sizeof read) == 0);
    mix(read, sizeof read);
  }
  OK(MPI_File_close(&file));
}

int main(int argc, char** argv) {
  begin("many_outcomes", &argc, &argv);
  const int intervals = argc > 1 ? atoi(argv[1]) : 10, outcomes = argc > 2 ? atoi(argv[2]) : 1000;
  const int lines = argc > 3 ? atoi(argv[3]) : 1;
  nowhere = open("/dev/null", O_WRONLY);
  CHECK(nowhere >= 0 && ranks > 1);
  OK(LLAMADA_Checkpoint_register(&all, sizeof all));
  for (; all.interval < intervals; all.interval++) {
    int restarted = 0;
    OK(LLAMADA_Checkpoint(MPI_COMM_WORLD, &restarted));
    const int each = outcomes / (ranks - 1);
    for (int i = 0; rank > 0 && i < each; i++) OK(MPI_Send(&i, 1, MPI_INT, 0, 7, MPI_COMM_WORLD));
    for (int i = 0; rank == 0 && i < each * (ranks - 1); i++) receive_one();
    if (argc > 4) use_file(argv[4], all.interval);
    for (int i = 0; rank == 0 && i < lines; i++)
      print_digested(&all.digest, nowhere,
                     "%d, line %d: %u at %.9f, and some more words that fill the line\n", all.interval, i,
                     (unsigned)all.sum, all.time);
    OK(MPI_Barrier(MPI_COMM_WORLD));
  }
  if (rank == 0) {
    printf("digest %u\n", (unsigned)all.digest);
    fflush(stdout);
  }
  OK(MPI_Finalize());
  return 0;
}
