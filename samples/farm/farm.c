/* A master and its workers: an answer that depends on who was faster, and a proof that nobody forgot.
 *
 * The master folds every result into a running hash in the order in which the results are matched, and sends
 * each worker the hash of that moment with its next task. The order is a matter of timing, so no second run
 * gives the same hash; but whatever was once said must stay true: at the end every worker sends back the
 * digest of all hashes that it was told, and the master compares them with the digests of what it believes to
 * have told. If the master is killed and replaced in between, its replacement must have repeated every single
 * match.
 *
 * Results come by three ways, turn by turn: a Recv from anybody after Iprobe said that one is there, a
 * Waitsome over a posted receive for each worker, and a receive from anybody alone. */
#include <getopt.h>

#include "../common/sample.h"

enum { tag_task = 1, tag_result, tag_stop, tag_digest };

typedef struct {
  uint64_t number, hash; /* the task, and the master's hash at the time */
} Task;

typedef struct {
  uint64_t number, value;
} Answer;

typedef struct {
  int tasks, work;
} Options;

/* What a task asks for: a chain of `work` steps. */
static uint64_t compute(uint64_t number, int work) {
  uint64_t value = number;
  for (int i = 0; i < work; i++) value = hash_mix(value, (uint64_t)i);
  return value;
}

/* ---- the worker ---- */

static void work_for_master(int work) {
  uint64_t digest = 0;
  for (;;) {
    Task task;
    MPI_Status status;
    MPI_Recv(&task, 2, MPI_UINT64_T, 0, MPI_ANY_TAG, MPI_COMM_WORLD, &status);
    digest = hash_mix(digest, task.hash);
    if (status.MPI_TAG == tag_stop) break;
    /* Tasks differ in length, so that the order of the results is no round robin. */
    Answer answer = {task.number,
                     compute(task.number, work / 2 + (int)(hash_mix(7, task.number) % (uint64_t)(work + 1)))};
    MPI_Send(&answer, 2, MPI_UINT64_T, 0, tag_result, MPI_COMM_WORLD);
  }
  MPI_Send(&digest, 1, MPI_UINT64_T, 0, tag_digest, MPI_COMM_WORLD);
}

/* ---- the master ---- */

typedef struct {
  int ranks, tasks, work;
  int next;       /* the next task to give */
  int pending;    /* results still to come */
  uint64_t hash;  /* over (source, number, value) in the order of the matches */
  uint64_t sum;   /* over the values alone: the same for any order */
  uint64_t* told; /* for each worker, the digest of the hashes it was sent */
} Master;

static void tell(Master* master, int worker, int tag, uint64_t number) {
  Task task = {number, master->hash};
  master->told[worker] = hash_mix(master->told[worker], task.hash);
  MPI_Send(&task, 2, MPI_UINT64_T, worker, tag, MPI_COMM_WORLD);
}

static void give_task(Master* master, int worker) {
  if (master->next >= master->tasks) return;
  tell(master, worker, tag_task, (uint64_t)master->next++);
  master->pending++;
}

static void accept(Master* master, int worker, const Answer* answer) {
  master->hash = hash_mix(hash_mix(hash_mix(master->hash, (uint64_t)worker), answer->number), answer->value);
  master->sum += answer->value;
  master->pending--;
  give_task(master, worker);
}

static void take_from_anybody(Master* master) {
  Answer answer;
  MPI_Status status;
  MPI_Recv(&answer, 2, MPI_UINT64_T, MPI_ANY_SOURCE, tag_result, MPI_COMM_WORLD, &status);
  accept(master, status.MPI_SOURCE, &answer);
}

