/* Files (MPI 3.1, 13.4): shared and ordered pointers, nonblocking, split and collective accesses, atomic
 * mode. */
#include "io_check.h"

/* Each rank writes so many records of two numbers; all are there afterwards, each once, none torn. */
static void shared_writes(void) {
  enum { each = 7 };
  MPI_Offset position = -1, size;
  MPI_Status status;
  MPI_File file = open_file("shared", MPI_MODE_CREATE | MPI_MODE_RDWR);
  OK(MPI_File_set_view(file, 8, MPI_INT, MPI_INT, "native", MPI_INFO_NULL));
  for (int i = 0; i < each; i++) {
    int record[2] = {rank, i};
    OK(MPI_File_write_shared(file, record, 2, MPI_INT, &status));
    CHECK_EQ(got_count(&status, MPI_INT), 2);
  }
  OK(MPI_Barrier(MPI_COMM_WORLD));
  OK(MPI_File_get_position_shared(file, &position));
  CHECK_EQ(position, 2 * each * ranks);
  OK(MPI_File_get_size(file, &size));
  CHECK_EQ(size, 8 + 8 * each * ranks);
  int* all = allocate((size_t)(2 * each * ranks) * sizeof(int));
  int* seen = allocate((size_t)(ranks * each) * sizeof(int));
  OK(MPI_File_read_at_all(file, 0, all, 2 * each * ranks, MPI_INT, &status));
  CHECK_EQ(got_count(&status, MPI_INT), 2 * each * ranks);
  for (int i = 0; i < each * ranks; i++) CHECK_EQ(seen[all[2 * i] * each + all[2 * i + 1]]++, 0);
  /* What one process has written is in the order of its calls. */
  for (int other = 0; other < ranks; other++) {
    int next = 0;
    for (int i = 0; i < each * ranks; i++)
      if (all[2 * i] == other) CHECK_EQ(all[2 * i + 1], next++);
  }
  /* Read back by shared pointer: everybody gets others' records, together all. */
  OK(MPI_File_seek_shared(file, 0, MPI_SEEK_SET));
  int mine[2], sum = 0, total = 0;
  for (int i = 0; i < each; i++) {
    OK(MPI_File_read_shared(file, mine, 2, MPI_INT, &status));
    CHECK_EQ(got_count(&status, MPI_INT), 2);
    sum += mine[0] * each + mine[1];
  }
  OK(MPI_Allreduce(&sum, &total, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD));
  CHECK_EQ(total, ranks * each * (ranks * each - 1) / 2);
  OK(MPI_File_read_shared(file, mine, 2, MPI_INT, &status));
  CHECK_EQ(got_count(&status, MPI_INT), 0); /* The end. */
  OK(MPI_File_seek_shared(file, -2, MPI_SEEK_END));
  OK(MPI_File_get_position_shared(file, &position));
  CHECK_EQ(position, 2 * each * ranks - 2);
  CHECK_EQ(class_of(MPI_File_seek_shared(file, -1000, MPI_SEEK_CUR)), MPI_ERR_ARG);
  free(all);
  free(seen);
  close_file(&file);
  if (rank == 0) OK(MPI_File_delete(path("shared"), MPI_INFO_NULL));
  OK(MPI_Barrier(MPI_COMM_WORLD));
}

/* Rank r writes r + 1 numbers in each round, in the order of the ranks. */
static void ordered(void) {
  int values[16], got[16];
  MPI_Offset position;
  MPI_Status status;
  const int per_round = ranks * (ranks + 1) / 2, before = rank * (rank + 1) / 2;
  MPI_File file = open_file("ordered", MPI_MODE_CREATE | MPI_MODE_RDWR);
  OK(MPI_File_set_view(file, 0, MPI_INT, MPI_INT, "native", MPI_INFO_NULL));
  for (int round = 0; round < 3; round++) {
    for (int i = 0; i <= rank; i++) values[i] = round * 1000 + before + i;
    if (round == 1) {
      OK(MPI_File_write_ordered_begin(file, values, rank + 1, MPI_INT));
      OK(MPI_File_write_ordered_end(file, values, &status));
    } else {
      OK(MPI_File_write_ordered(file, values, rank + 1, MPI_INT, &status));
    }
    CHECK_EQ(got_count(&status, MPI_INT), rank + 1);
  }
  OK(MPI_Barrier(MPI_COMM_WORLD));
  OK(MPI_File_get_position_shared(file, &position));
  CHECK_EQ(position, 3 * per_round);
  OK(MPI_Barrier(MPI_COMM_WORLD));
  for (int round = 0; round < 3; round++) {
    for (int i = 0; i < per_round; i++) {
      OK(MPI_File_read_at(file, round * per_round + i, got, 1, MPI_INT, &status));
      CHECK_EQ(got[0], round * 1000 + i);
    }
  }
  OK(MPI_File_seek_shared(file, per_round, MPI_SEEK_SET));
  OK(MPI_File_read_ordered(file, got, rank + 1, MPI_INT, &status));
  for (int i = 0; i <= rank; i++) CHECK_EQ(got[i], 1000 + before + i);
  OK(MPI_File_read_ordered_begin(file, got, rank + 1, MPI_INT));
  OK(MPI_File_read_ordered_end(file, got, &status));
  CHECK_EQ(got_count(&status, MPI_INT), rank + 1);
  for (int i = 0; i <= rank; i++) CHECK_EQ(got[i], 2000 + before + i);
  close_file(&file);
  if (rank == 0) OK(MPI_File_delete(path("ordered"), MPI_INFO_NULL));
  OK(MPI_Barrier(MPI_COMM_WORLD));
}

