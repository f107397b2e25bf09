#include <cstring>

#include "api/arguments.hpp"

// MPI 3.1, 17.2.5: statuses of Fortran, which are those of C as integers. libmpifort sets the two addresses
// when it is loaded; in a program without Fortran nothing compares equal to them.
using namespace llamada::mpi;

MPI_Fint* MPI_F_STATUS_IGNORE = nullptr;
MPI_Fint* MPI_F_STATUSES_IGNORE = nullptr;

static_assert(sizeof(MPI_Status) == MPI_F_STATUS_SIZE * sizeof(MPI_Fint));

LLAMADA_MPI_FUNCTION(Status_f2c)
int PMPI_Status_f2c(const MPI_Fint* fortran_status, MPI_Status* status) {
  LLAMADA_MPI_ENTER(Status_f2c);
  if (int code = check_pointer(nullptr, fortran_status, "status of Fortran")) return code;
  if (int code = check_pointer(nullptr, status, "status")) return code;
  if (fortran_status == MPI_F_STATUS_IGNORE || fortran_status == MPI_F_STATUSES_IGNORE)
    return report(nullptr, MPI_ERR_ARG, "MPI_F_STATUS_IGNORE is no status");
  std::memcpy(status, fortran_status, sizeof *status);
  return MPI_SUCCESS;
}

LLAMADA_MPI_FUNCTION(Status_c2f)
int PMPI_Status_c2f(const MPI_Status* status, MPI_Fint* fortran_status) {
  LLAMADA_MPI_ENTER(Status_c2f);
  if (int code = check_pointer(nullptr, fortran_status, "status of Fortran")) return code;
  if (int code = check_pointer(nullptr, status, "status")) return code;
  if (status == MPI_STATUS_IGNORE) return report(nullptr, MPI_ERR_ARG, "MPI_STATUS_IGNORE is no status");
  std::memcpy(fortran_status, status, sizeof *status);
  return MPI_SUCCESS;
}
