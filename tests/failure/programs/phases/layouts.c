/* Payloads in memory: in one piece or in several with gaps, in any order. */
#include "phases.h"

const int unit_sizes[] = {1, 4, 8};

MPI_Datatype unit_type(int unit) { return unit == 0 ? MPI_BYTE : unit == 1 ? MPI_INT : MPI_DOUBLE; }

int draw_unit(void) { return (int)draw(3); }

Layout plain_layout(int unit, size_t elements) {
  Layout layout = {unit_type(unit), (int)elements, 0, 1, elements * (size_t)unit_sizes[unit], {0}, {0}};
  layout.length[0] = layout.span;
  return layout;
}

/* Cuts the elements into runs, places these in memory in some order, with gaps. */
static void place_runs(Layout* layout, size_t size, size_t elements) {
  int order[runs_most];
  size_t left = elements, at = own(3) * size;
  layout->runs = 1 + (int)own(runs_most);
  for (int i = 0; i < layout->runs; i++) {
    size_t part = i + 1 == layout->runs ? left : own(left + 1);
    layout->length[i] = part * size;
    left -= part;
    order[i] = i;
  }
  if (own(2)) shuffle(order, layout->runs);
  for (int i = 0; i < layout->runs; i++) {
    layout->at[order[i]] = at;
    at += layout->length[order[i]] + own(5) * size;
  }
  layout->span = at;
}

static MPI_Datatype indexed_type(const Layout* layout, MPI_Datatype unit, size_t size) {
  int lengths[runs_most], places[runs_most];
  MPI_Aint bytes[runs_most];
  MPI_Datatype types[runs_most], type;
  for (int i = 0; i < layout->runs; i++) {
    lengths[i] = (int)(layout->length[i] / size);
    places[i] = (int)(layout->at[i] / size);
    bytes[i] = (MPI_Aint)layout->at[i];
    types[i] = unit;
  }
  switch (own(3)) {
    case 0:
      MPI_Type_indexed(layout->runs, lengths, places, unit, &type);
      break;
    case 1:
      MPI_Type_create_hindexed(layout->runs, lengths, bytes, unit, &type);
      break;
    default:
      MPI_Type_create_struct(layout->runs, lengths, bytes, types, &type);
  }
  return type;
}

/* As many equal runs as there can be, at equal distances. */
static MPI_Datatype vector_type(Layout* layout, MPI_Datatype unit, size_t size, size_t elements) {
  int runs = 1;
  for (int i = 2; i <= runs_most; i++)
    if (elements % (size_t)i == 0) runs = i;
  size_t length = elements / (size_t)runs, stride = length + own(4);
  layout->runs = runs;
  for (int i = 0; i < runs; i++) {
    layout->at[i] = (size_t)i * stride * size;
    layout->length[i] = length * size;
  }
  layout->span = ((size_t)(runs - 1) * stride + length) * size;
  MPI_Datatype type;
  if (own(2))
    MPI_Type_vector(runs, (int)length, (int)stride, unit, &type);
  else
    MPI_Type_create_hvector(runs, (int)length, (MPI_Aint)(stride * size), unit, &type);
  return type;
}

Layout make_layout(int unit, size_t elements) {
  Layout layout = plain_layout(unit, elements);
  if (elements == 0 || own(2)) return layout;
  size_t size = (size_t)unit_sizes[unit];
  if (own(3) == 0) {
    layout.type = vector_type(&layout, unit_type(unit), size, elements);
  } else {
    place_runs(&layout, size, elements);
    layout.type = indexed_type(&layout, unit_type(unit), size);
  }
  if (own(3) == 0) {
    MPI_Datatype inner = layout.type;
    MPI_Type_create_resized(inner, 0, (MPI_Aint)(layout.span + size), &layout.type);
    MPI_Type_free(&inner);
  }
  MPI_Type_commit(&layout.type);
  layout.count = 1;
  layout.derived = 1;
  return layout;
}

void free_layout(Layout* layout) {
  if (layout->derived) MPI_Type_free(&layout->type);
  layout->derived = 0;
}

unsigned char* blank(size_t bytes) {
  unsigned char* memory = malloc(bytes + 8);
  CHECK(memory != NULL);
  memset(memory, 0xa5, bytes + 8);
  return memory;
}

void write_bytes(unsigned char* memory, uint64_t base, size_t first, size_t bytes) {
  for (size_t i = 0; i < bytes; i++) {
    uint64_t word = (base + (first + i) / 8) * 0x9e3779b97f4a7c15ull;
    memory[i] = (unsigned char)((word ^ (word >> 32)) >> (first + i) % 8 * 8);
  }
}

void write_payload(unsigned char* memory, const Layout* layout, uint64_t base, size_t bytes) {
  size_t done = 0;
  for (int i = 0; i < layout->runs && done < bytes; i++) {
    size_t part = layout->length[i] < bytes - done ? layout->length[i] : bytes - done;
    write_bytes(memory + layout->at[i], base, done, part);
    done += part;
  }
}
