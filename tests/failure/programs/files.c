/* What users do to files, in a folder below TMPDIR: a configuration that is read, a restart file that may be
 * there, logs that are begun and appended to, states that are written beside the old one and renamed over it,
 * scratch files that have lost their names, directories that come and go, files that are removed while they
 * are open. All ranks are told what came of each call. At the end the folder is empty. */
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdarg.h>
#include <sys/stat.h>

#include "program.h"

static char folder[200];
static uint64_t digest;

/* The name of a file of this rank's, or of the one given. */
static const char* path_of(int owner, const char* name) {
  static char paths[4][300];
  static int next;
  char* path = paths[next++ % 4];
  snprintf(path, sizeof paths[0], "%s/%s.%d", folder, name, owner);
  return path;
}
static const char* path(const char* name) { return path_of(rank, name); }

/* All learn what came of a call. */
static void tell(long result) {
  long all[64];
  MPI_Allgather(&result, 1, MPI_LONG, all, 1, MPI_LONG, MPI_COMM_WORLD);
  for (int i = 0; i < ranks; i++) digest = mix(digest, (uint64_t)all[i]);
}

static void must(int is_right, const char* what) {
  if (is_right) return;
  fprintf(stderr, "rank %d: %s: %s\n", rank, what, strerror(errno));
  MPI_Abort(MPI_COMM_WORLD, 99);
}
#define MUST(condition) must(condition, #condition)

static void put(const char* name, const char* mode, const char* format, ...) {
  FILE* file = fopen(path(name), mode);
  va_list arguments;
  MUST(file != NULL);
  va_start(arguments, format);
  MUST(vfprintf(file, format, arguments) > 0);
  va_end(arguments);
  MUST(fclose(file) == 0);
}

/* A digest of a file, and its size. */
static uint64_t content(const char* name, long* size) {
  char line[200];
  uint64_t sum = 0;
  FILE* file = fopen(name, "r");
  *size = 0;
  while (file && fgets(line, sizeof line, file)) {
    *size += (long)strlen(line);
    for (const char* letter = line; *letter; letter++) sum = mix(sum, (uint64_t)*letter);
  }
  if (file) fclose(file);
  return sum;
}
static void tell_content(const char* name) {
  long size;
  tell((long)content(name, &size));
  tell(size);
}

static void make_folder(void) {
  const char* where = getenv("TMPDIR");
  if (rank == 0) {
    snprintf(folder, sizeof folder, "%s/files-XXXXXX", where ? where : "/tmp");
    MUST(mkdtemp(folder) != NULL);
  }
  MPI_Bcast(folder, sizeof folder, MPI_CHAR, 0, MPI_COMM_WORLD);
}

/* Rank 0 writes it, all read it, then rank 0 removes it. */
static int read_configuration(void) {
  int value = 0;
  if (rank == 0) put("configuration", "w", "# comment\nvalue = %d\n", 7);
  MPI_Barrier(MPI_COMM_WORLD);
  FILE* file = fopen(path_of(0, "configuration"), "r");
  char line[100];
  while (file && fgets(line, sizeof line, file)) (void)!sscanf(line, "value = %d", &value);
  MUST(file && fclose(file) == 0);
  tell(value);
  if (rank == 0) MUST(unlink(path("configuration")) == 0);
  return value;
}

static long restart(void) {
  struct stat found;
  long step = -1;
  if (stat(path("restart"), &found) != 0) return step;
  FILE* file = fopen(path("restart"), "r");
  MUST(file && fscanf(file, "%ld", &step) == 1 && fclose(file) == 0);
  return step;
}
static void write_state(int step) {
  const int file = open(path("state.new"), O_WRONLY | O_CREAT | O_TRUNC, 0600);
  char text[64];
  const int length = snprintf(text, sizeof text, "%d state of rank %d\n", step, rank);
  MUST(file >= 0 && write(file, text, (size_t)length) == length && fsync(file) == 0 && close(file) == 0);
  MUST(rename(path("state.new"), path("restart")) == 0);
  unlink(path("latest"));
  MUST(symlink(path("restart"), path("latest")) == 0);
}

/* Files that go on after their names. */
static void use_scratch(int step) {
  char name[300], back[32] = "";
  snprintf(name, sizeof name, "%s/scratch-XXXXXX", folder);
  const int file = mkstemp(name);
  MUST(file >= 0 && unlink(name) == 0);
  MUST(dprintf(file, "scratch %d\n", step) > 0);
  tell(lseek(file, 0, SEEK_SET));
  MUST(read(file, back, 8) == 8);
  tell(read(file, back + 8, sizeof back - 9));
  MUST(atoi(back + 8) == step && close(file) == 0);
  FILE* stream = tmpfile();
  MUST(stream && fprintf(stream, "%d\n", step + 1) > 0);
  tell(0);
  rewind(stream);
  int got = 0;
  MUST(fscanf(stream, "%d", &got) == 1 && got == step + 1 && fclose(stream) == 0);
}

static void use_directory(int step) {
  char names[3][340];
  const char* directory = path("directory");
  MUST(mkdir(directory, 0700) == 0);
  for (int i = 0; i < 3; i++) {
    snprintf(names[i], sizeof names[i], "%s/%d", directory, i);
    const int file = open(names[i], O_WRONLY | O_CREAT | O_EXCL, 0600);
    MUST(file >= 0 && write(file, "x", 1) == 1 && ftruncate(file, step) == 0 && close(file) == 0);
  }
  long count = 0;
  DIR* listed = opendir(directory);
  while (listed && readdir(listed)) count++;
  closedir(listed);
  tell(count);
  errno = 0;
  tell(rmdir(directory) * 1000 + errno);
  for (int i = 0; i < 3; i++) MUST(unlink(names[i]) == 0);
  MUST(rmdir(directory) == 0);
  tell(access(directory, F_OK));
}

/* All append to one file of rank 0's in turn. */
static void append_in_turn(int step) {
  for (int turn = 0; turn < ranks; turn++) {
    if (turn == rank) {
      const int file = open(path_of(0, "common"), O_WRONLY | O_CREAT | O_APPEND, 0600);
      MUST(file >= 0 && dprintf(file, "step %d of rank %d\n", step, rank) > 0 && close(file) == 0);
    }
    MPI_Barrier(MPI_COMM_WORLD);
  }
  tell_content(path_of(0, "common"));
}

int main(int argc, char** argv) {
  begin(argc, argv);
  make_folder();
  const int value = read_configuration();
  for (int step = 0; step < steps; step++) {
    const long begun = restart();
    MUST(begun == step - 1);
    tell(begun);
    put("log", step == 0 ? "w" : "a", "step %d: %d\n", step, step * value);
    write_state(step);
    tell_content(path("latest"));
    if (step % 4 == 0) use_scratch(step);
    if (step % 4 == 1) use_directory(step);
    if (step % 4 == 2) append_in_turn(step);
    pause_step();
  }
  tell_content(path("log"));
  tell_content(path_of((rank + 1) % ranks, "log"));
  MPI_Barrier(MPI_COMM_WORLD);
  MUST(remove(path("log")) == 0 && remove(path("restart")) == 0 && remove(path("latest")) == 0);
  if (rank == 0 && steps > 2) MUST(remove(path("common")) == 0);
  MPI_Barrier(MPI_COMM_WORLD);
  if (rank == 0) MUST(rmdir(folder) == 0);
  if (rank == 0) printf("digest %016llx\n", (unsigned long long)digest);
  return finish("files");
}
