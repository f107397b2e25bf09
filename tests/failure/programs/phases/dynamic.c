/* Who does what follows from who is first. */
#include "phases.h"

enum { tasks_most = 60, stop = -1, ask_tag = 0, task_tag = 1 };

typedef struct {
  int task; /* what the result is of; stop: none yet */
  uint64_t result;
} Report;

static uint64_t solve(int task) { return mix(value_of(task, 0, 5), 3); }

static void work(const Members* where, int leader) {
  Report report = {stop, 0};
  int task;
  for (;;) {
    MPI_Sendrecv(&report, sizeof report, MPI_BYTE, leader, tag_of(ask_tag), &task, 1, MPI_INT, leader,
                 tag_of(task_tag), where->comm, MPI_STATUS_IGNORE);
    if (task == stop) return;
    if (own(8) == 0) linger();
    report.task = task;
    report.result = solve(task);
  }
}

static void hand_out(const Members* where, int tasks) {
  int next = 0, seen[tasks_most] = {0};
  for (int working = where->size - 1; working > 0;) {
    Report report;
    MPI_Status status;
    MPI_Recv(&report, sizeof report, MPI_BYTE, MPI_ANY_SOURCE, tag_of(ask_tag), where->comm, &status);
    witness((uint64_t)status.MPI_SOURCE);
    if (report.task != stop) {
      CHECK(!seen[report.task] && report.result == solve(report.task));
      seen[report.task] = 1;
    }
    int task = next < tasks ? next++ : stop;
    if (task == stop) working--;
    MPI_Send(&task, 1, MPI_INT, status.MPI_SOURCE, tag_of(task_tag), where->comm);
  }
  for (int i = 0; i < tasks; i++) CHECK(seen[i]);
}

/* One hands out tasks to whoever asks. */
void farm(void) {
  const Members* where = draw_members();
  int tasks = (int)draw(tasks_most);
  if (where->comm == MPI_COMM_NULL || where->size < 2) return;
  int leader = (int)draw((uint64_t)where->size);
  if (where->me == leader)
    hand_out(where, tasks);
  else
    work(where, leader);
}

/* -- nobody knows how many messages come: a barrier that does not block tells when all have come -- */

static int sends_to(const Members* where, int from, int to) {
  return value_of(where->world[from], where->world[to], 1) % 3 == 0;
}

static int look_for_one(const Members* where, int* seen) {
  MPI_Status status;
  int there;
  uint64_t got;
  MPI_Iprobe(MPI_ANY_SOURCE, tag_of(0), where->comm, &there, &status);
  if (!there) return 0;
  MPI_Recv(&got, 1, MPI_UINT64_T, status.MPI_SOURCE, tag_of(0), where->comm, &status);
  int from = status.MPI_SOURCE;
  CHECK(sends_to(where, from, where->me) && !seen[from]);
  CHECK(got == value_of(where->world[from], rank, 2));
  witness((uint64_t)from);
  return seen[from] = 1;
}

void sparse_exchange(void) {
  const Members* where = draw_members();
  MPI_Request sends[ranks_most], all_there = MPI_REQUEST_NULL;
  uint64_t out[ranks_most];
  int posted = 0, seen[ranks_most] = {0}, done = 0, sent = 0;
  if (where->comm == MPI_COMM_NULL) return;
  for (int to = 0; to < where->size; to++) {
    if (!sends_to(where, where->me, to)) continue;
    out[to] = value_of(rank, where->world[to], 2);
    MPI_Issend(&out[to], 1, MPI_UINT64_T, to, tag_of(0), where->comm, &sends[posted++]);
  }
  uint64_t times = 0;
  for (; !done; times++) {
    look_for_one(where, seen);
    if (!sent) {
      MPI_Testall(posted, sends, &sent, MPI_STATUSES_IGNORE);
      if (sent) MPI_Ibarrier(where->comm, &all_there);
    } else {
      MPI_Test(&all_there, &done, MPI_STATUS_IGNORE);
    }
    if (times % 16 == 15) usleep(20);
  }
  witness(times);
  for (int from = 0; from < where->size; from++) CHECK(seen[from] == sends_to(where, from, where->me));
}

/* -- many receives from anybody at once: each sender's messages in the order of the receives -- */

void many_from_anybody(void) {
  enum { each_most = 8 };
  typedef struct {
    int from, index;
  } Note;
  const Members* where = draw_members();
  int each = 1 + (int)draw(each_most);
  if (where->comm == MPI_COMM_NULL) return;
  int leader = (int)draw((uint64_t)where->size), many = each * (where->size - 1), seen[ranks_most] = {0};
  Note notes[each_most * ranks_most];
  MPI_Request requests[each_most * ranks_most];
  if (where->me != leader) {
    for (int i = 0; i < each; i++) {
      Note note = {where->me, i};
      if (own(8) == 0) linger();
      MPI_Send(&note, 2, MPI_INT, leader, tag_of(0), where->comm);
    }
    return;
  }
  for (int i = 0; i < many; i++)
    MPI_Irecv(&notes[i], 2, MPI_INT, MPI_ANY_SOURCE, tag_of(0), where->comm, &requests[i]);
  for (int left = many, done; left > 0; left -= done) {
    int indices[each_most * ranks_most];
    MPI_Status statuses[each_most * ranks_most];
    MPI_Waitsome(many, requests, &done, indices, statuses);
    for (int i = 0; i < done; i++) {
      CHECK(notes[indices[i]].from == statuses[i].MPI_SOURCE);
      witness((uint64_t)indices[i]);
    }
  }
  for (int i = 0; i < many; i++) {
    CHECK(notes[i].index == seen[notes[i].from]++);
    witness((uint64_t)notes[i].from);
  }
}
