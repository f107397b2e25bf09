/* Info objects before MPI_Init and after MPI_Finalize (MPI 4.0, 10), what MPI_INFO_ENV says, and types by
 * precision and range (MPI 3.1, 17.1.9). */
#include <string.h>

#include "check.h"

static int has(MPI_Info info, const char* key, const char* expected) {
  char value[MPI_MAX_INFO_VAL];
  int length = sizeof value, flag = 0;
  MPI_Info_get_string(info, key, &length, value, &flag);
  return flag && (!expected || strcmp(value, expected) == 0);
}

static void check_environment(MPI_Info info) {
  char ranks_text[16];
  snprintf(ranks_text, sizeof ranks_text, "%d", ranks);
  CHECK(has(info, "command", NULL));
  CHECK(!has(info, "argv", NULL));
  CHECK(has(info, "maxprocs", ranks_text));
  CHECK(has(info, "host", NULL) && has(info, "arch", NULL) && has(info, "wdir", NULL));
}

static void check_real(int precision, int range, MPI_Datatype expected) {
  MPI_Datatype type, again;
  int bytes, expected_bytes, integers, addresses, types, combiner, contents[2];
  MPI_Type_create_f90_real(precision, range, &type);
  MPI_Type_create_f90_real(precision, range, &again);
  CHECK(type == again);
  MPI_Type_size(type, &bytes);
  MPI_Type_size(expected, &expected_bytes);
  CHECK(bytes == expected_bytes);
  MPI_Type_get_envelope(type, &integers, &addresses, &types, &combiner);
  CHECK(integers == 2 && addresses == 0 && types == 0 && combiner == MPI_COMBINER_F90_REAL);
  MPI_Type_get_contents(type, 2, 0, 0, contents, NULL, NULL);
  CHECK(contents[0] == precision && contents[1] == range);
}

static void check_types(void) {
  check_real(6, 30, MPI_REAL4);
  check_real(15, 307, MPI_REAL8);
  check_real(MPI_UNDEFINED, 300, MPI_REAL8);
  check_real(16, MPI_UNDEFINED, MPI_LONG_DOUBLE);
  check_real(30, 100, MPI_REAL16);
  MPI_Datatype type, other;
  int bytes;
  for (int range = 1; range <= 18; range++) {
    MPI_Type_create_f90_integer(range, &type);
    MPI_Type_size(type, &bytes);
    CHECK(bytes == (range <= 2 ? 1 : range <= 4 ? 2 : range <= 9 ? 4 : 8));
  }
  MPI_Type_create_f90_complex(10, 100, &type);
  MPI_Type_size(type, &bytes);
  CHECK(bytes == 16);
  /* As predefined ones: in reductions, without commit, and not to be freed. */
  double numbers[2] = {rank, 1}, sums[2];
  MPI_Type_create_f90_real(12, 200, &type);
  MPI_Allreduce(numbers, sums, 2, type, MPI_SUM, MPI_COMM_WORLD);
  CHECK(sums[0] == ranks * (ranks - 1) / 2. && sums[1] == ranks);
  MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
  other = type;
  CHECK(MPI_Type_free(&other) == MPI_ERR_TYPE);
  CHECK(MPI_Type_create_f90_real(100, 10, &other) == MPI_ERR_ARG);
  CHECK(MPI_Type_create_f90_real(MPI_UNDEFINED, MPI_UNDEFINED, &other) == MPI_ERR_ARG);
  CHECK(MPI_Type_create_f90_integer(100, &other) == MPI_ERR_ARG);
  MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_ARE_FATAL);
}

static void check_split_type(void) {
  MPI_Comm part;
  MPI_Info hints;
  int part_size;
  MPI_Info_create(&hints);
  MPI_Comm_split_type(MPI_COMM_WORLD, MPI_COMM_TYPE_HW_GUIDED, 0, hints, &part);
  CHECK(part == MPI_COMM_NULL);
  MPI_Comm_split_type(MPI_COMM_WORLD, MPI_COMM_TYPE_HW_UNGUIDED, 0, hints, &part);
  CHECK(part == MPI_COMM_NULL);
  MPI_Info_set(hints, "mpi_hw_resource_type", "mpi_shared_memory");
  MPI_Comm_split_type(MPI_COMM_WORLD, MPI_COMM_TYPE_HW_GUIDED, -rank, hints, &part);
  MPI_Comm_size(part, &part_size);
  CHECK(part_size == ranks);
  MPI_Comm_free(&part);
  MPI_Info_free(&hints);
}

static void check_statuses(void) {
  MPI_Status status, back;
  int got;
  MPI_F08_status of_f08;
  MPI_Fint of_f[MPI_F_STATUS_SIZE];
  MPI_Sendrecv(&rank, 1, MPI_INT, 0, 3, &got, 1, MPI_INT, 0, 3, MPI_COMM_SELF, &status);
  MPI_Status_c2f08(&status, &of_f08);
  CHECK(of_f08.MPI_TAG == 3 && of_f08.MPI_SOURCE == 0);
  MPI_Status_f082f(&of_f08, of_f);
  CHECK(of_f[MPI_F_TAG] == 3 && of_f[MPI_F_SOURCE] == 0);
  MPI_Status_f2f08(of_f, &of_f08);
  MPI_Status_f082c(&of_f08, &back);
  CHECK(memcmp(&back, &status, sizeof status) == 0);
}

int main(int argc, char** argv) {
  MPI_Info before, copy, environment;
  MPI_Info_create(&before);
  MPI_Info_set(before, "key", "value");
  MPI_Info_dup(before, &copy);
  MPI_Info_set(copy, "key", "another");
  MPI_Info_create_env(argc, argv, &environment);
  begin("outside", &argc, &argv);
  CHECK(has(before, "key", "value") && has(copy, "key", "another"));
  check_environment(environment);
  check_environment(MPI_INFO_ENV);
  MPI_Info_free(&copy);
  CHECK(copy == MPI_INFO_NULL);
  check_types();
  check_split_type();
  check_statuses();
  const int code = finish();
  MPI_Info_set(before, "after", "MPI_Finalize");
  if (!has(before, "after", "MPI_Finalize") || !has(environment, "command", NULL)) return 1;
  MPI_Info_free(&before);
  MPI_Info_free(&environment);
  return code;
}
