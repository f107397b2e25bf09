/* What collectives are made of: blocks of elements, in one piece or with gaps; and how they end. */
#include "phases.h"

Element draw_element(void) {
  Element element = {.type = MPI_BYTE};
  element.unit = draw_unit();
  element.pair = (int)draw(3) == 0;
  element.width = (size_t)unit_sizes[element.unit] * (element.pair ? 2 : 1);
  return element;
}

/* The same data in a form of this rank's choice. */
Element make_element(const Element* drawn) {
  Element element = *drawn;
  MPI_Datatype unit = unit_type(element.unit), gapped;
  MPI_Aint size = unit_sizes[element.unit];
  element.gap = element.pair && own(2) ? (size_t)size : 0;
  element.extent = element.width + 2 * element.gap;
  if (!element.pair) {
    element.type = unit;
  } else if (!element.gap) {
    MPI_Type_contiguous(2, unit, &element.type);
  } else {
    MPI_Type_vector(2, 1, 2, unit, &gapped);
    MPI_Type_create_resized(gapped, 0, 4 * size, &element.type);
    MPI_Type_free(&gapped);
  }
  if (element.pair) MPI_Type_commit(&element.type);
  return element;
}

void free_element(Element* element) {
  if (element->pair) MPI_Type_free(&element->type);
}

void write_block(unsigned char* memory, const Element* element, uint64_t base, int count) {
  size_t size = (size_t)unit_sizes[element->unit];
  if (!element->gap) return write_bytes(memory, base, 0, element->width * (size_t)count);
  for (size_t i = 0; i < (size_t)count; i++) {
    write_bytes(memory + i * element->extent, base, i * element->width, size);
    write_bytes(memory + i * element->extent + 2 * size, base, i * element->width + size, size);
  }
}

/* Places blocks in memory: one behind the other, or in any order and with gaps. */
void place_blocks(Blocks* blocks, const Element* element, int packed) {
  int order[ranks_most * 2], at = packed ? 0 : (int)own(3);
  for (int i = 0; i < blocks->many; i++) order[i] = i;
  if (!packed) shuffle(order, blocks->many);
  for (int i = 0; i < blocks->many; i++) {
    blocks->at[order[i]] = at;
    at += blocks->counts[order[i]] + (packed ? 0 : (int)own(3));
  }
  blocks->span = (size_t)at * element->extent;
}

static void wait_for(Operation* operation) {
  MPI_Status status;
  int done = 0, times = 0;
  if (own(2))
    for (; !done; times++) MPI_Test(&operation->request, &done, &status);
  else
    MPI_Wait(&operation->request, &status);
  witness((uint64_t)times);
  check_operation(operation, &status);
}

/* Several rounds, each with data of its own. */
static void go_rounds(Operation* operation, Fill* fill) {
  for (int round = 0, rounds = 1 + (int)draw(3); round < rounds; round++) {
    if (fill) fill(operation->more, round);
    MPI_Start(&operation->request);
    if (own(4) == 0) linger();
    wait_for(operation);
  }
  MPI_Request_free(&operation->request);
  finish(operation, NULL);
}

void see_through(Operation* operation, Mode mode, Fill* fill) {
  if (mode == persistent)
    go_rounds(operation, fill);
  else if (mode == blocking)
    finish(operation, NULL);
  else
    settle_or_leave(operation);
}
