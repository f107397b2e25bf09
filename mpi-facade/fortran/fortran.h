#pragma once
#include <mpi.h>
#include <stddef.h>

/* What the bindings for Fortran share. The compiler is gfortran or one that calls as it does: arguments by
 * address, the lengths of strings as size_t behind all others, .TRUE. and .FALSE. as 1 and 0. In all bindings
 * ierror may be absent (null), as mpi_f08 has it. */

/* The common blocks that mpif.h declares, and the variables of the module mpi_f08. Their addresses are what
 * counts; a program's own copies take the place of the library's. */
struct llamada_mpipriv1 {
  MPI_Fint bottom;
  MPI_Fint in_place;
  MPI_Fint status_ignore[5];
};
struct llamada_mpipriv2 {
  MPI_Fint statuses_ignore[5];
  MPI_Fint errcodes_ignore;
};
extern struct llamada_mpipriv1 mpipriv1_ __attribute__((visibility("default")));
extern struct llamada_mpipriv2 mpipriv2_ __attribute__((visibility("default")));

/* MPI_BOTTOM and MPI_IN_PLACE as C has them; other addresses as they are. */
void* llamada_fortran_choice(const void* buffer);
/* MPI_STATUS_IGNORE and MPI_STATUSES_IGNORE as C has them; other addresses as they are. */
MPI_Status* llamada_fortran_status(const MPI_Status* status);
/* MPI_UNWEIGHTED and MPI_WEIGHTS_EMPTY as C has them; other addresses as they are. */
int* llamada_fortran_weights(const MPI_Fint* weights);
/* A string without the blanks at its end and in front, for C; to be freed. */
char* llamada_fortran_text(const char* text, size_t size);
/* The text that a string variable has, for a buffer of MPI_MAX_LIBRARY_VERSION_STRING bytes. */
void llamada_fortran_take(const char* text, size_t size, char* buffer);
/* A text of C into a string variable of `size` characters, cut or filled with blanks. */
void llamada_fortran_give(const char* text, char* to, size_t size);
/* Stores an address in an INTEGER; MPI_ERR_ARG, through the error handler, if it does not fit. */
int llamada_fortran_narrow(MPI_Aint value, MPI_Fint* to);
/* INTEGERs as addresses; to be freed. */
MPI_Aint* llamada_fortran_widen(const MPI_Fint* values, int count);