/* Asks again and again; the number of fruitless questions becomes part of the hash. */
static void take_by_probe(Master* master) {
  Answer answer;
  MPI_Status status;
  uint64_t questions = 0;
  for (int there = 0; !there; questions++)
    MPI_Iprobe(MPI_ANY_SOURCE, tag_result, MPI_COMM_WORLD, &there, &status);
  master->hash = hash_mix(master->hash, questions);
  MPI_Recv(&answer, 2, MPI_UINT64_T, status.MPI_SOURCE, tag_result, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
  accept(master, status.MPI_SOURCE, &answer);
}

/* Every worker has exactly one result under way: a receive for each, and what Waitsome finds in one call. */
static void take_by_waitsome(Master* master) {
  int workers = master->ranks - 1, left = 0, count;
  Answer* answers = allocate(sizeof(Answer) * (size_t)workers);
  MPI_Request* requests = allocate(sizeof(MPI_Request) * (size_t)workers);
  int* indices = allocate(sizeof(int) * (size_t)workers);
  for (int i = 0; i < workers; i++)
    MPI_Irecv(&answers[i], 2, MPI_UINT64_T, i + 1, tag_result, MPI_COMM_WORLD, &requests[i]);
  for (left = workers; left > 0; left -= count) {
    MPI_Waitsome(workers, requests, &count, indices, MPI_STATUSES_IGNORE);
    master->hash = hash_mix(master->hash, (uint64_t)count);
    for (int i = 0; i < count; i++) accept(master, indices[i] + 1, &answers[indices[i]]);
  }
  free(answers);
  free(requests);
  free(indices);
}

static void collect_all(Master* master) {
  int workers = master->ranks - 1;
  for (int worker = 1; worker <= workers; worker++) give_task(master, worker);
  for (int turn = 0; master->pending > 0; turn++) {
    if (turn % 8 == 7 && master->pending == workers && master->next + workers <= master->tasks)
      take_by_waitsome(master);
    else if (turn % 2)
      take_by_probe(master);
    else
      take_from_anybody(master);
  }
}

/* Whether every worker was told what the master believes; wrong ones are named. */
static int all_agree(Master* master) {
  int agree = 1;
  for (int worker = 1; worker < master->ranks; worker++) tell(master, worker, tag_stop, 0);
  for (int i = 1; i < master->ranks; i++) {
    uint64_t digest;
    MPI_Status status;
    MPI_Recv(&digest, 1, MPI_UINT64_T, MPI_ANY_SOURCE, tag_digest, MPI_COMM_WORLD, &status);
    if (digest == master->told[status.MPI_SOURCE]) continue;
    printf("farm: MISMATCH, worker %d was told something else than the master holds now\n",
           status.MPI_SOURCE);
    agree = 0;
  }
  return agree;
}

static int sum_is_right(const Master* master) {
  uint64_t sum = 0;
  for (int i = 0; i < master->tasks; i++)
    sum += compute((uint64_t)i,
                   master->work / 2 + (int)(hash_mix(7, (uint64_t)i) % (uint64_t)(master->work + 1)));
  return sum == master->sum;
}

static int lead(int ranks, const Options* options) {
  Master master = {
      ranks, options->tasks, options->work, 0, 0, 1, 0, allocate(sizeof(uint64_t) * (size_t)ranks)};
  collect_all(&master);
  int agree = all_agree(&master), right = sum_is_right(&master);
  printf("farm: %d tasks, sum %016llx\n", master.tasks, (unsigned long long)master.sum);
  if (!right) printf("farm: WRONG, the results do not add up to what they should\n");
  if (agree && right) printf("farm: VERIFIED, what every worker was told is what the master holds\n");
  fprintf(stderr, "farm: the order of this run has the hash %016llx\n", (unsigned long long)master.hash);
  free(master.told);
  return agree && right ? 0 : 1;
}

static Options parse(int argc, char** argv) {
  Options options = {4000, 20000};
  for (int letter; (letter = getopt(argc, argv, "t:w:")) != -1;) {
    if (letter == 't')
      options.tasks = option_number(optarg, 1);
    else if (letter == 'w')
      options.work = option_number(optarg, 0);
    else
      give_up("usage: farm [-t tasks] [-w work per task]");
  }
  return options;
}

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  Options options = parse(argc, argv);
  int rank, ranks, code = 0;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &ranks);
  if (ranks < 2) give_up("farm: needs a master and at least one worker: mpirun -n 2 or more");
  if (rank == 0)
    code = lead(ranks, &options);
  else
    work_for_master(options.work);
  MPI_Bcast(&code, 1, MPI_INT, 0, MPI_COMM_WORLD);
  MPI_Finalize();
  return code;
}
