/* Array sections as buffers of communication: MPI 3.1, 17.1.10 and 17.1.12. */
#include "sections.h"

#include <stdlib.h>
#include <string.h>

int llamada_is_whole(const CFI_cdesc_t* buffer) {
  CFI_index_t packed = (CFI_index_t)buffer->elem_len;
  for (int i = 0; i < buffer->rank; i++) {
    if (buffer->dim[i].extent < 0) return 1; /* assumed size, which has no gaps */
    if (buffer->dim[i].extent == 0) return 1;
    if (buffer->dim[i].extent > 1 && buffer->dim[i].sm != packed) return 0;
    packed *= buffer->dim[i].extent;
  }
  return 1;
}

static size_t element_count(const CFI_cdesc_t* buffer) {
  size_t count = 1;
  for (int i = 0; i < buffer->rank; i++) count *= (size_t)buffer->dim[i].extent;
  return count;
}

static void refuse(int* code) {
  *code = MPI_ERR_BUFFER;
  MPI_Comm_call_errhandler(MPI_COMM_WORLD, MPI_ERR_BUFFER);
}

/* Copies between the elements of dimensions 0 to `level` at `place`, and `packed`, which moves on. */
static void copy_level(const CFI_cdesc_t* buffer, int level, char* place, char** packed, int gather) {
  if (level < 0) {
    if (gather)
      memcpy(*packed, place, buffer->elem_len);
    else
      memcpy(place, *packed, buffer->elem_len);
    *packed += buffer->elem_len;
    return;
  }
  for (CFI_index_t i = 0; i < buffer->dim[level].extent; i++)
    copy_level(buffer, level - 1, place + i * buffer->dim[level].sm, packed, gather);
}

void llamada_section_copy(struct llamada_section* section, const CFI_cdesc_t* buffer) {
  *section = (struct llamada_section){.address = buffer->base_addr, .from = buffer};
  if (!buffer->base_addr || llamada_is_whole(buffer)) return;
  section->address = section->copy = malloc(element_count(buffer) * buffer->elem_len);
  char* packed = section->copy;
  copy_level(buffer, buffer->rank - 1, buffer->base_addr, &packed, 1);
}

void llamada_section_return(struct llamada_section* section, int only_read) {
  char* packed = section->copy;
  if (packed && !only_read)
    copy_level(section->from, section->from->rank - 1, section->from->base_addr, &packed, 0);
  free(section->copy);
}

/* The first `count` elements, of the type `element`, of dimensions 0 to `level`. To be freed by the caller.
 */
static MPI_Datatype type_of_level(const CFI_cdesc_t* buffer, int level, size_t count, MPI_Datatype element) {
  MPI_Datatype result = MPI_DATATYPE_NULL;
  if (level < 0) {
    MPI_Type_dup(element, &result);
    return result;
  }
  size_t inner_count = 1;
  for (int i = 0; i < level; i++) inner_count *= (size_t)buffer->dim[i].extent;
  const MPI_Aint stride = buffer->dim[level].sm;
  const size_t whole = count / inner_count, rest = count % inner_count;
  MPI_Datatype parts[2] = {MPI_DATATYPE_NULL, MPI_DATATYPE_NULL};
  MPI_Datatype inner = type_of_level(buffer, level - 1, inner_count, element);
  MPI_Type_create_hvector((int)whole, 1, stride, inner, &parts[0]);
  MPI_Type_free(&inner);
  if (rest == 0) return parts[0];
  parts[1] = type_of_level(buffer, level - 1, rest, element);
  const int ones[2] = {1, 1};
  const MPI_Aint places[2] = {0, (MPI_Aint)whole * stride};
  MPI_Type_create_struct(2, ones, places, parts, &result);
  MPI_Type_free(&parts[0]);
  MPI_Type_free(&parts[1]);
  return result;
}

void llamada_section_type(struct llamada_section* section, const CFI_cdesc_t* buffer, int count,
                          MPI_Datatype datatype, int* code) {
  *section = (struct llamada_section){.address = buffer->base_addr, .count = count, .datatype = datatype};
  if (*code != MPI_SUCCESS || !buffer->base_addr || llamada_is_whole(buffer) || count <= 0) return;
  MPI_Aint lower_bound = 0, extent = 0;
  int size = 0;
  *code = MPI_Type_get_extent(datatype, &lower_bound, &extent);
  if (*code == MPI_SUCCESS) *code = MPI_Type_size(datatype, &size);
  if (*code != MPI_SUCCESS) return;
  const MPI_Aint element_size = (MPI_Aint)buffer->elem_len;
  if (lower_bound != 0 || size != extent || extent <= 0 || element_size % extent != 0 ||
      (count * extent) % element_size != 0 || (size_t)(count * extent / element_size) > element_count(buffer))
    return refuse(code);
  MPI_Datatype element = MPI_DATATYPE_NULL;
  MPI_Type_contiguous((int)(element_size / extent), datatype, &element);
  section->datatype =
      type_of_level(buffer, buffer->rank - 1, (size_t)(count * extent / element_size), element);
  MPI_Type_free(&element);
  MPI_Type_commit(&section->datatype);
  section->count = 1;
  section->made = 1;
}

void llamada_section_free(struct llamada_section* section) {
  if (section->made) MPI_Type_free(&section->datatype);
}

void llamada_section_whole(struct llamada_section* section, const CFI_cdesc_t* buffer, int* code) {
  *section = (struct llamada_section){.address = buffer->base_addr};
  if (*code == MPI_SUCCESS && buffer->base_addr && !llamada_is_whole(buffer)) refuse(code);
}
