/* rows STEPS EVERY [SECONDS]: rows of numbers in a ring. In each step each number is mixed with its
 * neighbours, and the ranks exchange their edges. Nothing ever settles, so one wrong number changes all that
 * follows. Every EVERY steps all ranks take a checkpoint, and every tenth time rank 0 prints a digest. They
 * may end earlier, when so many SECONDS are over: at a checkpoint. The answer is the same for any number of
 * ranks that divides the rows. */
#include <llamada-checkpoint.h>
#include <mpi.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { columns = 256, all_rows = 48 };

static struct {
  long step;
  double begun;
  uint64_t rows[2][all_rows + 2][columns]; /* the first and the last are the neighbours' */
} state;

/* Whether all ranks go on: rank 0 says so. */
static int has_time(double seconds) {
  int goes_on = MPI_Wtime() - state.begun < seconds;
  MPI_Bcast(&goes_on, 1, MPI_INT, 0, MPI_COMM_WORLD);
  return goes_on;
}

static uint64_t digest_of(const uint64_t (*rows)[columns], int first, int count) {
  uint64_t digest = 0;
  for (int row = 0; row < count; row++)
    for (int column = 0; column < columns; column++)
      digest += rows[row + 1][column] * (2 * (uint64_t)((first + row) * columns + column) + 1);
  return digest;
}

static uint64_t mixed(uint64_t number) { return (number ^ number >> 31) * 0x9e3779b97f4a7c15u; }

static void step(const uint64_t (*now)[columns], uint64_t (*next)[columns], int count) {
  for (int row = 1; row <= count; row++)
    for (int column = 0; column < columns; column++)
      next[row][column] = mixed(now[row - 1][column] + (now[row + 1][column] >> 7) +
                                now[row][(column + 1) % columns] + 3 * now[row][column]);
}

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  const long steps = argc > 1 ? atol(argv[1]) : 1000, every = argc > 2 ? atol(argv[2]) : 100;
  const double seconds = argc > 3 ? atof(argv[3]) : 0;
  int rank, ranks, restarted;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &ranks);
  const int count = all_rows / ranks, first = rank * count;
  const int above = (rank + ranks - 1) % ranks, below = (rank + 1) % ranks;
  for (int row = 0; row < count; row++)
    for (int column = 0; column < columns; column++)
      state.rows[0][row + 1][column] = (uint64_t)((first + row) * columns + column) * 0x9e3779b97f4a7c15u + 1;
  state.begun = MPI_Wtime();
  if (every > 0) LLAMADA_Checkpoint_register(&state, sizeof state);
  for (; state.step < steps; state.step++) {
    uint64_t(*now)[columns] = state.rows[state.step % 2];
    if (every > 0 && state.step % every == 0) {
      LLAMADA_Checkpoint(MPI_COMM_WORLD, &restarted);
      now = state.rows[state.step % 2];
      if (seconds > 0 && !has_time(seconds)) break;
      if (state.step % (10 * every) == 0) {
        uint64_t mine = digest_of(now, first, count), all = 0;
        MPI_Reduce(&mine, &all, 1, MPI_UINT64_T, MPI_SUM, 0, MPI_COMM_WORLD);
        if (rank == 0) printf("step %ld: %016llx\n", state.step, (unsigned long long)all), fflush(stdout);
      }
    }
    MPI_Sendrecv(now[1], columns, MPI_UINT64_T, above, 1, now[count + 1], columns, MPI_UINT64_T, below, 1,
                 MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    MPI_Sendrecv(now[count], columns, MPI_UINT64_T, below, 2, now[0], columns, MPI_UINT64_T, above, 2,
                 MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    step(now, state.rows[(state.step + 1) % 2], count);
  }
  uint64_t mine = digest_of(state.rows[state.step % 2], first, count), all = 0;
  MPI_Reduce(&mine, &all, 1, MPI_UINT64_T, MPI_SUM, 0, MPI_COMM_WORLD);
  if (rank == 0) printf("the end, step %ld: %016llx\n", state.step, (unsigned long long)all);
  MPI_Finalize();
  return 0;
}
