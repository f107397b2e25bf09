/* Files (MPI 3.1, 13.2 to 13.4.3, 13.7): opening, sizes, explicit offsets, individual pointers, views,
 * errors. */
#include "io_check.h"

static void open_and_close(void) {
  int amode, size;
  MPI_File file;
  MPI_Group group;
  CHECK_EQ(class_of(MPI_File_open(MPI_COMM_WORLD, path("absent"), MPI_MODE_RDWR, MPI_INFO_NULL, &file)),
           MPI_ERR_NO_SUCH_FILE);
  CHECK(file == MPI_FILE_NULL);
  file = open_file("a", MPI_MODE_CREATE | MPI_MODE_EXCL | MPI_MODE_RDWR);
  OK(MPI_File_get_amode(file, &amode));
  CHECK_EQ(amode, MPI_MODE_CREATE | MPI_MODE_EXCL | MPI_MODE_RDWR);
  OK(MPI_File_get_group(file, &group));
  OK(MPI_Group_size(group, &size));
  CHECK_EQ(size, ranks);
  OK(MPI_Group_free(&group));
  close_file(&file);
  CHECK_EQ(class_of(MPI_File_open(MPI_COMM_WORLD, path("a"), MPI_MODE_CREATE | MPI_MODE_EXCL | MPI_MODE_RDWR,
                                  MPI_INFO_NULL, &file)),
           MPI_ERR_FILE_EXISTS);
  CHECK_EQ(class_of(MPI_File_open(MPI_COMM_WORLD, path("a"), MPI_MODE_RDONLY | MPI_MODE_RDWR, MPI_INFO_NULL,
                                  &file)),
           MPI_ERR_AMODE);
  file = open_file("a", MPI_MODE_RDONLY | MPI_MODE_DELETE_ON_CLOSE);
  close_file(&file);
  CHECK_EQ(class_of(MPI_File_open(MPI_COMM_WORLD, path("a"), MPI_MODE_RDONLY, MPI_INFO_NULL, &file)),
           MPI_ERR_NO_SUCH_FILE);
  /* A file of each process alone. */
  char own[32];
  snprintf(own, sizeof own, "own%d", rank);
  OK(MPI_File_open(MPI_COMM_SELF, path(own), MPI_MODE_CREATE | MPI_MODE_WRONLY, MPI_INFO_NULL, &file));
  OK(MPI_File_write(file, "x", 1, MPI_CHAR, MPI_STATUS_IGNORE));
  close_file(&file);
  OK(MPI_File_delete(path(own), MPI_INFO_NULL));
  CHECK_EQ(class_of(MPI_File_delete(path(own), MPI_INFO_NULL)), MPI_ERR_NO_SUCH_FILE);
}

static void sizes(void) {
  MPI_Offset size = -1;
  MPI_File file = open_file("size", MPI_MODE_CREATE | MPI_MODE_RDWR);
  OK(MPI_File_set_size(file, 1000));
  OK(MPI_File_get_size(file, &size));
  CHECK_EQ(size, 1000);
  OK(MPI_File_preallocate(file, 5000));
  OK(MPI_Barrier(MPI_COMM_WORLD));
  OK(MPI_File_get_size(file, &size));
  CHECK_EQ(size, 5000);
  OK(MPI_File_set_size(file, 10));
  OK(MPI_File_get_size(file, &size));
  CHECK_EQ(size, 10);
  CHECK_EQ(class_of(MPI_File_set_size(file, -1)), MPI_ERR_ARG);
  OK(MPI_File_sync(file));
  close_file(&file);
  file = open_file("size", MPI_MODE_RDONLY);
  if (is_strict()) CHECK_EQ(class_of(MPI_File_set_size(file, 5)), MPI_ERR_READ_ONLY);
  close_file(&file);
  OK(MPI_Barrier(MPI_COMM_WORLD));
  if (rank == 0) OK(MPI_File_delete(path("size"), MPI_INFO_NULL));
  OK(MPI_Barrier(MPI_COMM_WORLD));
}

