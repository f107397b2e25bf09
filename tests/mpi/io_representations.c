/* Representations of data in files (MPI 3.1, 13.5): external32, types whose size differs there, views of
 * them, and those that a program registers. */
#include "io_check.h"

static void external32(void) {
  int values[10], got[10];
  unsigned char bytes[40];
  long longs[6], long_got[6];
  MPI_Aint extent;
  MPI_Status status;
  MPI_Datatype every_second;
  MPI_File file = open_file("external", MPI_MODE_CREATE | MPI_MODE_RDWR);
  fill(values, 10, 5, (uint32_t)rank);
  OK(MPI_File_set_view(file, rank * 100, MPI_INT, MPI_INT, "external32", MPI_INFO_NULL));
  OK(MPI_File_get_type_extent(file, MPI_INT, &extent));
  CHECK_EQ(extent, 4);
  OK(MPI_File_write(file, values, 10, MPI_INT, &status));
  CHECK_EQ(got_count(&status, MPI_INT), 10);
  OK(MPI_File_read_at(file, 0, got, 10, MPI_INT, &status));
  CHECK(memcmp(values, got, sizeof got) == 0);
  /* Big-endian, read as bytes. */
  OK(MPI_File_set_view(file, rank * 100, MPI_BYTE, MPI_BYTE, "native", MPI_INFO_NULL));
  OK(MPI_File_read_at(file, 0, bytes, 40, MPI_BYTE, &status));
  for (int i = 0; i < 10; i++)
    CHECK_EQ((unsigned)values[i], (unsigned)bytes[4 * i] << 24 | (unsigned)bytes[4 * i + 1] << 16 |
                                      (unsigned)bytes[4 * i + 2] << 8 | bytes[4 * i + 3]);
  OK(MPI_Barrier(MPI_COMM_WORLD));
  /* A long takes 4 bytes there: extents of file types follow. */
  if (is_strict()) {
    OK(MPI_Type_vector(3, 1, 2, MPI_LONG, &every_second));
    OK(MPI_Type_commit(&every_second));
    OK(MPI_File_set_view(file, rank * 100, MPI_LONG, every_second, "external32", MPI_INFO_NULL));
    OK(MPI_File_get_type_extent(file, MPI_LONG, &extent));
    CHECK_EQ(extent, 4);
    for (int i = 0; i < 3; i++) longs[i] = -1000 * rank - i;
    OK(MPI_File_write(file, longs, 3, MPI_LONG, &status));
    CHECK_EQ(got_count(&status, MPI_LONG), 3);
    OK(MPI_File_read_at(file, 0, long_got, 3, MPI_LONG, &status));
    CHECK_EQ(got_count(&status, MPI_LONG), 3);
    CHECK(memcmp(longs, long_got, 3 * sizeof(long)) == 0);
    OK(MPI_File_set_view(file, rank * 100, MPI_BYTE, MPI_BYTE, "native", MPI_INFO_NULL));
    OK(MPI_File_read_at(file, 0, bytes, 20, MPI_BYTE, &status));
    for (int i = 0; i < 3; i++)
      CHECK_EQ(longs[i], (int)((unsigned)bytes[8 * i] << 24 | (unsigned)bytes[8 * i + 1] << 16 |
                               (unsigned)bytes[8 * i + 2] << 8 | bytes[8 * i + 3]));
    CHECK_EQ((unsigned)values[1],
             (unsigned)bytes[4] << 24 | (unsigned)bytes[5] << 16 | (unsigned)bytes[6] << 8 | bytes[7]);
    OK(MPI_File_set_view(file, 0, MPI_LONG, MPI_LONG, "external32", MPI_INFO_NULL));
    longs[0] = 1L << 40;
    CHECK_EQ(class_of(MPI_File_write_at(file, 0, longs, 1, MPI_LONG, &status)), MPI_ERR_CONVERSION);
    OK(MPI_Type_free(&every_second));
  }
  close_file(&file);
  if (rank == 0) OK(MPI_File_delete(path("external"), MPI_INFO_NULL));
  OK(MPI_Barrier(MPI_COMM_WORLD));
}

/* Numbers take twice the room, the second half their complement. */
static int extent_calls;
static int doubled_extent(MPI_Datatype type, MPI_Aint* extent, void* state) {
  int size;
  extent_calls += *(int*)state;
  MPI_Type_size(type, &size);
  *extent = 2 * size;
  return MPI_SUCCESS;
}

static int doubled_write(void* user, MPI_Datatype type, int count, void* file, MPI_Offset position,
                         void* state) {
  const int* from = (const int*)user + position;
  int* to = file;
  (void)state;
  if (type != MPI_INT) return MPI_ERR_CONVERSION;
  for (int i = 0; i < count; i++) {
    to[2 * i] = from[i];
    to[2 * i + 1] = ~from[i];
  }
  return MPI_SUCCESS;
}

static int doubled_read(void* user, MPI_Datatype type, int count, void* file, MPI_Offset position,
                        void* state) {
  int* to = (int*)user + position;
  const int* from = file;
  (void)state;
  if (type != MPI_INT) return MPI_ERR_CONVERSION;
  for (int i = 0; i < count; i++) {
    if (from[2 * i + 1] != ~from[2 * i]) return MPI_ERR_CONVERSION;
    to[i] = from[2 * i];
  }
  return MPI_SUCCESS;
}

static void registered(void) {
  int values[6], got[6], one = 1;
  MPI_Offset size;
  MPI_Aint extent;
  MPI_Status status;
  OK(MPI_Register_datarep("doubled", doubled_read, doubled_write, doubled_extent, &one));
  CHECK_EQ(class_of(MPI_Register_datarep("doubled", doubled_read, doubled_write, doubled_extent, &one)),
           MPI_ERR_DUP_DATAREP);
  CHECK(MPI_Register_datarep("native", doubled_read, doubled_write, doubled_extent, &one) != MPI_SUCCESS);
  MPI_File file = open_file("doubled", MPI_MODE_CREATE | MPI_MODE_RDWR);
  OK(MPI_File_set_view(file, 0, MPI_INT, MPI_INT, "doubled", MPI_INFO_NULL));
  OK(MPI_File_get_type_extent(file, MPI_INT, &extent));
  CHECK_EQ(extent, 8);
  CHECK(extent_calls > 0);
  fill(values, 6, 21, (uint32_t)rank);
  OK(MPI_File_write_at_all(file, rank * 6, values, 6, MPI_INT, &status));
  CHECK_EQ(got_count(&status, MPI_INT), 6);
  OK(MPI_Barrier(MPI_COMM_WORLD));
  OK(MPI_File_get_size(file, &size));
  CHECK_EQ(size, ranks * 48);
  OK(MPI_File_read_at_all(file, (rank + 1) % ranks * 6, got, 6, MPI_INT, &status));
  CHECK_EQ(got_count(&status, MPI_INT), 6);
  CHECK(filled(got, 6, 21, (uint32_t)((rank + 1) % ranks)));
  close_file(&file);
  if (rank == 0) OK(MPI_File_delete(path("doubled"), MPI_INFO_NULL));
  OK(MPI_Barrier(MPI_COMM_WORLD));
}

int main(int argc, char** argv) {
  begin_files("io_representations", &argc, &argv);
  external32();
  if (is_strict()) registered(); /* MPICH 4.0.2 refuses these. */
  return finish_files();
}
