// What a program has printed is seen when MPI_Abort or a fatal error ends it (last_output.sh). Each mode
// prints one line "last words" that its stream still holds. Not of MPI: that a stream's lock is held, by
// another thread or in a signal handler.
#include <mpi.h>
#include <pthread.h>
#include <signal.h>
#include <unistd.h>

#include <cstdio>
#include <cstring>
#include <iostream>
#include <stdexcept>

static const char* file_name;

static void abort_now(int) { MPI_Abort(MPI_COMM_WORLD, 3); }

static void* read_for_ever(void*) {
  int ends[2];
  if (pipe(ends) != 0) return nullptr;
  FILE* stream = fdopen(ends[0], "r");
  fgetc(stream);
  return nullptr;
}

static void* hold_stdout(void*) {
  flockfile(stdout);
  for (;;) pause();
}

static void start(void* (*function)(void*)) {
  pthread_t thread;
  pthread_create(&thread, nullptr, function, nullptr);
  usleep(200000);
}

// A stream buffer whose write aborts again, and one that throws.
struct AbortingBuffer : std::streambuf {
  int sync() override {
    MPI_Abort(MPI_COMM_WORLD, 4);
    return -1;
  }
};
struct ThrowingBuffer : std::streambuf {
  int sync() override { throw std::runtime_error("no more"); }
};

static void end(const char* how) {
  static AbortingBuffer aborting;
  static ThrowingBuffer throwing;
  if (std::strcmp(how, "cout") == 0) {
    std::cout << "last words\n";
  } else if (std::strcmp(how, "wcout") == 0) {
    std::wcout << L"last words\n";
  } else if (std::strcmp(how, "file") == 0) {
    std::fputs("last words\n", std::fopen(file_name, "w"));
  } else if (std::strcmp(how, "print-and-cout") == 0) {
    std::cout << "words\n";
    std::printf("last ");
  } else {
    std::printf("last words\n");
  }
  if (std::strcmp(how, "fatal") == 0) MPI_Send(nullptr, 0, MPI_INT, 99, 0, MPI_COMM_WORLD);
  if (std::strcmp(how, "own-lock") == 0) flockfile(stdout);
  if (std::strcmp(how, "reader") == 0) start(read_for_ever);
  if (std::strcmp(how, "held") == 0) start(hold_stdout);
  if (std::strcmp(how, "handler") == 0) {
    signal(SIGUSR1, abort_now);
    raise(SIGUSR1);
  }
  if (std::strcmp(how, "again") == 0) std::cout.rdbuf(&aborting);
  if (std::strcmp(how, "throws") == 0) {
    std::cout.exceptions(std::ios::badbit);
    std::cout.rdbuf(&throwing);
  }
  if (std::strcmp(how, "finalized") == 0) {
    MPI_Finalize();
    MPI_Barrier(MPI_COMM_WORLD);
  }
  MPI_Abort(MPI_COMM_WORLD, 3);
}

int main(int argc, char** argv) {
  const char* how = argv[1];
  file_name = argc > 2 ? argv[2] : "";
  std::ios::sync_with_stdio(false);
  if (std::strcmp(how, "before") == 0) {
    std::printf("last words\n");
    MPI_Barrier(MPI_COMM_WORLD);
  }
  int rank, ranks;
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &ranks);
  if (rank == ranks - 1) end(how);
  if (std::strcmp(how, "finalized") != 0) MPI_Barrier(MPI_COMM_WORLD);
  MPI_Finalize();
  return 0;
}
