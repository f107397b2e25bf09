/* Derived datatypes, pack and unpack, extents and counts; MPI 4. */
#include "check.h"

#include <stddef.h>

static int right, left;

/* Sends one `type` from a patterned buffer and receives it as plain ints, which must be `count` values at
 * `places`; then sends plain ints and receives them into the places, leaving the rest alone. */
static void both_ways(MPI_Datatype type, int copies, const int* places, int count, int span) {
  int *memory = allocate(sizeof(int) * (size_t)span), *flat = allocate(sizeof(int) * (size_t)count);
  MPI_Status status;
  MPI_Request request;
  int got;
  fill(memory, span, (uint32_t)rank, 1);
  OK(MPI_Isend(memory, copies, type, right, 1, MPI_COMM_WORLD, &request));
  OK(MPI_Recv(flat, count, MPI_INT, left, 1, MPI_COMM_WORLD, &status));
  OK(MPI_Wait(&request, MPI_STATUS_IGNORE));
  CHECK(status_is(&status, left, 1, MPI_INT, count));
  for (int i = 0; i < count; i++) CHECK_EQ(flat[i], (int)pattern((uint32_t)left, 1, (uint32_t)places[i]));

  char* used = allocate((size_t)span);
  for (int i = 0; i < count; i++) used[places[i]] = 1;
  fill(flat, count, (uint32_t)rank, 2);
  memset(memory, 0xff, sizeof(int) * (size_t)span);
  OK(MPI_Isend(flat, count, MPI_INT, right, 2, MPI_COMM_WORLD, &request));
  OK(MPI_Recv(memory, copies, type, left, 2, MPI_COMM_WORLD, &status));
  OK(MPI_Wait(&request, MPI_STATUS_IGNORE));
  OK(MPI_Get_count(&status, type, &got));
  CHECK_EQ(got, copies);
  OK(MPI_Get_elements(&status, type, &got));
  CHECK_EQ(got, count);
  for (int i = 0; i < count; i++) CHECK_EQ(memory[places[i]], (int)pattern((uint32_t)left, 2, (uint32_t)i));
  for (int i = 0; i < span; i++)
    if (!used[i]) CHECK_EQ(memory[i], -1);

  int size, position = 0, end = 0;
  OK(MPI_Pack_size(copies, type, MPI_COMM_WORLD, &size));
  char* packed = allocate((size_t)size);
  OK(MPI_Pack(memory, copies, type, packed, size, &position, MPI_COMM_WORLD));
  CHECK(position <= size);
  int* again = allocate(sizeof(int) * (size_t)span);
  memset(again, 0xff, sizeof(int) * (size_t)span);
  OK(MPI_Unpack(packed, position, &end, again, copies, type, MPI_COMM_WORLD));
  CHECK_EQ(end, position);
  CHECK(memcmp(memory, again, sizeof(int) * (size_t)span) == 0);
  free(again);
  free(packed);
  free(used);
  free(memory);
  free(flat);
}

static void extent_is(MPI_Datatype type, MPI_Aint lower, MPI_Aint extent, int size) {
  MPI_Aint got_lower, got_extent;
  int got_size;
  OK(MPI_Type_get_extent(type, &got_lower, &got_extent));
  OK(MPI_Type_size(type, &got_size));
  CHECK_EQ(got_lower, lower);
  CHECK_EQ(got_extent, extent);
  CHECK_EQ(got_size, size);
}

static void contiguous(void) {
  MPI_Datatype type;
  int places[40];
  for (int i = 0; i < 40; i++) places[i] = i;
  OK(MPI_Type_contiguous(10, MPI_INT, &type));
  OK(MPI_Type_commit(&type));
  extent_is(type, 0, 40, 40);
  both_ways(type, 4, places, 40, 45);
  OK(MPI_Type_free(&type));
  CHECK(type == MPI_DATATYPE_NULL);
}

