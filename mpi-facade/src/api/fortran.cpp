#include <cstring>

#include "runtime/arguments.hpp"

// MPI 3.1, 17.2.5: statuses of Fortran, which are those of C as integers. libmpifort sets the two addresses
// when it is loaded; in a program without Fortran nothing compares equal to them.
using namespace llamada::mpi;

MPI_Fint* MPI_F_STATUS_IGNORE = nullptr;
MPI_Fint* MPI_F_STATUSES_IGNORE = nullptr;
MPI_F08_status* MPI_F08_STATUS_IGNORE = nullptr;
MPI_F08_status* MPI_F08_STATUSES_IGNORE = nullptr;

static_assert(sizeof(MPI_Status) == MPI_F_STATUS_SIZE * sizeof(MPI_Fint));
static_assert(sizeof(MPI_Status) == sizeof(MPI_F08_status));

namespace {

bool is_ignored(const void* status) {
  return status == MPI_STATUS_IGNORE || status == MPI_F_STATUS_IGNORE || status == MPI_F_STATUSES_IGNORE ||
         status == MPI_F08_STATUS_IGNORE || status == MPI_F08_STATUSES_IGNORE;
}

/// The three kinds of status have the same five integers.
int convert(const void* from, void* to) {
  if (int code = check_pointer(nullptr, from, "status to convert")) return code;
  if (int code = check_pointer(nullptr, to, "converted status")) return code;
  if (is_ignored(from)) return report(nullptr, MPI_ERR_ARG, "what stands for no status cannot be converted");
  std::memcpy(to, from, sizeof(MPI_Status));
  return MPI_SUCCESS;
}

}  // namespace

LLAMADA_MPI_FUNCTION(Status_f2c)
int PMPI_Status_f2c(const MPI_Fint* fortran_status, MPI_Status* status) {
  LLAMADA_MPI_ENTER(Status_f2c);
  return convert(fortran_status, status);
}

LLAMADA_MPI_FUNCTION(Status_c2f)
int PMPI_Status_c2f(const MPI_Status* status, MPI_Fint* fortran_status) {
  LLAMADA_MPI_ENTER(Status_c2f);
  return convert(status, fortran_status);
}

LLAMADA_MPI_FUNCTION(Status_f082c)
int PMPI_Status_f082c(const MPI_F08_status* fortran_status, MPI_Status* status) {
  LLAMADA_MPI_ENTER(Status_f082c);
  return convert(fortran_status, status);
}

LLAMADA_MPI_FUNCTION(Status_c2f08)
int PMPI_Status_c2f08(const MPI_Status* status, MPI_F08_status* fortran_status) {
  LLAMADA_MPI_ENTER(Status_c2f08);
  return convert(status, fortran_status);
}

LLAMADA_MPI_FUNCTION(Status_f082f)
int PMPI_Status_f082f(const MPI_F08_status* f08_status, MPI_Fint* f_status) {
  LLAMADA_MPI_ENTER(Status_f082f);
  return convert(f08_status, f_status);
}

LLAMADA_MPI_FUNCTION(Status_f2f08)
int PMPI_Status_f2f08(const MPI_Fint* f_status, MPI_F08_status* f08_status) {
  LLAMADA_MPI_ENTER(Status_f2f08);
  return convert(f_status, f08_status);
}
