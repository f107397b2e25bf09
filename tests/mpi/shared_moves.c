/* shared_moves ROUNDS FILE [EVERY]: in each round all ranks write records into a new file by the pointer that
 * they share, and read it by that. Then the file has all records, each once and in one piece, those of a rank
 * in their order, and nothing between them: whatever was killed meanwhile. EVERY: they take a checkpoint
 * every so many rounds. */
#define _POSIX_C_SOURCE 200809L
#include <llamada-checkpoint.h>
#include <time.h>

#include "check.h"

enum { writes = 12, parts_most = 5, ranks_most = 8, cells_most = (writes + 1) * parts_most * ranks_most };

typedef struct {
  int from, number, part, parts;
} Cell;

static int round_number;

static int parts_of(int from, int number) { return 1 + (7 * round_number + 3 * from + number) % parts_most; }

static void linger(void) {
  const struct timespec pause = {0, (rank + round_number) % 3 * 1000000L};
  nanosleep(&pause, NULL);
}

static int fill_record(Cell* cells, int number) {
  const int parts = parts_of(rank, number);
  for (int i = 0; i < parts; i++) cells[i] = (Cell){rank, number, i, parts};
  return parts;
}

static int cells_of_round(void) {
  int all = 0;
  for (int from = 0; from < ranks; from++)
    for (int number = 0; number <= writes; number++) all += parts_of(from, number);
  return all;
}

static void write_records(MPI_File file, MPI_Datatype cell) {
  Cell own[parts_most];
  MPI_Offset at;
  for (int number = 0; number < writes; number++) {
    linger();
    if (number == writes / 2) {
      /* At a place that all know. */
      OK(MPI_File_get_position_shared(file, &at));
      OK(MPI_Barrier(MPI_COMM_WORLD));
      OK(MPI_File_seek_shared(file, -1, MPI_SEEK_CUR));
      OK(MPI_File_seek_shared(file, 1, MPI_SEEK_CUR));
    }
    OK(MPI_File_write_shared(file, own, fill_record(own, number), cell, MPI_STATUS_IGNORE));
  }
  OK(MPI_File_write_ordered(file, own, fill_record(own, writes), cell, MPI_STATUS_IGNORE));
  OK(MPI_Barrier(MPI_COMM_WORLD));
  OK(MPI_File_get_position_shared(file, &at));
  CHECK(at == cells_of_round());
}

/* Who reads which cell nobody knows. */
static void read_by_pointer(MPI_File file, MPI_Datatype cell) {
  const int all = cells_of_round();
  long long sum = 0, expected = 0, got = 0;
  Cell own;
  OK(MPI_File_sync(file));
  OK(MPI_Barrier(MPI_COMM_WORLD));
  OK(MPI_File_seek_shared(file, 0, MPI_SEEK_SET));
  for (int i = rank; i < all; i += ranks) {
    OK(MPI_File_read_shared(file, &own, 1, cell, MPI_STATUS_IGNORE));
    got += own.from * 1000 + own.number * 10 + own.part;
  }
  for (int from = 0; from < ranks; from++)
    for (int number = 0; number <= writes; number++)
      for (int part = 0; part < parts_of(from, number); part++) expected += from * 1000 + number * 10 + part;
  OK(MPI_Allreduce(&got, &sum, 1, MPI_LONG_LONG, MPI_SUM, MPI_COMM_WORLD));
  CHECK(sum == expected);
}

static void check_records(MPI_File file, MPI_Datatype cell) {
  static Cell cells[cells_most];
  int next[ranks_most] = {0};
  const int all = cells_of_round();
  MPI_Offset size;
  OK(MPI_File_get_size(file, &size));
  CHECK(size == all * (MPI_Offset)sizeof(Cell));
  OK(MPI_File_read_at(file, 0, cells, all, cell, MPI_STATUS_IGNORE));
  for (int i = 0; i < all;) {
    const Cell first = cells[i];
    CHECK(first.from >= 0 && first.from < ranks && first.number == next[first.from]);
    CHECK(first.parts == parts_of(first.from, first.number));
    for (int part = 0; part < first.parts; part++, i++)
      CHECK(cells[i].from == first.from && cells[i].number == first.number && cells[i].part == part);
    next[first.from]++;
  }
  for (int from = 0; from < ranks; from++) CHECK(next[from] == writes + 1);
}

int main(int argc, char** argv) {
  begin("shared_moves", &argc, &argv);
  const int rounds = argc > 1 ? atoi(argv[1]) : 3;
  const char* path = argc > 2 ? argv[2] : "shared_moves";
  const int every = argc > 3 ? atoi(argv[3]) : 0;
  CHECK(ranks <= ranks_most);
  MPI_Datatype cell;
  OK(MPI_Type_contiguous(4, MPI_INT, &cell));
  OK(MPI_Type_commit(&cell));
  OK(LLAMADA_Checkpoint_register(&round_number, sizeof round_number));
  for (; round_number < rounds; round_number++) {
    MPI_File file;
    int restarted;
    if (every > 0 && round_number % every == 0) OK(LLAMADA_Checkpoint(MPI_COMM_WORLD, &restarted));
    OK(MPI_File_open(MPI_COMM_WORLD, path, MPI_MODE_CREATE | MPI_MODE_RDWR | MPI_MODE_DELETE_ON_CLOSE,
                     MPI_INFO_NULL, &file));
    OK(MPI_File_set_errhandler(file, MPI_ERRORS_ARE_FATAL));
    OK(MPI_File_set_view(file, 0, cell, cell, "native", MPI_INFO_NULL));
    write_records(file, cell);
    read_by_pointer(file, cell);
    check_records(file, cell);
    OK(MPI_File_close(&file));
    if (rank == 0) printf("round %d: %d cells are right\n", round_number, cells_of_round());
  }
  OK(MPI_Type_free(&cell));
  OK(MPI_Finalize());
  return 0;
}