static void vectors(int blocks, int length, int stride, int copies) {
  MPI_Datatype type, bytes;
  int extent = (blocks - 1) * stride + length, count = blocks * length * copies;
  int* places = allocate(sizeof(int) * (size_t)count);
  for (int c = 0, at = 0; c < copies; c++)
    for (int b = 0; b < blocks; b++)
      for (int i = 0; i < length; i++) places[at++] = c * extent + b * stride + i;
  OK(MPI_Type_vector(blocks, length, stride, MPI_INT, &type));
  OK(MPI_Type_create_hvector(blocks, length, (MPI_Aint)sizeof(int) * stride, MPI_INT, &bytes));
  OK(MPI_Type_commit(&type));
  OK(MPI_Type_commit(&bytes));
  extent_is(type, 0, 4 * extent, 4 * blocks * length);
  extent_is(bytes, 0, 4 * extent, 4 * blocks * length);
  both_ways(type, copies, places, count, copies * extent + 3);
  both_ways(bytes, copies, places, count, copies * extent + 3);
  OK(MPI_Type_free(&type));
  OK(MPI_Type_free(&bytes));
  free(places);
}

static void indexed(void) {
  int lengths[4] = {2, 0, 3, 1}, where[4] = {7, 5, 1, 12};
  MPI_Aint where_bytes[4] = {28, 20, 4, 48};
  static const int places[12] = {7, 8, 1, 2, 3, 12, 19, 20, 13, 14, 15, 24};
  static const int block_places[8] = {7, 8, 5, 6, 1, 2, 12, 13};
  MPI_Datatype type;
  OK(MPI_Type_indexed(4, lengths, where, MPI_INT, &type));
  OK(MPI_Type_commit(&type));
  extent_is(type, 4, 48, 24);
  both_ways(type, 2, places, 12, 30);
  OK(MPI_Type_free(&type));
  OK(MPI_Type_create_hindexed(4, lengths, where_bytes, MPI_INT, &type));
  OK(MPI_Type_commit(&type));
  both_ways(type, 2, places, 12, 30);
  OK(MPI_Type_free(&type));
  OK(MPI_Type_create_indexed_block(4, 2, where, MPI_INT, &type));
  OK(MPI_Type_commit(&type));
  both_ways(type, 1, block_places, 8, 20);
  OK(MPI_Type_free(&type));
}

typedef struct {
  char letter;
  double number;
  int counts[3];
  short tail;
} Record;

static MPI_Datatype record_type(void) {
  Record example = {0};
  MPI_Aint base, where[4];
  int lengths[4] = {1, 1, 3, 1};
  MPI_Datatype types[4] = {MPI_CHAR, MPI_DOUBLE, MPI_INT, MPI_SHORT}, packed, type;
  OK(MPI_Get_address(&example, &base));
  OK(MPI_Get_address(&example.letter, &where[0]));
  OK(MPI_Get_address(&example.number, &where[1]));
  OK(MPI_Get_address(example.counts, &where[2]));
  OK(MPI_Get_address(&example.tail, &where[3]));
  for (int i = 0; i < 4; i++) where[i] -= base;
  OK(MPI_Type_create_struct(4, lengths, where, types, &packed));
  OK(MPI_Type_create_resized(packed, 0, sizeof(Record), &type));
  OK(MPI_Type_free(&packed));
  OK(MPI_Type_commit(&type));
  extent_is(type, 0, sizeof(Record), 1 + 8 + 12 + 2);
  return type;
}

static void structs(int count) {
  MPI_Datatype type = record_type();
  Record *out = allocate(sizeof(Record) * (size_t)count), *in = allocate(sizeof(Record) * (size_t)count);
  MPI_Request request;
  MPI_Status status;
  int elements;
  for (int i = 0; i < count; i++)
    out[i] = (Record){(char)i, rank + i * 0.5, {i, i + rank, -i}, (short)(i ^ rank)};
  OK(MPI_Isend(out, count, type, right, 0, MPI_COMM_WORLD, &request));
  OK(MPI_Recv(in, count, type, left, 0, MPI_COMM_WORLD, &status));
  OK(MPI_Wait(&request, MPI_STATUS_IGNORE));
  CHECK(status_is(&status, left, 0, type, count));
  OK(MPI_Get_elements(&status, type, &elements));
  CHECK_EQ(elements, 6 * count);
  for (int i = 0; i < count; i++) {
    CHECK(in[i].letter == (char)i && in[i].number == left + i * 0.5);
    CHECK(in[i].counts[0] == i && in[i].counts[1] == i + left && in[i].counts[2] == -i);
    CHECK_EQ(in[i].tail, (short)(i ^ left));
  }
  OK(MPI_Bcast(in, count, type, 0, MPI_COMM_WORLD));
  CHECK(in[count - 1].counts[1] == count - 1 + (0 + ranks - 1) % ranks);
  OK(MPI_Type_free(&type));
  free(out);
  free(in);
}

