/* What this rank tells outside of MPI: lines on standard output and at the end of a file of its own. */
#include "phases.h"

#include <fcntl.h>

static char path[300];
static int lines;

void begin_output(unsigned long long seed) {
  const char* folder = getenv("TMPDIR");
  snprintf(path, sizeof path, "%s/llamada-phases-%llu-%d-lines", folder ? folder : "/tmp", seed,
           (int)getpid());
}

/* Only what follows from the seed may be told. */
void say(void) {
  if (!phase.certain) return;
  printf("rank %d in phase %d: %016llx\n", rank, phase.number, (unsigned long long)draw(1ull << 60));
  if (draw(2)) fflush(stdout);
}

void append(void) {
  char line[40];
  int length = snprintf(line, sizeof line, "%8d\n", lines);
  int file = open(path, O_WRONLY | O_APPEND | O_CREAT | (lines == 0 ? O_EXCL : 0), 0600);
  CHECK(file >= 0 && write(file, line, (size_t)length) == length && close(file) == 0);
  lines++;
}

/* By MPI, because a replacement comes here, too, when the file is there no more. */
void end_output(void) {
  MPI_File file;
  char line[40], expected[40];
  MPI_Offset size;
  if (lines == 0) return;
  CHECK(MPI_File_open(MPI_COMM_SELF, path, MPI_MODE_RDONLY, MPI_INFO_NULL, &file) == MPI_SUCCESS);
  MPI_File_get_size(file, &size);
  CHECK(size == 9 * lines);
  for (int i = 0; i < lines; i++) {
    snprintf(expected, sizeof expected, "%8d\n", i);
    MPI_File_read(file, line, 9, MPI_CHAR, MPI_STATUS_IGNORE);
    CHECK(memcmp(line, expected, 9) == 0);
  }
  MPI_File_close(&file);
  MPI_File_delete(path, MPI_INFO_NULL);
}
