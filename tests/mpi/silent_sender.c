/* A rank that has sent, and then does not call MPI until it hears of its receivers by another way, keeps none
 * of them waiting: its first messages come, more of them than are under way at a time, and what it has given
 * to a collective. */
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "check.h"

enum { count = 150, bytes = 1000, rounds = 3, name_bytes = 64 };

/* Outside of MPI until somebody has removed the file. */
static void wait_for_removal(const char* name) {
  while (access(name, F_OK) == 0) usleep(1000);
}

static void send_and_be_silent(int receiver, int round) {
  char name[name_bytes] = "/tmp/silent_sender_XXXXXX";
  unsigned char message[bytes];
  const int file = mkstemp(name);
  CHECK(file >= 0);
  close(file);
  OK(MPI_Send(name, name_bytes, MPI_CHAR, receiver, round, MPI_COMM_WORLD));
  for (int i = 0; i < count; i++) {
    for (int j = 0; j < bytes; j++) message[j] = (unsigned char)(i + j + round);
    OK(MPI_Send(message, bytes, MPI_BYTE, receiver, round, MPI_COMM_WORLD));
  }
  wait_for_removal(name);
}

static void receive_and_say_so(int round) {
  char name[name_bytes];
  unsigned char message[bytes];
  OK(MPI_Recv(name, name_bytes, MPI_CHAR, 0, round, MPI_COMM_WORLD, MPI_STATUS_IGNORE));
  for (int i = 0; i < count; i++) {
    OK(MPI_Recv(message, bytes, MPI_BYTE, 0, round, MPI_COMM_WORLD, MPI_STATUS_IGNORE));
    for (int j = 0; j < bytes; j++) CHECK_EQ(message[j], (unsigned char)(i + j + round));
  }
  CHECK_EQ(unlink(name), 0);
}

/* The root of a broadcast has done its part when the others have not even begun. */
static void broadcast(int round) {
  char name[name_bytes] = "/tmp/silent_sender_XXXXXX";
  if (rank == 0) {
    const int file = mkstemp(name);
    CHECK(file >= 0);
    close(file);
  }
  OK(MPI_Bcast(name, name_bytes, MPI_CHAR, 0, MPI_COMM_WORLD));
  if (rank == 0) wait_for_removal(name);
  if (rank == ranks - 1) CHECK_EQ(unlink(name), 0);
  int sum = 0;
  OK(MPI_Allreduce(&round, &sum, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD));
  CHECK_EQ(sum, ranks * round);
}

int main(int argc, char** argv) {
  begin("silent_sender", &argc, &argv);
  for (int round = 0; round < rounds && ranks > 1; round++) {
    if (rank == 0) send_and_be_silent(ranks - 1, round);
    if (rank == ranks - 1) receive_and_say_so(round);
    broadcast(round);
  }
  return finish();
}