static void wait_one(MPI_Request* request, MPI_Datatype type, int count) {
  MPI_Status status;
  OK(MPI_Wait(request, &status));
  CHECK(*request == MPI_REQUEST_NULL);
  CHECK_EQ(got_count(&status, type), count);
}

static void nonblocking(void) {
  enum { count = 50 };
  int values[count], got[count], index, flag = 0;
  MPI_Request request, two[2];
  MPI_Status status;
  MPI_File file = open_file("nonblocking", MPI_MODE_CREATE | MPI_MODE_RDWR);
  const MPI_Offset own = (MPI_Offset)rank * count * 4;
  fill(values, count, 11, (uint32_t)rank);
  OK(MPI_File_set_view(file, 0, MPI_INT, MPI_INT, "native", MPI_INFO_NULL));
  OK(MPI_File_iwrite_at(file, own, values, count, MPI_INT, &request));
  wait_one(&request, MPI_INT, count);
  OK(MPI_File_iwrite_at_all(file, own + count, values, count, MPI_INT, &request));
  wait_one(&request, MPI_INT, count);
  OK(MPI_File_seek(file, own + 2 * count, MPI_SEEK_SET));
  OK(MPI_File_iwrite(file, values, count, MPI_INT, &two[0]));
  OK(MPI_File_iwrite_all(file, values, count, MPI_INT, &two[1]));
  OK(MPI_Waitall(2, two, MPI_STATUSES_IGNORE));
  OK(MPI_Barrier(MPI_COMM_WORLD));
  const MPI_Offset next = (MPI_Offset)((rank + 1) % ranks) * count * 4;
  OK(MPI_File_seek(file, next, MPI_SEEK_SET));
  for (int part = 0; part < 4; part++) {
    memset(got, 0, sizeof got);
    if (part == 0) OK(MPI_File_iread_at(file, next, got, count, MPI_INT, &request));
    if (part == 1) OK(MPI_File_iread_at_all(file, next + count, got, count, MPI_INT, &request));
    if (part == 2) OK(MPI_File_seek(file, next + 2 * count, MPI_SEEK_SET));
    if (part == 2) OK(MPI_File_iread(file, got, count, MPI_INT, &request));
    if (part == 3) OK(MPI_File_iread_all(file, got, count, MPI_INT, &request));
    flag = 0;
    while (!flag) OK(MPI_Test(&request, &flag, &status));
    CHECK_EQ(got_count(&status, MPI_INT), count);
    CHECK(filled(got, count, 11, (uint32_t)((rank + 1) % ranks)));
  }
  OK(MPI_File_seek_shared(file, 0, MPI_SEEK_SET));
  OK(MPI_File_iread_shared(file, got, 1, MPI_INT, &two[0]));
  OK(MPI_File_iwrite_shared(file, values, 0, MPI_INT, &two[1]));
  OK(MPI_Waitany(2, two, &index, &status));
  OK(MPI_Waitany(2, two, &index, &status));
  close_file(&file);
  if (rank == 0) OK(MPI_File_delete(path("nonblocking"), MPI_INFO_NULL));
  OK(MPI_Barrier(MPI_COMM_WORLD));
}

