#pragma once
#include <ISO_Fortran_binding.h>

#include "fortran.h"

/* Choice buffers of mpi_f08 come as descriptors. What is whole in memory, MPI_BOTTOM and MPI_IN_PLACE are
 * used as they are. An array section is copied for a function that is done with it when it returns; for
 * others a datatype describes it. */
struct llamada_section {
  void* address;
  int count;
  MPI_Datatype datatype;
  void* copy;              /* of llamada_section_copy, or null */
  int made;                /* whether datatype is to be freed */
  const CFI_cdesc_t* from; /* where copy came from */
};

/* Whether the elements lie one behind the other, without gaps. */
int llamada_is_whole(const CFI_cdesc_t* buffer);

/* The buffer, in one piece; the elements in the order of arrays of Fortran. */
void llamada_section_copy(struct llamada_section* section, const CFI_cdesc_t* buffer);
/* Writes the elements back, unless they were only read; ends the section. */
void llamada_section_return(struct llamada_section* section, int only_read);

/* `count` elements of `datatype` as they would be in the buffer in one piece. `code` becomes MPI_ERR_BUFFER,
 * through the error handler of MPI_COMM_WORLD, if the elements of the array are not made of such ones, or are
 * not as many. */
void llamada_section_type(struct llamada_section* section, const CFI_cdesc_t* buffer, int count,
                          MPI_Datatype datatype, int* code);
void llamada_section_free(struct llamada_section* section);

/* Only what is in one piece: `code` becomes MPI_ERR_BUFFER otherwise. */
void llamada_section_whole(struct llamada_section* section, const CFI_cdesc_t* buffer, int* code);
