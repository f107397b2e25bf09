#include <limits.h>
#include <sys/mman.h>

#include "check.h"

/* Functions with large counts (MPI 4.0), and what the others say of what is too large for an int. No memory
 * is as large as the counts: types repeat their bytes, receives take less than there is room for. */

static const MPI_Count large = 3000000000LL;

static void sizes(MPI_Datatype type, MPI_Count bytes, MPI_Count extent) {
  MPI_Count size = 0, lower = 1, true_extent = 0;
  int narrow = 0;
  OK(MPI_Type_size_c(type, &size));
  CHECK_EQ(size, bytes);
  OK(MPI_Type_size_x(type, &size));
  CHECK_EQ(size, bytes);
  OK(MPI_Type_size(type, &narrow));
  CHECK_EQ(narrow, bytes > INT_MAX ? MPI_UNDEFINED : (int)bytes);
  OK(MPI_Type_get_true_extent_c(type, &lower, &true_extent));
  CHECK_EQ(lower, 0);
  CHECK_EQ(true_extent, extent);
}

static void contents(MPI_Datatype type, int combiner, MPI_Count count, const MPI_Count* numbers) {
  MPI_Count integers = -1, addresses = -1, counts = -1, types = -1, got[8];
  int found = 0, narrow[4];
  MPI_Datatype inner;
  OK(MPI_Type_get_envelope_c(type, &integers, &addresses, &counts, &types, &found));
  CHECK(integers == 0 && addresses == 0 && types == 1);
  CHECK_EQ(found, combiner);
  CHECK_EQ(counts, count);
  OK(MPI_Type_get_contents_c(type, 0, 0, counts, 1, NULL, NULL, got, &inner));
  CHECK(inner == MPI_INT);
  for (int i = 0; i < count; i++) CHECK_EQ(got[i], numbers[i]);
  int code = MPI_Type_get_envelope(type, &narrow[0], &narrow[1], &narrow[2], &narrow[3]), error_class = 0;
  MPI_Error_class(code, &error_class);
  CHECK_EQ(error_class, MPI_ERR_TYPE);
}

static void datatypes(void) {
  MPI_Datatype type, twice;
  OK(MPI_Type_contiguous_c(large, MPI_INT, &type));
  sizes(type, 4 * large, 4 * large);
  contents(type, MPI_COMBINER_CONTIGUOUS, 1, &large);
  OK(MPI_Type_contiguous(2, type, &twice));
  sizes(twice, 8 * large, 8 * large);
  MPI_Type_free(&twice);
  CHECK(MPI_Type_contiguous_c(LLONG_MAX / 8, type, &twice) != MPI_SUCCESS);
  MPI_Type_free(&type);

  OK(MPI_Type_vector_c(large, 2, 3, MPI_INT, &type));
  sizes(type, 8 * large, 12 * large - 4);
  contents(type, MPI_COMBINER_VECTOR, 3, (MPI_Count[]){large, 2, 3});
  MPI_Type_free(&type);
  OK(MPI_Type_create_hvector_c(large, 1, 0, MPI_INT, &type));
  sizes(type, 4 * large, 4);
  contents(type, MPI_COMBINER_HVECTOR, 3, (MPI_Count[]){large, 1, 0});
  MPI_Type_free(&type);

  const MPI_Count lengths[] = {1, large}, places[] = {0, 8};
  OK(MPI_Type_indexed_c(2, lengths, places, MPI_INT, &type));
  sizes(type, 4 * large + 4, 4 * large + 32);
  contents(type, MPI_COMBINER_INDEXED, 5, (MPI_Count[]){2, 1, large, 0, 8});
  MPI_Type_free(&type);
  OK(MPI_Type_create_hindexed_c(2, lengths, places, MPI_INT, &type));
  sizes(type, 4 * large + 4, 4 * large + 8);
  contents(type, MPI_COMBINER_HINDEXED, 5, (MPI_Count[]){2, 1, large, 0, 8});
  MPI_Type_free(&type);
  const MPI_Count far[] = {0, large};
  OK(MPI_Type_create_indexed_block_c(2, 2, far, MPI_INT, &type));
  sizes(type, 16, 4 * large + 8);
  contents(type, MPI_COMBINER_INDEXED_BLOCK, 4, (MPI_Count[]){2, 2, 0, large});
  MPI_Type_free(&type);
  OK(MPI_Type_create_hindexed_block_c(2, 2, far, MPI_INT, &type));
  sizes(type, 16, large + 8);
  MPI_Type_free(&type);
  const MPI_Datatype types[] = {MPI_CHAR, MPI_CHAR};
  OK(MPI_Type_create_struct_c(2, lengths, places, types, &type));
  sizes(type, large + 1, large + 8);
  MPI_Type_free(&type);
  MPI_Count lower = 0, extent = 0;
  OK(MPI_Type_create_resized_c(MPI_INT, -8, large, &type));
  OK(MPI_Type_get_extent_c(type, &lower, &extent));
  CHECK(lower == -8 && extent == large);
  MPI_Type_free(&type);
}

