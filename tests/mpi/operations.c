/* Every predefined operation on every type it is defined for, and user-defined operations; MPI 5.9. */
#include "check.h"

#include <complex.h>
#include <limits.h>
#include <stdbool.h>

enum { length = 37 };

/* Values in a range small enough that sums, products and all orders are exact. */
static int value_of(int from, int i) { return (int)(pattern((uint32_t)from, (uint32_t)i, 5) % 7) - (i % 3); }

#define FOLD(TYPE, EXPRESSION)        \
  do {                                \
    TYPE a = (TYPE)value_of(0, i);    \
    for (int r = 1; r < ranks; r++) { \
      TYPE b = (TYPE)value_of(r, i);  \
      a = (TYPE)(EXPRESSION);         \
    }                                 \
    CHECK(result[i] == a);            \
  } while (0)

#define TEST_OPERATION(TYPE, MPI_TYPE, OPERATION, EXPRESSION)                     \
  do {                                                                            \
    TYPE mine[length], result[length], scanned[length];                           \
    for (int i = 0; i < length; i++) mine[i] = (TYPE)value_of(rank, i);           \
    OK(MPI_Allreduce(mine, result, length, MPI_TYPE, OPERATION, MPI_COMM_WORLD)); \
    for (int i = 0; i < length; i++) FOLD(TYPE, EXPRESSION);                      \
    OK(MPI_Scan(mine, scanned, length, MPI_TYPE, OPERATION, MPI_COMM_WORLD));     \
    if (rank == ranks - 1)                                                        \
      for (int i = 0; i < length; i++) CHECK(scanned[i] == result[i]);            \
  } while (0)

#define TEST_ARITHMETIC(TYPE, MPI_TYPE)                     \
  do {                                                      \
    TEST_OPERATION(TYPE, MPI_TYPE, MPI_SUM, a + b);         \
    TEST_OPERATION(TYPE, MPI_TYPE, MPI_PROD, a* b);         \
    TEST_OPERATION(TYPE, MPI_TYPE, MPI_MAX, a > b ? a : b); \
    TEST_OPERATION(TYPE, MPI_TYPE, MPI_MIN, a < b ? a : b); \
  } while (0)

#define TEST_LOGIC(TYPE, MPI_TYPE)                          \
  do {                                                      \
    TEST_OPERATION(TYPE, MPI_TYPE, MPI_LAND, a&& b);        \
    TEST_OPERATION(TYPE, MPI_TYPE, MPI_LOR, a || b);        \
    TEST_OPERATION(TYPE, MPI_TYPE, MPI_LXOR, (!a) != (!b)); \
  } while (0)

#define TEST_BITS(TYPE, MPI_TYPE)                    \
  do {                                               \
    TEST_OPERATION(TYPE, MPI_TYPE, MPI_BAND, a& b);  \
    TEST_OPERATION(TYPE, MPI_TYPE, MPI_BOR, a | b);  \
    TEST_OPERATION(TYPE, MPI_TYPE, MPI_BXOR, a ^ b); \
  } while (0)

#define TEST_INTEGER(TYPE, MPI_TYPE)           \
  do {                                         \
    TEST_ARITHMETIC(TYPE, MPI_TYPE);           \
    if (ranks > 1) TEST_LOGIC(TYPE, MPI_TYPE); \
    TEST_BITS(TYPE, MPI_TYPE);                 \
  } while (0)

