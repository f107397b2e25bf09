/* What is under way, and how it is completed. */
#include "phases.h"

enum { most_under_way = 96 };
static Operation* under_way[most_under_way];
static int under_way_count;

Operation* new_operation(void) {
  Operation* operation = allocate(sizeof *operation);
  witness((uint64_t)(uintptr_t)operation); /* where memory is may decide what a program does */
  operation->request = MPI_REQUEST_NULL;
  operation->layout = plain_layout(0, 0);
  operation->number = phase.number;
  operation->name = "message";
  return operation;
}

void check_operation(Operation* operation, const MPI_Status* status) {
  if (operation->receives) {
    int elements;
    if (status->MPI_SOURCE != operation->source || status->MPI_TAG != operation->tag)
      fprintf(stderr, "rank %d in phase %d: a message of phase %d has source %d, tag %d, not %d, %d\n", rank,
              phase.number, operation->number, status->MPI_SOURCE, status->MPI_TAG, operation->source,
              operation->tag);
    CHECK(status->MPI_SOURCE == operation->source);
    CHECK(status->MPI_TAG == operation->tag);
    MPI_Get_elements(status, operation->layout.type, &elements);
    CHECK((size_t)elements == operation->elements);
  }
  if (operation->image && memcmp(operation->memory, operation->image, operation->span) != 0) {
    size_t i = 0;
    while (operation->memory[i] == operation->image[i]) i++;
    fprintf(stderr,
            "rank %d in phase %d: byte %zu of %zu of a %s of phase %d (tag %d, rank %d) is %d, not %d\n",
            rank, phase.number, i, operation->span, operation->name, operation->number, operation->tag,
            operation->source, operation->memory[i], operation->image[i]);
    CHECK(!"what was received is what was sent");
  }
}

void finish(Operation* operation, const MPI_Status* status) {
  check_operation(operation, status);
  count_in(operation->counts);
  free_layout(&operation->layout);
  free(operation->memory);
  free(operation->image);
  free(operation->more);
  free(operation);
}

/* Not for ever without a pause: others want to come on. */
static void in_vain(int* times) {
  if (++*times % 16 == 0) usleep(20);
}

static void wait_for_each(Operation** operations, int count) {
  int order[most_under_way];
  MPI_Status status;
  for (int i = 0; i < count; i++) order[i] = i;
  shuffle(order, count);
  for (int i = 0; i < count; i++) {
    int done = 0, times = 0;
    Operation* operation = operations[order[i]];
    switch (own(3)) {
      case 0:
        MPI_Wait(&operation->request, &status);
        break;
      case 1:
        for (; !done; in_vain(&times)) MPI_Test(&operation->request, &done, &status);
        break;
      default:
        for (; !done; in_vain(&times)) MPI_Request_get_status(operation->request, &done, MPI_STATUS_IGNORE);
        MPI_Wait(&operation->request, &status);
    }
    witness((uint64_t)times);
    finish(operation, &status);
  }
}

static void wait_for_all(Operation** operations, int count, MPI_Request* requests) {
  MPI_Status statuses[most_under_way];
  int done = 0, times = 0;
  if (own(2))
    MPI_Waitall(count, requests, statuses);
  else
    for (; !done; in_vain(&times)) MPI_Testall(count, requests, &done, statuses);
  witness((uint64_t)times);
  for (int i = 0; i < count; i++) finish(operations[i], &statuses[i]);
}

static void wait_for_any(Operation** operations, int count, MPI_Request* requests) {
  MPI_Status status;
  int index, times = 0, testing = (int)own(2);
  for (int i = 0; i < count; i++) {
    int done = !testing;
    if (!testing) MPI_Waitany(count, requests, &index, &status);
    for (; !done; in_vain(&times)) MPI_Testany(count, requests, &index, &done, &status);
    CHECK(index >= 0 && index < count);
    witness((uint64_t)(index + times * most_under_way));
    finish(operations[index], &status);
  }
}

static void wait_for_some(Operation** operations, int count, MPI_Request* requests) {
  MPI_Status statuses[most_under_way];
  int indices[most_under_way], done, times = 0, testing = (int)own(2);
  for (int left = count; left > 0; left -= done) {
    if (testing)
      MPI_Testsome(count, requests, &done, indices, statuses);
    else
      MPI_Waitsome(count, requests, &done, indices, statuses);
    CHECK(done >= 0);
    if (done == 0) in_vain(&times);
    for (int i = 0; i < done; i++) {
      witness((uint64_t)(indices[i] + times * most_under_way));
      finish(operations[indices[i]], &statuses[i]);
    }
  }
}

void settle(Operation** operations, int count) {
  MPI_Request requests[most_under_way];
  CHECK(count <= most_under_way);
  uint64_t way = own(4);
  if (way == 0) return wait_for_each(operations, count);
  for (int i = 0; i < count; i++) requests[i] = operations[i]->request;
  if (way == 1) return wait_for_all(operations, count, requests);
  if (way == 2) return wait_for_any(operations, count, requests);
  wait_for_some(operations, count, requests);
}

void leave(Operation* operation) {
  CHECK(under_way_count < most_under_way);
  under_way[under_way_count++] = operation;
}

void settle_or_leave(Operation* operation) {
  if (under_way_count < most_under_way && own(2))
    leave(operation);
  else
    settle(&operation, 1);
}

void settle_all(void) {
  settle(under_way, under_way_count);
  under_way_count = 0;
}

void room_for(int operations) {
  if (under_way_count + operations > most_under_way) settle_all();
}
