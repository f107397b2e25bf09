/* A file that all write into and read from, by several ways. */
#include "phases.h"

enum { block_most = 5000 };

static char path[300];

void begin_files(unsigned long long seed) {
  const char* folder = getenv("TMPDIR");
  snprintf(path, sizeof path, "%s/llamada-phases-%llu-%d", folder ? folder : "/tmp", seed, (int)getpid());
  MPI_Bcast(path, sizeof path, MPI_CHAR, 0, MPI_COMM_WORLD);
}

static void complete(MPI_Request* request, MPI_Status* status) { MPI_Wait(request, status); }

/* This rank's block of `count` integers: at its place in a row of them. */
static void write_own(MPI_File file, const int* data, int count) {
  MPI_Request request;
  MPI_Status status;
  MPI_Offset at = (MPI_Offset)rank * count * 4;
  switch (own(4)) {
    case 0:
      MPI_File_write_at(file, at, data, count, MPI_INT, &status);
      break;
    case 1:
      MPI_File_seek(file, at, MPI_SEEK_SET);
      MPI_File_write(file, data, count, MPI_INT, &status);
      break;
    case 2:
      MPI_File_iwrite_at(file, at, data, count, MPI_INT, &request);
      complete(&request, &status);
      break;
    default:
      MPI_File_seek(file, at, MPI_SEEK_SET);
      MPI_File_iwrite(file, data, count, MPI_INT, &request);
      complete(&request, &status);
  }
  int written;
  MPI_Get_count(&status, MPI_INT, &written);
  CHECK(written == count);
}

/* The same by all together; the ways are drawn by all. */
static void write_together(MPI_File file, const int* data, int count) {
  MPI_Status status;
  MPI_Offset at = (MPI_Offset)rank * count * 4;
  MPI_Request request;
  int way = (int)draw(5);
  if (way == 2 && !has_shared_pointers) way = 0;
  switch (way) {
    case 0:
      MPI_File_write_at_all(file, at, data, count, MPI_INT, &status);
      break;
    case 1:
      MPI_File_seek(file, at, MPI_SEEK_SET);
      MPI_File_write_all(file, data, count, MPI_INT, &status);
      break;
    case 2:
      MPI_File_write_ordered(file, data, count, MPI_INT, &status);
      break;
    case 3:
      MPI_File_write_at_all_begin(file, at, data, count, MPI_INT);
      MPI_File_write_at_all_end(file, data, &status);
      break;
    default:
      MPI_File_iwrite_at_all(file, at, data, count, MPI_INT, &request);
      complete(&request, &status);
  }
}

/* Integers of all ranks in turn: a view with gaps. */
static void write_interleaved(MPI_File file, const int* data, int count) {
  MPI_Datatype mine;
  MPI_Type_vector(count, 1, ranks, MPI_INT, &mine);
  MPI_Type_commit(&mine);
  MPI_File_set_view(file, rank * 4, MPI_INT, mine, "native", MPI_INFO_NULL);
  MPI_Type_free(&mine);
  if (draw(2))
    MPI_File_write_all(file, data, count, MPI_INT, MPI_STATUS_IGNORE);
  else
    MPI_File_write(file, data, count, MPI_INT, MPI_STATUS_IGNORE);
  MPI_File_set_view(file, 0, MPI_INT, MPI_INT, "native", MPI_INFO_NULL);
}

static void fill(int* to, int from, int k, int count) {
  write_bytes((unsigned char*)to, value_of(from, 0, k), 0, (size_t)count * 4);
}

static void synchronise(MPI_File file) {
  MPI_File_sync(file);
  MPI_Barrier(MPI_COMM_WORLD);
  MPI_File_sync(file);
}

/* Of any rank's block, in bytes for views that count them. */
static void read_and_check(MPI_File file, int k, int count, int interleaved, int unit) {
  static int got[block_most * ranks_most], expected[block_most];
  int all = count * ranks;
  MPI_Status status;
  (void)unit;
  if (draw(2))
    MPI_File_read_at_all(file, 0, got, all, MPI_INT, &status);
  else
    MPI_File_read_at(file, 0, got, all, MPI_INT, &status);
  int read;
  MPI_Get_count(&status, MPI_INT, &read);
  CHECK(read == all);
  for (int from = 0; from < ranks; from++) {
    fill(expected, from, k, count);
    for (int i = 0; i < count; i++)
      CHECK(got[interleaved ? i * ranks + from : from * count + i] == expected[i]);
  }
}

/* Each takes places from a pointer that all share; who gets which is witnessed. */
static void share_pointer(MPI_File file, int k) {
  enum { each = 3 };
  int marks[each * ranks_most], seen[each * ranks_most] = {0};
  MPI_File_seek_shared(file, 0, MPI_SEEK_SET);
  for (int i = 0; i < each; i++) {
    int mark = rank * each + i;
    MPI_File_write_shared(file, &mark, 1, MPI_INT, MPI_STATUS_IGNORE);
    linger();
  }
  synchronise(file);
  MPI_File_read_at(file, 0, marks, each * ranks, MPI_INT, MPI_STATUS_IGNORE);
  for (int i = 0; i < each * ranks; i++) {
    CHECK(marks[i] >= 0 && marks[i] < each * ranks && !seen[marks[i]]);
    seen[marks[i]] = 1;
    witness((uint64_t)(marks[i] + k));
  }
}

void on_file(void) {
  static int data[block_most];
  MPI_File file;
  MPI_Offset size;
  int steps = 1 + (int)draw(4);
  CHECK(MPI_File_open(MPI_COMM_WORLD, path, MPI_MODE_CREATE | MPI_MODE_EXCL | MPI_MODE_RDWR, MPI_INFO_NULL,
                      &file) == MPI_SUCCESS);
  MPI_File_set_errhandler(file, MPI_ERRORS_ARE_FATAL);
  MPI_File_set_view(file, 0, MPI_INT, MPI_INT, "native", MPI_INFO_NULL);
  MPI_File_set_view(file, 0, MPI_BYTE, MPI_BYTE, "native", MPI_INFO_NULL);
  for (int k = 0; k < steps; k++) {
    int count = (int)draw_bytes(block_most * 4) / 4, way = (int)draw(4);
    if (way == 3 && !has_shared_pointers) way = 0;
    fill(data, rank, k, count);
    MPI_File_set_size(file, 0);
    if (has_shared_pointers) MPI_File_seek_shared(file, 0, MPI_SEEK_SET);
    if (way == 0) write_own(file, data, count);
    if (way == 1) write_together(file, data, count);
    if (way == 2) write_interleaved(file, data, count);
    if (way == 3) share_pointer(file, k);
    synchronise(file);
    MPI_File_set_view(file, 0, MPI_BYTE, MPI_BYTE, "native", MPI_INFO_NULL);
    MPI_File_get_size(file, &size);
    CHECK(size == (way == 3 ? 3 * ranks * 4 : (MPI_Offset)count * ranks * 4));
    if (way != 3) read_and_check(file, k, count, way == 2, 4);
    MPI_Barrier(MPI_COMM_WORLD);
  }
  MPI_File_close(&file);
  if (rank == 0) MPI_File_delete(path, MPI_INFO_NULL);
  MPI_Barrier(MPI_COMM_WORLD);
  if (phase.certain) count_in(phase.base);
}