/* A message that fills only part of the last item. */
static void partial(void) {
  MPI_Datatype type;
  int lengths[2] = {1, 2}, where[2] = {0, 2}, out[5] = {1, 2, 3, 4, 5}, in[12], count;
  MPI_Status status;
  OK(MPI_Type_indexed(2, lengths, where, MPI_INT, &type));
  OK(MPI_Type_commit(&type));
  memset(in, 0xff, sizeof in);
  OK(MPI_Sendrecv(out, 5, MPI_INT, right, 0, in, 3, type, left, 0, MPI_COMM_WORLD, &status));
  OK(MPI_Get_count(&status, type, &count));
  CHECK_EQ(count, MPI_UNDEFINED);
  OK(MPI_Get_elements(&status, type, &count));
  CHECK_EQ(count, 5);
  static const int expected[8] = {1, -1, 2, 3, 4, -1, 5, -1};
  for (int i = 0; i < 8; i++) CHECK_EQ(in[i], expected[i]);
  OK(MPI_Type_free(&type));
}

/* A vector of vectors of a resized type: the transposition of a matrix. */
static void nested(int n) {
  MPI_Datatype column, resized, matrix, twice;
  int *out = allocate(sizeof(int) * (size_t)(n * n)), *in = allocate(sizeof(int) * (size_t)(n * n));
  for (int i = 0; i < n * n; i++) out[i] = rank * 1000003 + i;
  OK(MPI_Type_vector(n, 1, n, MPI_INT, &column));
  OK(MPI_Type_create_resized(column, 0, sizeof(int), &resized));
  OK(MPI_Type_contiguous(n, resized, &matrix));
  OK(MPI_Type_free(&column));
  OK(MPI_Type_free(&resized));
  OK(MPI_Type_commit(&matrix));
  OK(MPI_Type_dup(matrix, &twice));
  OK(MPI_Type_free(&matrix));
  OK(MPI_Sendrecv(out, 1, twice, right, 0, in, n * n, MPI_INT, left, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE));
  for (int i = 0; i < n; i++)
    for (int j = 0; j < n; j++) CHECK_EQ(in[i * n + j], left * 1000003 + j * n + i);
  OK(MPI_Type_free(&twice));
  free(out);
  free(in);
}

static void resized_and_bottom(void) {
  MPI_Datatype type, absolute;
  int values[3] = {1 + rank, 2 + rank, 3 + rank}, got[3] = {0, 0, 0}, lengths[2] = {1, 2};
  OK(MPI_Type_create_resized(MPI_INT, -4, 20, &type));
  extent_is(type, -4, 20, 4);
  OK(MPI_Type_free(&type));
  MPI_Aint where[2];
  OK(MPI_Get_address(&values[2], &where[0]));
  OK(MPI_Get_address(&values[0], &where[1]));
  OK(MPI_Type_create_hindexed(2, lengths, where, MPI_INT, &absolute));
  OK(MPI_Type_commit(&absolute));
  OK(MPI_Sendrecv(MPI_BOTTOM, 1, absolute, right, 0, got, 3, MPI_INT, left, 0, MPI_COMM_WORLD,
                  MPI_STATUS_IGNORE));
  CHECK(got[0] == 3 + left && got[1] == 1 + left && got[2] == 2 + left);
  OK(MPI_Type_free(&absolute));
}

