/* Each rank in turn leads through everything that the library does in steps: matches, probes, completions, a
 * cancellation, clocks and random numbers, messages of all kinds, collectives, a new communicator, files,
 * names. What nobody could have foretold is told to the others at once, so that a replacement that repeats it
 * differently is found out. */
#define _GNU_SOURCE
#include <fcntl.h>
#include <sys/random.h>
#include <sys/stat.h>
#include <unistd.h>

#include "program.h"

enum { large = 140000, each = 3, ranks_most = 8, lines_most = 50 };
static unsigned char out[large], in[large];

static uint64_t take_from_anybody(int leader, int probing) {
  uint64_t hash = 0, got;
  MPI_Status status;
  if (rank != leader) {
    uint64_t message = (uint64_t)rank;
    MPI_Send(&message, 1, MPI_UINT64_T, leader, 1 + probing, MPI_COMM_WORLD);
    return 0;
  }
  for (int i = 1; i < ranks; i++) {
    int source = MPI_ANY_SOURCE;
    if (probing) {
      MPI_Probe(MPI_ANY_SOURCE, 1 + probing, MPI_COMM_WORLD, &status);
      source = status.MPI_SOURCE;
    }
    MPI_Recv(&got, 1, MPI_UINT64_T, source, 1 + probing, MPI_COMM_WORLD, &status);
    CHECK(got == (uint64_t)status.MPI_SOURCE);
    hash = mix(hash, got);
  }
  return hash;
}

static uint64_t complete_some(int leader) {
  uint64_t hash = 0, got[ranks_most * each];
  MPI_Request requests[ranks_most * each];
  int count = 0, flag = 1, done, indices[ranks_most * each];
  if (rank == leader) {
    for (int peer = 0; peer < ranks; peer++)
      for (int i = 0; peer != leader && i < each; i++, count++)
        MPI_Irecv(&got[count], 1, MPI_UINT64_T, peer, 10 + i, MPI_COMM_WORLD, &requests[count]);
    MPI_Test(&requests[0], &flag, MPI_STATUS_IGNORE); /* nobody has sent it */
    CHECK(!flag);
  }
  MPI_Barrier(MPI_COMM_WORLD);
  for (int i = 0; rank != leader && i < each; i++) {
    uint64_t message = (uint64_t)(rank * each + i);
    MPI_Send(&message, 1, MPI_UINT64_T, leader, 10 + i, MPI_COMM_WORLD);
  }
  MPI_Barrier(MPI_COMM_WORLD);
  for (int left = count; left > 0; left -= done) {
    MPI_Waitsome(count, requests, &done, indices, MPI_STATUSES_IGNORE);
    for (int i = 0; i < done; i++) hash = mix(hash, (uint64_t)indices[i]);
  }
  for (int i = 0; i < count; i++) {
    int peer = i / each < leader ? i / each : i / each + 1;
    CHECK(got[i] == (uint64_t)(peer * each + i % each));
  }
  return hash;
}

static void give_up(int leader) {
  MPI_Request request;
  MPI_Status status;
  int nothing, cancelled;
  if (rank != leader) return;
  MPI_Irecv(&nothing, 1, MPI_INT, MPI_ANY_SOURCE, 99, MPI_COMM_WORLD, &request);
  MPI_Cancel(&request);
  MPI_Wait(&request, &status);
  MPI_Test_cancelled(&status, &cancelled);
  CHECK(cancelled);
}

static uint64_t chance(int leader) {
  uint64_t random[5] = {0};
  if (rank != leader) return 0;
  CHECK(getrandom(random, sizeof random, 0) == sizeof random);
  return mix(mix(random[0], random[4]), (uint64_t)(MPI_Wtime() * 1e6));
}