static void integers(void) {
  TEST_INTEGER(signed char, MPI_SIGNED_CHAR);
  if (is_strict()) TEST_INTEGER(unsigned char, MPI_UNSIGNED_CHAR);
  TEST_INTEGER(short, MPI_SHORT);
  if (is_strict()) TEST_INTEGER(unsigned short, MPI_UNSIGNED_SHORT);
  TEST_INTEGER(int, MPI_INT);
  if (is_strict()) TEST_INTEGER(unsigned, MPI_UNSIGNED);
  TEST_INTEGER(long, MPI_LONG);
  if (is_strict()) TEST_INTEGER(unsigned long, MPI_UNSIGNED_LONG);
  TEST_INTEGER(long long, MPI_LONG_LONG);
  if (is_strict()) TEST_INTEGER(unsigned long long, MPI_UNSIGNED_LONG_LONG);
  TEST_INTEGER(int8_t, MPI_INT8_T);
  TEST_INTEGER(int16_t, MPI_INT16_T);
  TEST_INTEGER(int32_t, MPI_INT32_T);
  TEST_INTEGER(int64_t, MPI_INT64_T);
  if (is_strict()) TEST_INTEGER(uint8_t, MPI_UINT8_T);
  if (is_strict()) TEST_INTEGER(uint16_t, MPI_UINT16_T);
  if (is_strict()) TEST_INTEGER(uint32_t, MPI_UINT32_T);
  if (is_strict()) TEST_INTEGER(uint64_t, MPI_UINT64_T);
  TEST_ARITHMETIC(MPI_Aint, MPI_AINT);
  TEST_BITS(unsigned char, MPI_BYTE);
  TEST_LOGIC(bool, MPI_C_BOOL);
}

static void floating(void) {
  TEST_ARITHMETIC(float, MPI_FLOAT);
  TEST_ARITHMETIC(double, MPI_DOUBLE);
  TEST_ARITHMETIC(long double, MPI_LONG_DOUBLE);
#if defined(MPIX_C_FLOAT16) && defined(__FLT16_MANT_DIG__)
  if (is_strict()) TEST_ARITHMETIC(_Float16, MPIX_C_FLOAT16);
#endif
  TEST_OPERATION(float complex, MPI_C_FLOAT_COMPLEX, MPI_SUM, a + b);
  TEST_OPERATION(double complex, MPI_C_DOUBLE_COMPLEX, MPI_SUM, a + b);
  TEST_OPERATION(double complex, MPI_C_DOUBLE_COMPLEX, MPI_PROD, a* b);
}

#define TEST_LOCATION(TYPE, MPI_TYPE)                                                 \
  do {                                                                                \
    struct {                                                                          \
      TYPE value;                                                                     \
      int where;                                                                      \
    } mine[length], most[length], least[length];                                      \
    memset(mine, 0, sizeof mine);                                                     \
    for (int i = 0; i < length; i++) {                                                \
      mine[i].value = (TYPE)value_of(rank, i);                                        \
      mine[i].where = 100 + rank;                                                     \
    }                                                                                 \
    OK(MPI_Allreduce(mine, most, length, MPI_TYPE, MPI_MAXLOC, MPI_COMM_WORLD));      \
    OK(MPI_Allreduce(mine, least, length, MPI_TYPE, MPI_MINLOC, MPI_COMM_WORLD));     \
    for (int i = 0; i < length; i++) {                                                \
      int high = 0, low = 0;                                                          \
      for (int r = 1; r < ranks; r++) {                                               \
        if (value_of(r, i) > value_of(high, i)) high = r;                             \
        if (value_of(r, i) < value_of(low, i)) low = r;                               \
      }                                                                               \
      CHECK(most[i].value == (TYPE)value_of(high, i) && most[i].where == 100 + high); \
      CHECK(least[i].value == (TYPE)value_of(low, i) && least[i].where == 100 + low); \
    }                                                                                 \
  } while (0)

static void locations(void) {
  TEST_LOCATION(float, MPI_FLOAT_INT);
  TEST_LOCATION(double, MPI_DOUBLE_INT);
  TEST_LOCATION(long, MPI_LONG_INT);
  TEST_LOCATION(int, MPI_2INT);
  TEST_LOCATION(short, MPI_SHORT_INT);
  TEST_LOCATION(long double, MPI_LONG_DOUBLE_INT);
}

/* 2 × 2 matrices: associative, not commutative. */
typedef struct {
  uint32_t m[4];
} Matrix;

static Matrix multiply(Matrix a, Matrix b) {
  return (Matrix){{a.m[0] * b.m[0] + a.m[1] * b.m[2], a.m[0] * b.m[1] + a.m[1] * b.m[3],
                   a.m[2] * b.m[0] + a.m[3] * b.m[2], a.m[2] * b.m[1] + a.m[3] * b.m[3]}};
}