/* Each rank writes its block; all read all; then somebody else writes over it. */
static void explicit_offsets(void) {
  enum { count = 1000 };
  int values[count];
  MPI_Status status;
  MPI_File file = open_file("explicit", MPI_MODE_CREATE | MPI_MODE_RDWR);
  for (int round = 0; round < 3; round++) {
    const int block = (rank + round) % ranks;
    fill(values, count, (uint32_t)block, (uint32_t)round);
    OK(MPI_File_write_at(file, (MPI_Offset)block * sizeof values, values, count, MPI_INT, &status));
    CHECK_EQ(got_count(&status, MPI_INT), count);
    OK(MPI_File_sync(file));
    OK(MPI_Barrier(MPI_COMM_WORLD));
    OK(MPI_File_sync(file));
    for (int other = 0; other < ranks; other++) {
      OK(MPI_File_read_at(file, (MPI_Offset)other * sizeof values, values, count, MPI_INT, &status));
      CHECK_EQ(got_count(&status, MPI_INT), count);
      CHECK(filled(values, count, (uint32_t)other, (uint32_t)round));
    }
    OK(MPI_Barrier(MPI_COMM_WORLD));
  }
  /* The end of the file: a part, and nothing. */
  OK(MPI_File_read_at(file, (MPI_Offset)ranks * sizeof values - 10 * sizeof(int), values, count, MPI_INT,
                      &status));
  CHECK_EQ(got_count(&status, MPI_INT), 10);
  OK(MPI_File_read_at(file, (MPI_Offset)ranks * sizeof values + 5, values, count, MPI_INT, &status));
  CHECK_EQ(got_count(&status, MPI_INT), 0);
  close_file(&file);
  if (rank == 0) OK(MPI_File_delete(path("explicit"), MPI_INFO_NULL));
  OK(MPI_Barrier(MPI_COMM_WORLD));
}

static void pointers(void) {
  int values[20], got[20];
  MPI_Offset position = -1;
  MPI_Status status;
  MPI_File file = open_file("pointer", MPI_MODE_CREATE | MPI_MODE_RDWR);
  fill(values, 20, 3, (uint32_t)rank);
  OK(MPI_File_set_view(file, (MPI_Offset)rank * 400, MPI_INT, MPI_INT, "native", MPI_INFO_NULL));
  OK(MPI_File_write(file, values, 10, MPI_INT, &status));
  CHECK_EQ(got_count(&status, MPI_INT), 10);
  OK(MPI_File_get_position(file, &position));
  CHECK_EQ(position, 10);
  OK(MPI_File_write(file, values + 10, 10, MPI_INT, &status));
  OK(MPI_File_seek(file, 5, MPI_SEEK_SET));
  OK(MPI_File_read(file, got, 5, MPI_INT, &status));
  CHECK(memcmp(got, values + 5, 5 * sizeof(int)) == 0);
  OK(MPI_File_seek(file, -3, MPI_SEEK_CUR));
  OK(MPI_File_get_position(file, &position));
  CHECK_EQ(position, 7);
  OK(MPI_File_get_byte_offset(file, position, &position));
  CHECK_EQ(position, rank * 400 + 28);
  CHECK_EQ(class_of(MPI_File_seek(file, -100, MPI_SEEK_SET)), MPI_ERR_ARG);
  OK(MPI_Barrier(MPI_COMM_WORLD));
  OK(MPI_File_seek(file, -1, MPI_SEEK_END));
  OK(MPI_File_get_position(file, &position));
  CHECK_EQ(position, (ranks - 1 - rank) * 100 + 20 - 1);
  close_file(&file);
  /* Appending begins at the end. */
  file = open_file("pointer", MPI_MODE_WRONLY | MPI_MODE_APPEND);
  OK(MPI_File_get_position(file, &position));
  CHECK_EQ(position, (ranks - 1) * 400 + 80);
  OK(MPI_Barrier(MPI_COMM_WORLD));
  OK(MPI_File_seek(file, rank, MPI_SEEK_CUR));
  OK(MPI_File_write(file, "abcdef" + rank, 1, MPI_CHAR, MPI_STATUS_IGNORE));
  CHECK_EQ(class_of(MPI_File_read(file, got, 1, MPI_INT, &status)), MPI_ERR_ACCESS);
  close_file(&file);
  char text[8] = "";
  file = open_file("pointer", MPI_MODE_RDONLY | MPI_MODE_DELETE_ON_CLOSE);
  OK(MPI_File_read_at(file, (ranks - 1) * 400 + 80, text, 8, MPI_CHAR, &status));
  CHECK_EQ(got_count(&status, MPI_CHAR), ranks);
  CHECK(memcmp(text, "abcdef", (size_t)ranks) == 0);
  CHECK_EQ(class_of(MPI_File_write(file, text, 1, MPI_CHAR, &status)), MPI_ERR_READ_ONLY);
  close_file(&file);
}