/* Columns that interleave, small and large, with every choice of the exchange; collective and split. */
static void collective(void) {
  static const char* choices[] = {"automatic", "enable", "disable"};
  for (int width = 1; width <= 3000; width = width * 50 + 1) {
    const int rows = width < 100 ? 300 : 5, own = rows * width;
    int* values = allocate((size_t)own * sizeof(int));
    int* got = allocate((size_t)own * sizeof(int));
    int sizes[2] = {rows, width * ranks}, subsizes[2] = {rows, width}, starts[2] = {0, width * rank};
    MPI_Datatype columns;
    MPI_Status status;
    OK(MPI_Type_create_subarray(2, sizes, subsizes, starts, MPI_ORDER_C, MPI_INT, &columns));
    OK(MPI_Type_commit(&columns));
    for (int choice = 0; choice < 3; choice++) {
      MPI_Info info;
      OK(MPI_Info_create(&info));
      OK(MPI_Info_set(info, "romio_cb_write", choices[choice]));
      OK(MPI_Info_set(info, "romio_cb_read", choices[choice]));
      MPI_File file = open_file("columns", MPI_MODE_CREATE | MPI_MODE_RDWR);
      OK(MPI_File_set_view(file, 12, MPI_INT, columns, "native", info));
      fill(values, own, (uint32_t)(choice + width), (uint32_t)rank);
      OK(MPI_File_write_all(file, values, own / 2, MPI_INT, &status));
      CHECK_EQ(got_count(&status, MPI_INT), own / 2);
      OK(MPI_File_write_at_all_begin(file, own / 2, values + own / 2, own - own / 2, MPI_INT));
      OK(MPI_File_write_at_all_end(file, values + own / 2, &status));
      CHECK_EQ(got_count(&status, MPI_INT), own - own / 2);
      /* Somebody has nothing to write. */
      OK(MPI_File_write_at_all(file, 0, values, rank == ranks - 1 ? 0 : 1, MPI_INT, &status));
      OK(MPI_Barrier(MPI_COMM_WORLD));
      memset(got, 0, (size_t)own * sizeof(int));
      OK(MPI_File_seek(file, 0, MPI_SEEK_SET));
      OK(MPI_File_read_all(file, got, own / 3, MPI_INT, &status));
      CHECK_EQ(got_count(&status, MPI_INT), own / 3);
      OK(MPI_File_read_all_begin(file, got + own / 3, own, MPI_INT));
      OK(MPI_File_read_all_end(file, got + own / 3, &status));
      if (is_strict()) CHECK_EQ(got_count(&status, MPI_INT), own - own / 3); /* The file ends there. */
      CHECK(filled(got, own, (uint32_t)(choice + width), (uint32_t)rank));
      /* The gap in front, and nothing behind. */
      MPI_Offset size;
      OK(MPI_File_get_size(file, &size));
      CHECK_EQ(size, 12 + (MPI_Offset)sizeof(int) * own * ranks);
      close_file(&file);
      OK(MPI_Info_free(&info));
      if (rank == 0) OK(MPI_File_delete(path("columns"), MPI_INFO_NULL));
      OK(MPI_Barrier(MPI_COMM_WORLD));
    }
    OK(MPI_Type_free(&columns));
    free(values);
    free(got);
  }
}

/* No byte is written that nobody gave: the odd columns are already there and stay. */
static void gaps(void) {
  enum { rows = 64 };
  MPI_Datatype column;
  MPI_File file = open_file("gaps", MPI_MODE_CREATE | MPI_MODE_RDWR);
  unsigned char* bytes = allocate((size_t)(rows * 2 * ranks));
  memset(bytes, 7, (size_t)(rows * 2 * ranks));
  if (rank == 0) OK(MPI_File_write_at(file, 0, bytes, rows * 2 * ranks, MPI_BYTE, MPI_STATUS_IGNORE));
  OK(MPI_Barrier(MPI_COMM_WORLD));
  OK(MPI_Type_vector(rows, 1, 2 * ranks, MPI_BYTE, &column));
  OK(MPI_Type_commit(&column));
  OK(MPI_File_set_view(file, 2 * rank, MPI_BYTE, column, "native", MPI_INFO_NULL));
  memset(bytes, 100 + rank, rows);
  OK(MPI_File_write_all(file, bytes, rows, MPI_BYTE, MPI_STATUS_IGNORE));
  OK(MPI_File_set_view(file, 0, MPI_BYTE, MPI_BYTE, "native", MPI_INFO_NULL));
  OK(MPI_Barrier(MPI_COMM_WORLD));
  OK(MPI_File_read_all(file, bytes, rows * 2 * ranks, MPI_BYTE, MPI_STATUS_IGNORE));
  for (int i = 0; i < rows * 2 * ranks; i++) CHECK_EQ(bytes[i], i % 2 ? 7 : 100 + i / 2 % ranks);
  OK(MPI_Type_free(&column));
  close_file(&file);
  free(bytes);
  if (rank == 0) OK(MPI_File_delete(path("gaps"), MPI_INFO_NULL));
  OK(MPI_Barrier(MPI_COMM_WORLD));
}