static void pack_mixed(void) {
  char buffer[200];
  int position = 0, i = 42 + rank, j = 0, size;
  double d = 2.5 * rank, e = -1;
  char text[6] = "llama", back[6] = "";
  OK(MPI_Pack(&i, 1, MPI_INT, buffer, sizeof buffer, &position, MPI_COMM_WORLD));
  OK(MPI_Pack(text, 6, MPI_CHAR, buffer, sizeof buffer, &position, MPI_COMM_WORLD));
  OK(MPI_Pack(&d, 1, MPI_DOUBLE, buffer, sizeof buffer, &position, MPI_COMM_WORLD));
  char in[200];
  MPI_Status status;
  OK(MPI_Sendrecv(buffer, position, MPI_PACKED, right, 0, in, 200, MPI_PACKED, left, 0, MPI_COMM_WORLD,
                  &status));
  OK(MPI_Get_count(&status, MPI_PACKED, &size));
  CHECK_EQ(size, position);
  position = 0;
  OK(MPI_Unpack(in, size, &position, &j, 1, MPI_INT, MPI_COMM_WORLD));
  OK(MPI_Unpack(in, size, &position, back, 6, MPI_CHAR, MPI_COMM_WORLD));
  OK(MPI_Unpack(in, size, &position, &e, 1, MPI_DOUBLE, MPI_COMM_WORLD));
  CHECK(j == 42 + left && e == 2.5 * left && strcmp(back, "llama") == 0);
}

static void basic_sizes(void) {
  extent_is(MPI_CHAR, 0, 1, 1);
  extent_is(MPI_SHORT, 0, 2, 2);
  extent_is(MPI_INT, 0, 4, 4);
  extent_is(MPI_LONG, 0, 8, 8);
  extent_is(MPI_LONG_LONG, 0, 8, 8);
  extent_is(MPI_FLOAT, 0, 4, 4);
  extent_is(MPI_DOUBLE, 0, 8, 8);
  extent_is(MPI_LONG_DOUBLE, 0, 16, 16);
  extent_is(MPI_INT8_T, 0, 1, 1);
  extent_is(MPI_UINT64_T, 0, 8, 8);
  extent_is(MPI_C_DOUBLE_COMPLEX, 0, 16, 16);
  extent_is(MPI_C_BOOL, 0, 1, 1);
  extent_is(MPI_WCHAR, 0, 4, 4);
  extent_is(MPI_AINT, 0, 8, 8);
  extent_is(MPI_2INT, 0, 8, 8);
  extent_is(MPI_DOUBLE_INT, 0, 16, 12);
  extent_is(MPI_SHORT_INT, 0, 8, 6);
}

/* A matrix of 5 by 7 among 2 by 3 processes: rows in blocks of 3, columns dealt out two by two. */
static void distributed_array(int order) {
  const int sizes[2] = {5, 7}, distributions[2] = {MPI_DISTRIBUTE_BLOCK, MPI_DISTRIBUTE_CYCLIC},
            arguments[2] = {MPI_DISTRIBUTE_DFLT_DARG, 2}, grid[2] = {2, 3};
  int seen[35] = {0};
  for (int process = 0; process < 6; process++) {
    MPI_Datatype type;
    int places[35], count = 0, integers, addresses, types, combiner;
    const int outer = order == MPI_ORDER_C ? 0 : 1, inner = 1 - outer;
    for (int i = 0; i < sizes[outer]; i++)
      for (int j = 0; j < sizes[inner]; j++) {
        const int row = outer == 0 ? i : j, column = outer == 0 ? j : i;
        if (row / 3 != process / 3 || column / 2 % 3 != process % 3) continue;
        places[count] = i * sizes[inner] + j;
        seen[places[count++]]++;
      }
    OK(MPI_Type_create_darray(6, process, 2, sizes, distributions, arguments, grid, order, MPI_INT, &type));
    OK(MPI_Type_commit(&type));
    extent_is(type, 0, 35 * sizeof(int), count * (int)sizeof(int));
    both_ways(type, 1, places, count, 35);
    OK(MPI_Type_get_envelope(type, &integers, &addresses, &types, &combiner));
    CHECK_EQ(combiner, MPI_COMBINER_DARRAY);
    CHECK_EQ(integers, 4 * 2 + 4);
    OK(MPI_Type_free(&type));
  }
  for (int i = 0; i < 35; i++) CHECK_EQ(seen[i], 1);
}

