#ifndef LLAMADA_MPI_FORTRAN_ATTRIBUTES_H
#define LLAMADA_MPI_FORTRAN_ATTRIBUTES_H
/* What libmpifort calls in libmpi so that attributes know which language has set them (MPI 3.1, 17.2.7). Not
 * for programs. */
#include <mpi.h>

#ifdef __cplusplus
extern "C" {
#endif
#define LLAMADA_FORTRAN_ATTRIBUTE __attribute__((visibility("default")))

/* The integers of Fortran: INTEGER of the functions of MPI-1, and INTEGER(MPI_ADDRESS_KIND). */
enum llamada_fortran_width { LLAMADA_FORTRAN_INTEGER, LLAMADA_FORTRAN_ADDRESS };

/* Says that a key's callbacks take values as integers, as those of Fortran do. */
LLAMADA_FORTRAN_ATTRIBUTE void llamada_keyval_of_fortran(int keyval);

/* As MPI_Comm_set_attr and so on, for a value that Fortran sets. */
LLAMADA_FORTRAN_ATTRIBUTE int llamada_comm_set_attribute(MPI_Comm comm, int keyval, MPI_Aint value,
                                                         enum llamada_fortran_width width);
LLAMADA_FORTRAN_ATTRIBUTE int llamada_type_set_attribute(MPI_Datatype datatype, int keyval, MPI_Aint value,
                                                         enum llamada_fortran_width width);
LLAMADA_FORTRAN_ATTRIBUTE int llamada_win_set_attribute(MPI_Win win, int keyval, MPI_Aint value,
                                                        enum llamada_fortran_width width);

/* As MPI_Comm_get_attr and so on, with the value as an integer; not for predefined attributes. */
LLAMADA_FORTRAN_ATTRIBUTE int llamada_comm_get_attribute(MPI_Comm comm, int keyval, MPI_Aint* value,
                                                         int* flag);
LLAMADA_FORTRAN_ATTRIBUTE int llamada_type_get_attribute(MPI_Datatype datatype, int keyval, MPI_Aint* value,
                                                         int* flag);
LLAMADA_FORTRAN_ATTRIBUTE int llamada_win_get_attribute(MPI_Win win, int keyval, MPI_Aint* value, int* flag);

#undef LLAMADA_FORTRAN_ATTRIBUTE
#ifdef __cplusplus
}
#endif
#endif