/* A matrix of which each rank sees its columns; memory with gaps, too. */
static void views(void) {
  enum { rows = 6, width = 4 };
  int values[rows * width * 2], sparse[rows * width * 2];
  MPI_Datatype columns, every_second, etype, file_type;
  MPI_Offset displacement;
  MPI_Status status;
  char name[MPI_MAX_DATAREP_STRING];
  int sizes[2] = {rows, width * ranks}, subsizes[2] = {rows, width}, starts[2] = {0, width * rank};
  int elements;
  OK(MPI_Type_create_subarray(2, sizes, subsizes, starts, MPI_ORDER_C, MPI_INT, &columns));
  OK(MPI_Type_commit(&columns));
  OK(MPI_Type_vector(rows * width, 1, 2, MPI_INT, &every_second));
  OK(MPI_Type_commit(&every_second));
  MPI_File file = open_file("view", MPI_MODE_CREATE | MPI_MODE_RDWR);
  OK(MPI_File_set_view(file, 16, MPI_INT, columns, "native", MPI_INFO_NULL));
  OK(MPI_File_get_view(file, &displacement, &etype, &file_type, name));
  CHECK_EQ(displacement, 16);
  CHECK(etype == MPI_INT && strcmp(name, "native") == 0);
  OK(MPI_Type_free(&file_type));
  fill(sparse, rows * width * 2, 7, (uint32_t)rank);
  OK(MPI_File_write(file, sparse, 1, every_second, &status));
  CHECK_EQ(got_count(&status, MPI_INT), rows * width);
  OK(MPI_Get_elements(&status, every_second, &elements));
  CHECK_EQ(elements, rows * width);
  OK(MPI_Barrier(MPI_COMM_WORLD));
  /* One's own through the view, everybody's without it. */
  OK(MPI_File_read_at(file, 0, values, rows * width, MPI_INT, &status));
  CHECK_EQ(got_count(&status, MPI_INT), rows * width);
  for (int i = 0; i < rows * width; i++) CHECK_EQ(values[i], sparse[2 * i]);
  OK(MPI_File_set_view(file, 0, MPI_BYTE, MPI_BYTE, "native", MPI_INFO_NULL));
  for (int row = 0; row < rows; row++) {
    for (int other = 0; other < ranks; other++) {
      fill(sparse, rows * width * 2, 7, (uint32_t)other);
      OK(MPI_File_read_at(file, 16 + (MPI_Offset)sizeof(int) * (row * width * ranks + width * other), values,
                          width, MPI_INT, &status));
      CHECK_EQ(got_count(&status, MPI_INT), width);
      for (int i = 0; i < width; i++) CHECK_EQ(values[i], sparse[2 * (row * width + i)]);
    }
  }
  /* From the middle of a tile on to the next one, and to the end of the file. */
  OK(MPI_File_set_view(file, 16, MPI_INT, columns, "native", MPI_INFO_NULL));
  fill(sparse, rows * width * 2, 7, (uint32_t)rank);
  OK(MPI_File_read_at(file, 5, values, rows * width, MPI_INT, &status));
  if (is_strict()) CHECK_EQ(got_count(&status, MPI_INT), rows * width - 5);
  for (int i = 0; i < rows * width - 5; i++) CHECK_EQ(values[i], sparse[2 * (i + 5)]);
  OK(MPI_File_seek(file, 0, MPI_SEEK_END));
  OK(MPI_File_get_position(file, &displacement));
  CHECK_EQ(displacement, rows * width);
  CHECK_EQ(class_of(MPI_File_set_view(file, -1, MPI_INT, columns, "native", MPI_INFO_NULL)), MPI_ERR_ARG);
  CHECK_EQ(class_of(MPI_File_set_view(file, 0, MPI_INT, columns, "martian", MPI_INFO_NULL)),
           MPI_ERR_UNSUPPORTED_DATAREP);
  CHECK_EQ(class_of(MPI_File_write(file, "abc", 3, MPI_CHAR, &status)), MPI_ERR_IO);
  close_file(&file);
  OK(MPI_Type_free(&columns));
  OK(MPI_Type_free(&every_second));
  if (rank == 0) OK(MPI_File_delete(path("view"), MPI_INFO_NULL));
  OK(MPI_Barrier(MPI_COMM_WORLD));
}