static void multiply_all(void* in, void* inout, int* count, MPI_Datatype* type) {
  (void)type;
  for (int i = 0; i < *count; i++) ((Matrix*)inout)[i] = multiply(((Matrix*)in)[i], ((Matrix*)inout)[i]);
}

static Matrix matrix_of(int from, int i) {
  return (Matrix){{pattern((uint32_t)from, (uint32_t)i, 0), pattern((uint32_t)from, (uint32_t)i, 1),
                   pattern((uint32_t)from, (uint32_t)i, 2), pattern((uint32_t)from, (uint32_t)i, 3)}};
}

static Matrix product(int first, int last, int i) {
  Matrix a = matrix_of(first, i);
  for (int r = first + 1; r <= last; r++) a = multiply(a, matrix_of(r, i));
  return a;
}

static int same(Matrix a, Matrix b) { return memcmp(&a, &b, sizeof a) == 0; }

static void user_defined(int count) {
  MPI_Datatype type;
  MPI_Op operation;
  int commutes;
  OK(MPI_Type_contiguous(4, MPI_UINT32_T, &type));
  OK(MPI_Type_commit(&type));
  OK(MPI_Op_create(multiply_all, 0, &operation));
  OK(MPI_Op_commutative(operation, &commutes));
  CHECK(!commutes);
  Matrix *mine = allocate(sizeof(Matrix) * (size_t)count), *result = allocate(sizeof(Matrix) * (size_t)count);
  for (int i = 0; i < count; i++) mine[i] = matrix_of(rank, i);
  OK(MPI_Allreduce(mine, result, count, type, operation, MPI_COMM_WORLD));
  for (int i = 0; i < count; i++) CHECK(same(result[i], product(0, ranks - 1, i)));
  for (int root = 0; root < ranks; root++) {
    memset(result, 0, sizeof(Matrix) * (size_t)count);
    OK(MPI_Reduce(mine, result, count, type, operation, root, MPI_COMM_WORLD));
    if (rank == root)
      for (int i = 0; i < count; i++) CHECK(same(result[i], product(0, ranks - 1, i)));
  }
  OK(MPI_Scan(mine, result, count, type, operation, MPI_COMM_WORLD));
  for (int i = 0; i < count; i++) CHECK(same(result[i], product(0, rank, i)));
  OK(MPI_Exscan(mine, result, count, type, operation, MPI_COMM_WORLD));
  for (int i = 0; i < count && rank > 0; i++) CHECK(same(result[i], product(0, rank - 1, i)));
  OK(MPI_Op_free(&operation));
  CHECK(operation == MPI_OP_NULL);
  OK(MPI_Type_free(&type));
  free(mine);
  free(result);
}

/* The same bits on every call, and on every rank, for doubles whose sum depends on the order. */
static void same_bits(int count) {
  double *mine = allocate(sizeof(double) * (size_t)count), *first = allocate(sizeof(double) * (size_t)count),
         *again = allocate(sizeof(double) * (size_t)count);
  for (int i = 0; i < count; i++)
    mine[i] = (pattern((uint32_t)rank, (uint32_t)i, 9) - 2e9) / (1 + i * 3.7 + rank);
  OK(MPI_Allreduce(mine, first, count, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD));
  for (int round = 0; round < 10; round++) {
    if (rank == round % ranks)
      for (volatile int spin = 0; spin < 100000; spin++) {
      }
    OK(MPI_Allreduce(mine, again, count, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD));
    CHECK(memcmp(first, again, sizeof(double) * (size_t)count) == 0);
  }
  memcpy(again, first, sizeof(double) * (size_t)count);
  OK(MPI_Bcast(again, count, MPI_DOUBLE, 0, MPI_COMM_WORLD));
  CHECK(memcmp(first, again, sizeof(double) * (size_t)count) == 0);
  free(mine);
  free(first);
  free(again);
}

int main(int argc, char** argv) {
  begin("operations", &argc, &argv);
  integers();
  floating();
  locations();
  user_defined(1);
  user_defined(1000);
  user_defined(30000);
  same_bits(1);
  same_bits(1000);
  same_bits(100000);
  return finish();
}
