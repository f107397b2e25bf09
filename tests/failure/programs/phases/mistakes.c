/* Arguments that are wrong: an error of the right class, and all goes on. */
#include "phases.h"

static void expect(int error, int wanted) {
  int class;
  CHECK(error != MPI_SUCCESS);
  MPI_Error_class(error, &class);
  CHECK(class == wanted);
}

void mistakes(void) {
  int value = 0;
  MPI_Comm none = MPI_COMM_NULL;
  MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
  switch (own(5)) {
    case 0:
      expect(MPI_Send(&value, 1, MPI_INT, ranks, 0, MPI_COMM_WORLD), MPI_ERR_RANK);
      break;
    case 1:
      expect(MPI_Send(&value, -1, MPI_INT, 0, 0, MPI_COMM_WORLD), MPI_ERR_COUNT);
      break;
    case 2:
      expect(MPI_Send(&value, 1, MPI_INT, 0, -5, MPI_COMM_WORLD), MPI_ERR_TAG);
      break;
    case 3:
      expect(MPI_Bcast(&value, 1, MPI_INT, -7, MPI_COMM_WORLD), MPI_ERR_ROOT);
      break;
    default:
      expect(MPI_Comm_dup(none, &none), MPI_ERR_COMM);
  }
  MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_ARE_FATAL);
}