static int handler_calls;
static int handler_forgives;
static MPI_File handler_file;
static void count_errors(MPI_File* file, int* code, ...) {
  handler_calls += class_of(*code) == MPI_ERR_NO_SUCH_FILE || class_of(*code) == MPI_ERR_COUNT;
  handler_file = *file;
  if (handler_forgives) *code = MPI_SUCCESS;
}

static void error_handlers(void) {
  MPI_Errhandler handler, found;
  MPI_File file;
  char text[MPI_MAX_ERROR_STRING];
  int length;
  OK(MPI_File_get_errhandler(MPI_FILE_NULL, &found));
  CHECK(found == MPI_ERRORS_RETURN);
  OK(MPI_File_create_errhandler(count_errors, &handler));
  OK(MPI_File_set_errhandler(MPI_FILE_NULL, handler));
  const int code = MPI_File_open(MPI_COMM_WORLD, path("absent"), MPI_MODE_RDWR, MPI_INFO_NULL, &file);
  CHECK_EQ(class_of(code), MPI_ERR_NO_SUCH_FILE);
  CHECK_EQ(handler_calls, 1);
  CHECK(handler_file == MPI_FILE_NULL);
  /* What MPI_File_open returns is what the handler makes of it. */
  handler_forgives = 1;
  OK(MPI_File_open(MPI_COMM_WORLD, path("absent"), MPI_MODE_RDWR, MPI_INFO_NULL, &file));
  CHECK_EQ(handler_calls, 2);
  handler_forgives = 0;
  handler_calls = 1;
  OK(MPI_Error_string(code, text, &length));
  if (is_strict()) CHECK(strstr(text, "absent") && strstr(text, "No such file"));
  file = open_file("handled", MPI_MODE_CREATE | MPI_MODE_RDWR | MPI_MODE_DELETE_ON_CLOSE);
  OK(MPI_File_set_errhandler(MPI_FILE_NULL, MPI_ERRORS_RETURN));
  CHECK_EQ(class_of(MPI_File_write(file, text, -1, MPI_CHAR, MPI_STATUS_IGNORE)), MPI_ERR_COUNT);
  CHECK_EQ(handler_calls, 2);
  CHECK(handler_file == file);
  OK(MPI_File_get_errhandler(file, &found));
  CHECK(found == handler);
  if (is_strict()) OK(MPI_Errhandler_free(&found));
  OK(MPI_Errhandler_free(&handler));
  OK(MPI_File_call_errhandler(file, MPI_ERR_COUNT));
  if (is_strict()) CHECK_EQ(handler_calls, 3);
  OK(MPI_File_set_errhandler(file, MPI_ERRORS_RETURN));
  CHECK_EQ(class_of(MPI_File_write(file, text, 1, MPI_DATATYPE_NULL, MPI_STATUS_IGNORE)), MPI_ERR_TYPE);
  CHECK_EQ(class_of(MPI_File_write_at(file, -1, text, 1, MPI_CHAR, MPI_STATUS_IGNORE)), MPI_ERR_ARG);
  CHECK(MPI_File_f2c(MPI_File_c2f(file)) == file);
  close_file(&file);
  CHECK_EQ(class_of(MPI_File_close(&file)), MPI_ERR_FILE);
}

int main(int argc, char** argv) {
  begin_files("io_basic", &argc, &argv);
  open_and_close();
  sizes();
  explicit_offsets();
  pointers();
  views();
  error_handlers();
  return finish_files();
}