static void pass_on(int round) {
  int right = (rank + 1) % ranks, left = (rank + ranks - 1) % ranks;
  memset(out, rank + round, large);
  MPI_Sendrecv(out, large, MPI_BYTE, right, 20, in, large, MPI_BYTE, left, 20, MPI_COMM_WORLD,
               MPI_STATUS_IGNORE);
  CHECK(in[0] == (unsigned char)(left + round) && memcmp(in, in + 1, large - 1) == 0);
  /* The same but for two bytes. */
  out[0]++;
  out[large - 1] += 2;
  MPI_Sendrecv(out, large, MPI_BYTE, right, 20, in, large, MPI_BYTE, left, 20, MPI_COMM_WORLD,
               MPI_STATUS_IGNORE);
  CHECK(in[0] == (unsigned char)(left + round + 1) && in[large - 1] == (unsigned char)(left + round + 2));
  CHECK(in[1] == (unsigned char)(left + round) && memcmp(in + 1, in + 2, large - 3) == 0);
  memset(out, rank + round, large);
  /* Every other byte. */
  MPI_Datatype others;
  MPI_Type_vector(large / 2, 1, 2, MPI_BYTE, &others);
  MPI_Type_commit(&others);
  memset(in, 0, large);
  MPI_Sendrecv(out, 1, others, right, 22, in, 1, others, left, 22, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
  for (int i = 0; i < large; i++) CHECK(in[i] == (i % 2 ? 0 : (unsigned char)(left + round)));
  MPI_Type_free(&others);
  MPI_Request request;
  MPI_Issend(out, 100, MPI_BYTE, right, 21, MPI_COMM_WORLD, &request);
  MPI_Recv(in, 100, MPI_BYTE, left, 21, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
  MPI_Wait(&request, MPI_STATUS_IGNORE);
}

/* From rank to rank, of a size that is announced while it is copied into the log: three times, the second
 * time what the log has already, the third time almost. */
static void hand_down(int round) {
  enum { huge = (2 << 20) + 100, other = huge / 2 + 13 };
  static unsigned char bytes[huge];
  for (int time = 0; time < 3; time++) {
    if (rank == 0 && time == 0) memset(bytes, round + 1, huge);
    if (rank == 0 && time == 2) bytes[other] = 0;
    if (rank > 0) MPI_Recv(bytes, huge, MPI_BYTE, rank - 1, 22, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    CHECK(bytes[other] == (time == 2 ? 0 : round + 1));
    CHECK(bytes[0] == round + 1 && memcmp(bytes, bytes + 1, other - 1) == 0);
    CHECK(bytes[huge - 1] == round + 1 &&
          memcmp(bytes + other + 1, bytes + other + 2, huge - other - 2) == 0);
    if (rank + 1 < ranks) MPI_Send(bytes, huge, MPI_BYTE, rank + 1, 22, MPI_COMM_WORLD);
  }
  /* What the next one has may not follow what becomes of it here. */
  memset(bytes, 0, huge);
}

static uint64_t together(int leader, int round) {
  uint64_t mine = (uint64_t)(rank + round), sum = 0;
  MPI_Comm copy;
  MPI_Comm_dup(MPI_COMM_WORLD, &copy);
  MPI_Allreduce(&mine, &sum, 1, MPI_UINT64_T, MPI_SUM, copy);
  memset(in, rank == leader ? leader + 7 : 0, large);
  MPI_Bcast(in, large, MPI_BYTE, leader, copy);
  CHECK(in[0] == leader + 7 && memcmp(in, in + 1, large - 1) == 0);
  MPI_Comm_free(&copy);
  return sum;
}

/* A file that each round makes anew and removes: pointers, one of them shared, sizes, data read back that are
 * written over afterwards. */
static uint64_t on_file(const char* path, int leader, int round) {
  MPI_File file;
  MPI_Offset at, size;
  MPI_Datatype pairs;
  uint64_t values[4], got[4];
  CHECK(MPI_File_open(MPI_COMM_WORLD, path, MPI_MODE_CREATE | MPI_MODE_EXCL | MPI_MODE_RDWR, MPI_INFO_NULL,
                      &file) == MPI_SUCCESS);
  for (int i = 0; i < 4; i++) values[i] = (uint64_t)(rank + round + i);
  MPI_Type_vector(2, 2, 2 * ranks, MPI_UINT64_T, &pairs);
  MPI_Type_commit(&pairs);
  MPI_File_set_view(file, rank * 16, MPI_UINT64_T, pairs, "native", MPI_INFO_NULL);
  CHECK(MPI_File_write_all(file, values, 4, MPI_UINT64_T, MPI_STATUS_IGNORE) == MPI_SUCCESS);
  CHECK(MPI_File_read_at(file, 0, got, 4, MPI_UINT64_T, MPI_STATUS_IGNORE) == MPI_SUCCESS);
  CHECK(memcmp(values, got, sizeof got) == 0);
  MPI_Barrier(MPI_COMM_WORLD);
  /* Over it, by the next rank. */
  MPI_File_set_view(file, (rank + 1) % ranks * 16, MPI_UINT64_T, pairs, "native", MPI_INFO_NULL);
  for (int i = 0; i < 4; i++) values[i] += 100;
  CHECK(MPI_File_write(file, values, 4, MPI_UINT64_T, MPI_STATUS_IGNORE) == MPI_SUCCESS);
  MPI_Barrier(MPI_COMM_WORLD);
  CHECK(MPI_File_set_size(file, 32 * ranks) == MPI_SUCCESS);
  MPI_File_set_view(file, 32 * ranks, MPI_UINT64_T, MPI_UINT64_T, "native", MPI_INFO_NULL);
  for (int i = 0; i < 3; i++) {
    uint64_t mark = (uint64_t)(rank * 3 + i + 1);
    CHECK(MPI_File_write_shared(file, &mark, 1, MPI_UINT64_T, MPI_STATUS_IGNORE) == MPI_SUCCESS);
  }
  MPI_Barrier(MPI_COMM_WORLD);
  MPI_File_get_position_shared(file, &at);
  CHECK(at == 3 * ranks);
  CHECK(MPI_File_get_size(file, &size) == MPI_SUCCESS && size == 32 * ranks + 24 * ranks);
  /* All marks are there, each once; all that was written over, too. */
  uint64_t all[7 * ranks_most], sum = 0;
  MPI_File_set_view(file, 0, MPI_UINT64_T, MPI_UINT64_T, "native", MPI_INFO_NULL);
  CHECK(MPI_File_read_at(file, 0, all, 7 * ranks, MPI_UINT64_T, MPI_STATUS_IGNORE) == MPI_SUCCESS);
  for (int i = 4 * ranks; i < 7 * ranks; i++) sum += all[i];
  CHECK(sum == (uint64_t)(3 * ranks * (3 * ranks + 1) / 2));
  for (int half = 0; half < 2; half++)
    for (int owner = 0; owner < ranks; owner++)
      for (int i = 0; i < 2; i++)
        CHECK(all[half * 2 * ranks + owner * 2 + i] ==
              (uint64_t)((owner + ranks - 1) % ranks + round + half * 2 + i + 100));
  MPI_Type_free(&pairs);
  CHECK(MPI_File_close(&file) == MPI_SUCCESS);
  if (rank == leader) CHECK(MPI_File_delete(path, MPI_INFO_NULL) == MPI_SUCCESS);
  MPI_Barrier(MPI_COMM_WORLD);
  return all[5 * ranks]; /* whose mark came when: nobody could have foretold it */
}

/* A file of each rank's own, to which it appends a line in each of the first rounds. */
static void append_line(const char* path, int round) {
  char line[32];
  int length = snprintf(line, sizeof line, "%d of %d\n", round, rank);
  int file = open(path, O_WRONLY | O_APPEND | O_CREAT | (round == 0 ? O_EXCL : 0), 0600);
  CHECK(file >= 0 && write(file, line, (size_t)length) == length && close(file) == 0);
}

/* Names that each rank makes, moves and removes; at the end of a round they are gone. */
static void change_names(const char* lines) {
  char folder[320], here[340], there[340];
  snprintf(folder, sizeof folder, "%s-folder", lines);
  snprintf(here, sizeof here, "%s/here", folder);
  snprintf(there, sizeof there, "%s/there", folder);
  CHECK(mkdir(folder, 0700) == 0 && mkdir(folder, 0700) == -1);
  CHECK(symlink("nowhere", here) == 0 && rename(here, there) == 0);
  CHECK(access(here, F_OK) == -1 && rmdir(folder) == -1);
  CHECK(unlink(there) == 0 && rmdir(folder) == 0);
}

/* By MPI, because a replacement comes here, too, when the file is there no more. */
static void check_lines(const char* path) {
  char expected[4096] = "", found[4096] = "";
  for (int round = 0; round < steps && round < lines_most; round++)
    snprintf(expected + strlen(expected), 32, "%d of %d\n", round, rank);
  MPI_File file;
  CHECK(MPI_File_open(MPI_COMM_SELF, path, MPI_MODE_RDONLY, MPI_INFO_NULL, &file) == MPI_SUCCESS);
  CHECK(MPI_File_read_at(file, 0, found, sizeof found - 1, MPI_CHAR, MPI_STATUS_IGNORE) == MPI_SUCCESS);
  CHECK(strcmp(found, expected) == 0);
  CHECK(MPI_File_close(&file) == MPI_SUCCESS && MPI_File_delete(path, MPI_INFO_NULL) == MPI_SUCCESS);
}

int main(int argc, char** argv) {
  begin(argc, argv);
  CHECK(ranks <= ranks_most);
  Chain chain = {1, 1, 0};
  uint64_t answer = 1;
  char path[256], lines[300];
  const char* folder = getenv("TMPDIR");
  snprintf(path, sizeof path, "%s/llamada-every-step-%d", folder ? folder : "/tmp", (int)getpid());
  MPI_Bcast(path, sizeof path, MPI_CHAR, 0, MPI_COMM_WORLD);
  snprintf(lines, sizeof lines, "%s-lines-%d", path, rank);
  for (int step = 0; step < steps; step++) {
    int leader = step % ranks;
    uint64_t outcome = take_from_anybody(leader, 0);
    outcome = mix(outcome, take_from_anybody(leader, 1));
    outcome = mix(outcome, complete_some(leader));
    outcome = mix(outcome, chance(leader));
    give_up(leader);
    pass_on(step);
    if (step < 12 && step % 4 == 0) hand_down(step);
    if (step < lines_most) append_line(lines, step);
    change_names(lines);
    const uint64_t seen = on_file(path, leader, step);
    if (rank == leader) outcome = mix(outcome, seen);
    chain.leader = leader;
    chain_tell(&chain, outcome);
    answer = mix(answer, together(leader, step));
    pause_step();
  }
  check_lines(lines);
  for (chain.leader = 0; chain.leader < ranks; chain.leader++) chain_check(&chain);
  if (rank == 0) printf("every_step %016llx\n", (unsigned long long)answer);
  return finish("every_step");
}