static void statuses(void) {
  MPI_Status status;
  MPI_Count count = 0;
  int narrow = 0;
  memset(&status, 0, sizeof status);
  OK(MPI_Status_set_elements_x(&status, MPI_INT, large));
  OK(MPI_Get_count_c(&status, MPI_INT, &count));
  CHECK_EQ(count, large);
  OK(MPI_Get_elements_c(&status, MPI_SHORT, &count));
  CHECK_EQ(count, 2 * large);
  OK(MPI_Get_count(&status, MPI_INT, &narrow));
  CHECK_EQ(narrow, MPI_UNDEFINED);
  OK(MPI_Get_elements(&status, MPI_INT, &narrow));
  CHECK_EQ(narrow, MPI_UNDEFINED);
  OK(MPI_Get_count(&status, MPI_LONG_LONG, &narrow));
  CHECK_EQ(narrow, (int)(large / 2));
}

/* A receive with room for more than 2^32 bytes, as its count says, takes the few that come. */
static void messages(void) {
  const int next = (rank + 1) % ranks, previous = (rank + ranks - 1) % ranks;
  const MPI_Count room = (1LL << 32) + 4;
  int out[64], in[64];
  MPI_Status status;
  MPI_Request request;
  MPI_Count count = 0;
  fill(out, 64, (uint32_t)rank, 1);
  OK(MPI_Irecv_c(in, room, MPI_INT, previous, 1, MPI_COMM_WORLD, &request));
  OK(MPI_Send_c(out, 64, MPI_INT, next, 1, MPI_COMM_WORLD));
  OK(MPI_Wait(&request, &status));
  OK(MPI_Get_count_c(&status, MPI_INT, &count));
  CHECK(count == 64 && filled(in, 64, (uint32_t)previous, 1));
  OK(MPI_Isend_c(out, 32, MPI_INT, next, 2, MPI_COMM_WORLD, &request));
  OK(MPI_Recv_c(in, room, MPI_INT, previous, 2, MPI_COMM_WORLD, &status));
  CHECK(status_is(&status, previous, 2, MPI_INT, 32));
  OK(MPI_Wait(&request, MPI_STATUS_IGNORE));
  memset(in, 0, sizeof in);
  OK(MPI_Sendrecv_c(out, 64, MPI_INT, next, 3, in, room, MPI_INT, previous, 3, MPI_COMM_WORLD, &status));
  CHECK(filled(in, 64, (uint32_t)previous, 1));
}

static void collectives(void) {
  int value = rank == 0 ? 4711 : 0;
  OK(MPI_Bcast_c(&value, 1, MPI_INT, 0, MPI_COMM_WORLD));
  CHECK_EQ(value, 4711);
  /* Results lie 2^32 bytes apart. */
  const MPI_Aint apart = (MPI_Aint)1 << 32;
  const size_t bytes = (size_t)apart * (size_t)ranks;
  char* far = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  CHECK(far != MAP_FAILED);
  MPI_Count counts[16];
  MPI_Aint near_places[16], far_places[16];
  char out[16];
  CHECK(ranks <= 16);
  for (int i = 0; i < ranks; i++) {
    counts[i] = 1, near_places[i] = i, far_places[i] = apart * i;
    out[i] = (char)(10 * rank + i);
  }
  OK(MPI_Alltoallv_c(out, counts, near_places, MPI_CHAR, far, counts, far_places, MPI_CHAR, MPI_COMM_WORLD));
  for (int i = 0; i < ranks; i++) CHECK_EQ(far[far_places[i]], (char)(10 * i + rank));
  munmap(far, bytes);
}

int main(int argc, char** argv) {
  begin("large counts", &argc, &argv);
  MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
  datatypes();
  statuses();
  messages();
  collectives();
  return finish();
}
