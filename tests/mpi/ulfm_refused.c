/* ulfm_refused: what is not built for jobs that go on without ranks that die is an error that says so, on one
 * node and on several. */
#include <string.h>

#include "ulfm_check.h"

static int is_refused(int code) {
  char text[MPI_MAX_ERROR_STRING] = "";
  int length = 0;
  if (code == MPI_SUCCESS) return 0;
  MPI_Error_string(code, text, &length);
  return strstr(text, "are not built yet for jobs that go on without ranks that die") != NULL;
}

int main(int argc, char** argv) {
  begin_ulfm(&argc, &argv, "ulfm_refused");
  MPI_File file;
  MPI_Offset place = 0;
  int value = rank;
  MPI_File_set_errhandler(MPI_FILE_NULL, MPI_ERRORS_RETURN);
  OK(MPI_File_open(MPI_COMM_WORLD, argv[1], MPI_MODE_CREATE | MPI_MODE_RDWR | MPI_MODE_DELETE_ON_CLOSE,
                   MPI_INFO_NULL, &file));
  CHECK(is_refused(MPI_File_write_shared(file, &value, 1, MPI_INT, MPI_STATUS_IGNORE)));
  CHECK(is_refused(MPI_File_get_position_shared(file, &place)));
  OK(MPI_File_write_at(file, 4 * rank, &value, 1, MPI_INT, MPI_STATUS_IGNORE));
  OK(MPI_File_close(&file));
  return end_ulfm();
}
