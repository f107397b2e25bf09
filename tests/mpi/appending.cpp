// Ranks append to files in every way that libc and C++ have: each to its own, all to one at once, and in
// turn. At the end each piece is in its file once, in the order of its rank. Run as it is, and with ranks
// killed.
#include <fcntl.h>
#include <mpi.h>
#include <sys/stat.h>
#include <sys/uio.h>
#include <unistd.h>

#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <fstream>
#include <functional>
#include <sstream>
#include <string>
#include <vector>

namespace {

constexpr int rounds = 8;
int rank = 0, ranks = 0;
std::string folder;

void check(bool is_true, const std::string& what) {
  if (is_true) return;
  std::fprintf(stderr, "appending: rank %d: not so: %s\n", rank, what.c_str());
  MPI_Abort(MPI_COMM_WORLD, 99);
}

std::string own(const std::string& name) { return folder + "/" + name + "-" + std::to_string(rank); }
std::string common(const std::string& name) { return folder + "/" + name; }

// Of different lengths, one longer than the buffers of streams.
std::string line(int round) {
  std::string text = "round " + std::to_string(round) + " of rank " + std::to_string(rank) + " ";
  text.append(round == 3 ? 20000 : static_cast<std::size_t>(round), 'x');
  return text + "\n";
}

void write_all(int descriptor, const std::string& text) {
  check(write(descriptor, text.data(), text.size()) == static_cast<ssize_t>(text.size()), "write");
}

void by_descriptor(int round) {
  static int kept = -1;
  if (round == 0) kept = open(own("kept").c_str(), O_WRONLY | O_CREAT | O_EXCL | O_APPEND, 0600);
  check(kept >= 0, "a new file");
  const std::string text = line(round);
  const std::string first = text.substr(0, text.size() / 2), second = text.substr(text.size() / 2);
  const iovec pieces[2] = {{const_cast<char*>(first.data()), first.size()},
                           {const_cast<char*>(second.data()), second.size()}};
  check(writev(kept, pieces, 2) == static_cast<ssize_t>(text.size()), "writev");
  check(lseek(kept, 0, SEEK_CUR) == lseek(kept, 0, SEEK_END), "the offset is behind what was appended");
  if (round == rounds - 1) check(close(kept) == 0, "close");

  const int again = openat(AT_FDCWD, own("again").c_str(), O_RDWR | O_CREAT | O_APPEND, 0600);
  const int copy = fcntl(again, F_DUPFD_CLOEXEC, 0);
  check(again >= 0 && copy >= 0 && close(again) == 0, "a copy");
  write_all(copy, text);
  check(close(copy) == 0, "close");

  // Emptied by the first round alone.
  const int emptied =
      open(own("emptied").c_str(), O_WRONLY | O_CREAT | O_APPEND | (round ? 0 : O_TRUNC), 0600);
  write_all(emptied, text);
  check(close(emptied) == 0, "close");

  // Appending from now on.
  const int later = open(own("later").c_str(), O_WRONLY | O_CREAT, 0600);
  check(fcntl(later, F_SETFL, O_APPEND) == 0, "F_SETFL");
  write_all(later, text);
  check(close(later) == 0, "close");

  // Made once.
  static int made = -1;
  if (round == 0) made = open(own("made").c_str(), O_WRONLY | O_CREAT | O_EXCL, 0600);
  check(made >= 0, "a new file");
  write_all(made, text);
  if (round == rounds - 1) check(close(made) == 0, "close");

  // Without O_APPEND.
  const int sought = open(own("sought").c_str(), O_WRONLY | O_CREAT, 0600);
  check(lseek(sought, 0, SEEK_END) >= 0, "lseek");
  write_all(sought, text);
  check(close(sought) == 0, "close");
}

void by_stream(int round) {
  static FILE* kept = nullptr;
  if (round == 0) kept = std::fopen(own("stream").c_str(), "a");
  check(kept && std::fputs(line(round).c_str(), kept) >= 0, "fputs");
  if (round % 3 == 2) check(std::fflush(kept) == 0, "fflush");
  if (round == rounds - 1) check(std::fclose(kept) == 0, "fclose");

  // A heading for a new file.
  FILE* file = std::fopen(own("headed").c_str(), "a+");
  check(file && fileno(file) >= 0 && std::fseek(file, 0, SEEK_END) == 0, "fseek");
  if (std::ftell(file) == 0) std::fputs("heading\n", file);
  check(std::fputs(line(round).c_str(), file) >= 0 && std::fclose(file) == 0, "fclose");

  const int descriptor = open(own("given").c_str(), O_WRONLY | O_CREAT, 0600);
  file = fdopen(descriptor, "a");
  check(file && std::fputs(line(round).c_str(), file) >= 0 && std::fclose(file) == 0, "fdopen");

  std::ofstream(own("cxx"), std::ios::app) << line(round);
  std::fstream both(own("ate"), round ? std::ios::in | std::ios::out | std::ios::ate : std::ios::out);
  both << line(round);
}

void together(int round) {
  static std::ofstream kept;
  if (round == 0) kept.open(common("all"), std::ios::app);
  kept << line(round) << std::flush;
  check(kept.good(), "ofstream");
}

void in_turn(int round) {
  for (int turn = 0; turn < ranks; ++turn) {
    if (turn == rank) std::ofstream(common("turns"), std::ios::app) << line(round);
    MPI_Barrier(MPI_COMM_WORLD);
  }
}

std::string content(const std::string& path) {
  std::stringstream text;
  text << std::ifstream(path).rdbuf();
  return text.str();
}

void check_own(const std::string& name, const std::string& expected) {
  const std::string found = content(own(name));
  check(found == expected,
        name + ": " + std::to_string(found.size()) + " bytes, not " + std::to_string(expected.size()));
  check(unlink(own(name).c_str()) == 0, "unlink");
}

// The lines of each rank, in their order; `all` has those of other ranks between them.
void check_common(const std::string& name, const std::string& expected) {
  std::stringstream all(content(common(name)));
  std::string mine;
  const std::string mark = " of rank " + std::to_string(rank) + " ";
  for (std::string text; std::getline(all, text);)
    if (text.find(mark) != std::string::npos) mine += text + "\n";
  check(mine == expected, name + ": the lines of this rank");
}

void check_all() {
  std::string expected;
  for (int round = 0; round < rounds; ++round) expected += line(round);
  MPI_Barrier(MPI_COMM_WORLD);
  check_common("all", expected);
  check_common("turns", expected);
  for (const char* name :
       {"kept", "again", "emptied", "later", "made", "sought", "stream", "given", "cxx", "ate"})
    check_own(name, expected);
  check_own("headed", "heading\n" + expected);
  MPI_Barrier(MPI_COMM_WORLD);
}

void make_folder() {
  char name[256] = {};
  const char* temporary = std::getenv("TMPDIR");
  std::snprintf(name, sizeof name, "%s/llamada-appending-%d", temporary ? temporary : "/tmp",
                static_cast<int>(getpid()));
  if (rank == 0) mkdir(name, 0700);
  MPI_Bcast(name, sizeof name, MPI_CHAR, 0, MPI_COMM_WORLD);
  folder = name;
}

}  // namespace

// What libc writes itself cannot be recorded: standard output that is made to append to a file.
int redirect(const std::string& how) {
  const std::string path = own("redirected");
  const int file = open(path.c_str(), O_WRONLY | O_CREAT | O_APPEND, 0600);
  unlink(path.c_str());
  if (how == "dup2") check(dup2(file, STDOUT_FILENO) == STDOUT_FILENO, "dup2");
  if (how == "freopen")
    check(std::freopen(path.c_str(), "a", stdout) && unlink(path.c_str()) == 0, "freopen");
  MPI_Barrier(MPI_COMM_WORLD);
  if (rank == 0) check(rmdir(folder.c_str()) == 0, "rmdir");
  return MPI_Finalize();
}

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &ranks);
  make_folder();
  if (argc > 1) return redirect(argv[1]);
  for (int round = 0; round < rounds; ++round) {
    by_descriptor(round);
    by_stream(round);
    together(round);
    in_turn(round);
  }
  check_all();
  if (rank == 0) {
    unlink(common("all").c_str());
    unlink(common("turns").c_str());
    check(rmdir(folder.c_str()) == 0, "rmdir");
    std::printf("ok appending\n");
  }
  MPI_Finalize();
}
