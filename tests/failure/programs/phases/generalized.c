/* Requests that the program itself completes, among those of messages. */
#include "phases.h"

enum { most = 8 };

/* What is promised is kept when a message has come, or given up. */
typedef struct {
  MPI_Request handle;
  int number, queried, freed, given_up;
} Promise;

static int query(void* extra, MPI_Status* status) {
  Promise* promise = extra;
  promise->queried++;
  status->MPI_SOURCE = promise->number;
  status->MPI_TAG = tag_of(promise->number);
  MPI_Status_set_elements(status, MPI_INT, promise->number + 5);
  MPI_Status_set_cancelled(status, promise->given_up);
  return MPI_SUCCESS;
}

static int release(void* extra) {
  ((Promise*)extra)->freed++;
  return MPI_SUCCESS;
}

static int give_up(void* extra, int complete) {
  ((Promise*)extra)->given_up = !complete;
  return MPI_SUCCESS;
}

static MPI_Request promise(Promise* made, int number) {
  *made = (Promise){.number = number};
  MPI_Grequest_start(query, release, give_up, made, &made->handle);
  return made->handle;
}

static void keep(Promise* promise) {
  MPI_Request handle = promise->handle;
  if (own(4) == 0) MPI_Cancel(&handle);
  MPI_Grequest_complete(handle);
}

static void check_promise(const Promise* promise, const MPI_Status* status) {
  int elements, cancelled;
  CHECK(status->MPI_SOURCE == promise->number && status->MPI_TAG == tag_of(promise->number));
  MPI_Get_elements(status, MPI_INT, &elements);
  MPI_Test_cancelled(status, &cancelled);
  CHECK(elements == promise->number + 5 && cancelled == promise->given_up);
  CHECK(promise->freed == 1 && promise->queried > 0);
}

/* Those that have completed; none when it was in vain. */
static int some_of(MPI_Request* requests, int count, int* indices, MPI_Status* statuses) {
  int done = 0;
  switch (own(4)) {
    case 0:
      MPI_Waitany(count, requests, indices, statuses);
      return 1;
    case 1:
      MPI_Testany(count, requests, indices, &done, statuses);
      return done;
    case 2:
      MPI_Waitsome(count, requests, &done, indices, statuses);
      return done;
    default:
      MPI_Testsome(count, requests, &done, indices, statuses);
      return done;
  }
}

/* A handle that is given up before its promise is kept. */
static void forgotten(void) {
  Promise one;
  MPI_Request request = promise(&one, 0);
  MPI_Request_free(&request);
  CHECK(one.freed == 0 || is_mpich);
  MPI_Grequest_complete(one.handle);
  CHECK(one.freed == 1 && one.queried == 0);
}

/* For each message that comes round the ring a promise is kept. */
void promises(void) {
  const Members* where = draw_members();
  int count = 1 + (int)draw(most), order[most], out[most], in[most], kept = 0, indices[2 * most];
  Promise all[most];
  MPI_Request requests[2 * most], sends[most];
  MPI_Status statuses[2 * most];
  if (where->comm == MPI_COMM_NULL) return;
  int right = (where->me + 1) % where->size, left = (where->me + where->size - 1) % where->size;
  for (int i = 0; i < count; i++) {
    out[i] = (int)value_of(rank, 0, i);
    order[i] = i;
    requests[i] = promise(&all[i], i);
    MPI_Irecv(&in[i], 1, MPI_INT, own(2) ? left : MPI_ANY_SOURCE, tag_of(i), where->comm,
              &requests[count + i]);
  }
  shuffle(order, count);
  for (int i = 0; i < count; i++)
    MPI_Isend(&out[order[i]], 1, MPI_INT, right, tag_of(order[i]), where->comm, &sends[i]);
  shuffle(order, count);
  for (int open = 2 * count, done; open > 0; open -= done) {
    done = some_of(requests, 2 * count, indices, statuses);
    witness((uint64_t)done);
    for (int i = 0; i < done; i++) {
      int index = indices[i];
      witness((uint64_t)index);
      if (index < count) {
        check_promise(&all[index], &statuses[i]);
      } else {
        CHECK(in[index - count] == (int)value_of(where->world[left], 0, index - count));
        keep(&all[order[kept++]]);
      }
    }
  }
  MPI_Waitall(count, sends, MPI_STATUSES_IGNORE);
  if (own(3) == 0) forgotten();
  if (phase.certain) count_in(mix(phase.base, (uint64_t)count));
}