/* In atomic mode nobody sees half of a write. */
static void atomic_mode(void) {
  enum { count = 5000, rounds = 20 };
  int flag = 0;
  int* values = allocate(count * sizeof(int));
  MPI_File file = open_file("atomic", MPI_MODE_CREATE | MPI_MODE_RDWR);
  OK(MPI_File_set_atomicity(file, 1));
  OK(MPI_File_get_atomicity(file, &flag));
  CHECK(flag);
  if (rank == 0) OK(MPI_File_write_at(file, 0, values, count, MPI_INT, MPI_STATUS_IGNORE));
  OK(MPI_Barrier(MPI_COMM_WORLD));
  for (int round = 1; round <= rounds; round++) {
    for (int i = 0; rank == 0 && i < count; i++) values[i] = round;
    if (rank == 0)
      OK(MPI_File_write_at(file, 0, values, count, MPI_INT, MPI_STATUS_IGNORE));
    else
      OK(MPI_File_read_at(file, 0, values, count, MPI_INT, MPI_STATUS_IGNORE));
    for (int i = 1; i < count; i++) CHECK_EQ(values[i], values[0]);
  }
  close_file(&file);
  free(values);
  if (rank == 0) OK(MPI_File_delete(path("atomic"), MPI_INFO_NULL));
  OK(MPI_Barrier(MPI_COMM_WORLD));
}

/* A sequential file has a shared pointer alone; split collectives are one at a time. */
static void refusals(void) {
  int value = 1;
  MPI_File file = open_file("refused", MPI_MODE_CREATE | MPI_MODE_WRONLY | MPI_MODE_SEQUENTIAL);
  CHECK_EQ(class_of(MPI_File_write(file, &value, 1, MPI_INT, MPI_STATUS_IGNORE)),
           MPI_ERR_UNSUPPORTED_OPERATION);
  CHECK_EQ(class_of(MPI_File_seek(file, 0, MPI_SEEK_SET)), MPI_ERR_UNSUPPORTED_OPERATION);
  OK(MPI_File_write_shared(file, &value, 1, MPI_INT, MPI_STATUS_IGNORE));
  close_file(&file);
  file = open_file("refused", MPI_MODE_RDWR | MPI_MODE_DELETE_ON_CLOSE);
  OK(MPI_File_write_all_begin(file, &value, 1, MPI_INT));
  CHECK(MPI_File_write_all_begin(file, &value, 1, MPI_INT) != MPI_SUCCESS);
  CHECK(MPI_File_read_all_end(file, &value, MPI_STATUS_IGNORE) != MPI_SUCCESS || !is_strict());
  OK(MPI_File_write_all_end(file, &value, MPI_STATUS_IGNORE));
  close_file(&file);
}

/* Two groups at once, each with a file and a pointer of its own. */
static void halves(void) {
  char name[16];
  int size;
  MPI_Comm half;
  MPI_File file;
  MPI_Offset position;
  OK(MPI_Comm_split(MPI_COMM_WORLD, rank % 2, 0, &half));
  OK(MPI_Comm_size(half, &size));
  snprintf(name, sizeof name, "half%d", rank % 2);
  OK(MPI_File_open(half, path(name), MPI_MODE_CREATE | MPI_MODE_RDWR | MPI_MODE_DELETE_ON_CLOSE,
                   MPI_INFO_NULL, &file));
  for (int i = 0; i < 3; i++) OK(MPI_File_write_shared(file, "abcd", 4, MPI_CHAR, MPI_STATUS_IGNORE));
  OK(MPI_Barrier(MPI_COMM_WORLD));
  OK(MPI_File_get_position_shared(file, &position));
  CHECK_EQ(position, 12 * size);
  OK(MPI_File_get_size(file, &position));
  CHECK_EQ(position, 12 * size);
  close_file(&file);
  OK(MPI_Comm_free(&half));
}

int main(int argc, char** argv) {
  begin_files("io_shared", &argc, &argv);
  shared_writes();
  ordered();
  nonblocking();
  collective();
  gaps();
  atomic_mode();
  refusals();
  halves();
  return finish_files();
}
