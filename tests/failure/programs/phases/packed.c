/* Messages that the program packs itself, natively or in external32. */
#include "phases.h"

enum { most = 300 };

static void make(int* numbers, double* reals, int from, int count) {
  for (int i = 0; i < count; i++) {
    numbers[i] = (int)mix(value_of(from, 0, 1), (uint64_t)i);
    reals[i] = numbers[i] / 3.0;
  }
}

static MPI_Aint pack(char* to, MPI_Aint room, const int* numbers, const double* reals, int count,
                     int external) {
  MPI_Aint at = 0;
  int place = 0;
  if (external) {
    MPI_Pack_external("external32", numbers, count, MPI_INT, to, room, &at);
    MPI_Pack_external("external32", reals, count, MPI_DOUBLE, to, room, &at);
    return at;
  }
  MPI_Pack(numbers, count, MPI_INT, to, (int)room, &place, MPI_COMM_WORLD);
  MPI_Pack(reals, count, MPI_DOUBLE, to, (int)room, &place, MPI_COMM_WORLD);
  return place;
}

static void unpack(char* from, MPI_Aint bytes, int* numbers, double* reals, int count, int external) {
  MPI_Aint at = 0;
  int place = 0;
  if (external) {
    MPI_Unpack_external("external32", from, bytes, &at, numbers, count, MPI_INT);
    MPI_Unpack_external("external32", from, bytes, &at, reals, count, MPI_DOUBLE);
    return;
  }
  MPI_Unpack(from, (int)bytes, &place, numbers, count, MPI_INT, MPI_COMM_WORLD);
  MPI_Unpack(from, (int)bytes, &place, reals, count, MPI_DOUBLE, MPI_COMM_WORLD);
}

/* Round the ring. */
void packed(void) {
  int numbers[most], got_numbers[most], count = (int)draw(most), external = (int)draw(2), bytes;
  double reals[most], got_reals[most];
  char out[most * 12 + 64], in[most * 12 + 64];
  int right = (rank + 1) % ranks, left = (rank + ranks - 1) % ranks;
  MPI_Status status;
  make(numbers, reals, rank, count);
  int size = (int)pack(out, sizeof out, numbers, reals, count, external);
  MPI_Sendrecv(out, size, MPI_PACKED, right, tag_of(0), in, sizeof in, MPI_PACKED, left, tag_of(0),
               MPI_COMM_WORLD, &status);
  MPI_Get_count(&status, MPI_PACKED, &bytes);
  CHECK(bytes == size);
  unpack(in, bytes, got_numbers, got_reals, count, external);
  make(numbers, reals, left, count);
  CHECK(memcmp(numbers, got_numbers, (size_t)count * 4) == 0 &&
        memcmp(reals, got_reals, (size_t)count * 8) == 0);
}