/* External32: big-endian, without padding, with a long of 4 bytes. */
static void external(void) {
  struct Mixed {
    char letter;
    double number;
    long large;
    int values[2];
    long double wide;
  } in = {'a', 1.5, -2, {1, 0x01020304}, -0.75L}, out;
  const int lengths[5] = {1, 1, 1, 2, 1};
  const MPI_Aint places[5] = {offsetof(struct Mixed, letter), offsetof(struct Mixed, number),
                              offsetof(struct Mixed, large), offsetof(struct Mixed, values),
                              offsetof(struct Mixed, wide)};
  const MPI_Datatype types[5] = {MPI_CHAR, MPI_DOUBLE, MPI_LONG, MPI_INT, MPI_LONG_DOUBLE};
  const unsigned char expected[21] = {'a',  0x3f, 0xf8, 0, 0, 0, 0, 0, 0, 0xff, 0xff,
                                      0xff, 0xfe, 0,    0, 0, 1, 1, 2, 3, 4};
  const unsigned char expected_wide[4] = {0xbf, 0xfe, 0x80, 0};
  unsigned char packed[100];
  MPI_Datatype type;
  MPI_Aint size, position = 0;
  OK(MPI_Type_create_struct(5, lengths, places, types, &type));
  OK(MPI_Type_commit(&type));
  OK(MPI_Pack_external_size("external32", 1, type, &size));
  if (is_strict()) CHECK_EQ(size, 37);
  OK(MPI_Pack_external("external32", &in, 1, type, packed, sizeof packed, &position));
  CHECK_EQ(position, size);
  if (is_strict()) {
    CHECK(memcmp(packed, expected, sizeof expected) == 0);
    CHECK(memcmp(packed + sizeof expected, expected_wide, sizeof expected_wide) == 0);
  }
  memset(&out, 0, sizeof out);
  position = 0;
  OK(MPI_Unpack_external("external32", packed, size, &position, &out, 1, type));
  CHECK_EQ(position, size);
  CHECK(out.letter == 'a' && out.number == 1.5 && out.large == -2 && out.wide == -0.75L);
  CHECK(out.values[0] == 1 && out.values[1] == 0x01020304);
  OK(MPI_Type_free(&type));
  if (!is_strict()) return;
  long too_large = 1L << 40;
  position = 0;
  OK(MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN));
  CHECK_EQ(MPI_Pack_external("external32", &too_large, 1, MPI_LONG, packed, sizeof packed, &position),
           MPI_ERR_CONVERSION);
  CHECK_EQ(MPI_Pack_external("internal", &too_large, 1, MPI_LONG, packed, sizeof packed, &position),
           MPI_ERR_ARG);
  OK(MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_ARE_FATAL));
}

static void by_size(void) {
  MPI_Datatype type;
  OK(MPI_Type_match_size(MPI_TYPECLASS_REAL, 8, &type));
  extent_is(type, 0, 8, 8);
  CHECK_EQ(type, MPI_REAL8);
  OK(MPI_Type_match_size(MPI_TYPECLASS_INTEGER, 2, &type));
  CHECK_EQ(type, MPI_INTEGER2);
  OK(MPI_Type_match_size(MPI_TYPECLASS_COMPLEX, 16, &type));
  CHECK_EQ(type, MPI_COMPLEX16);
}

int main(int argc, char** argv) {
  begin("datatypes", &argc, &argv);
  right = (rank + 1) % ranks;
  left = (rank + ranks - 1) % ranks;
  basic_sizes();
  contiguous();
  vectors(5, 3, 7, 1);
  vectors(5, 3, 7, 3);
  vectors(1000, 1, 100, 2);
  vectors(300, 200, 333, 3);
  vectors(1, 4, 1, 2);
  indexed();
  structs(1);
  structs(1000);
  structs(60000);
  partial();
  nested(5);
  nested(300);
  resized_and_bottom();
  pack_mixed();
  distributed_array(MPI_ORDER_C);
  distributed_array(MPI_ORDER_FORTRAN);
  by_size();
  if (is_strict()) external();
  return finish();
}
