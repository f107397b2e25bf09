// Each rank makes calls on the file system, and tells the others what came of each. file_calls.sh runs it
// with ranks killed before, in and behind each call, and compares the output and the folder with a run
// without kills. file_calls GROUP works in the current folder.
#include <dirent.h>
#include <fcntl.h>
#include <glob.h>
#include <mpi.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <sys/time.h>
#include <sys/uio.h>
#include <unistd.h>

#include <cerrno>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <map>
#include <set>
#include <sstream>
#include <string>
#include <vector>

namespace {

namespace fs = std::filesystem;
constexpr int ranks_max = 8;
int rank = 0, ranks = 0;

std::string own(const std::string& name) { return "rank" + std::to_string(rank) + "/" + name; }
const char* path(const std::string& name) {
  static std::string texts[4];
  static int next = 0;
  std::string& text = texts[next++ % 4];
  text = own(name);
  return text.c_str();
}

/// Tells all ranks what came of a call. Rank 0 prints it, unless no run has the same.
long tell(const std::string& what, long result, bool same_in_each_run = true) {
  const long mine[2] = {result, result < 0 ? errno : 0};
  long all[ranks_max * 2];
  MPI_Allgather(mine, 2, MPI_LONG, all, 2, MPI_LONG, MPI_COMM_WORLD);
  if (rank != 0) return result;
  std::printf("%s", what.c_str());
  for (int i = 0; i < ranks && same_in_each_run; ++i) std::printf(" %ld/%ld", all[2 * i], all[2 * i + 1]);
  std::printf("\n");
  return result;
}

long hash(const std::string& text) {
  unsigned long value = 5381;
  for (const char letter : text) value = value * 33 + static_cast<unsigned char>(letter);
  return static_cast<long>(value >> 2);
}
void tell_text(const std::string& what, const std::string& text) { tell(what, hash(text)); }

std::string content(const std::string& name) {
  std::stringstream text;
  text << std::ifstream(own(name)).rdbuf();
  return text.str();
}
long put(const std::string& name, const std::string& text) {
  FILE* file = std::fopen(path(name), "w");
  if (!file) return -1;
  const int put = std::fputs(text.c_str(), file);
  return std::fclose(file) == 0 ? put : -1;
}
long put_into(int file, const std::string& text) { return write(file, text.data(), text.size()); }

long put_here(const char* name) {
  const int file = creat(name, 0600);
  const long count = put_into(file, "here\n");
  return close(file) == 0 ? count : -1;
}

void names() {
  tell("mkdir", mkdir(path("a"), 0750));
  tell("mkdir again", mkdir(path("a"), 0750));
  const int folder = open(path("a"), O_RDONLY | O_DIRECTORY);
  tell("mkdirat", mkdirat(folder, "b", 0700));
  tell("rmdir of what is not empty", rmdir(path("a")));
  tell("rmdir", rmdir(path("a/b")));
  tell("put", put("f", "one\n"));
  tell("link", link(path("f"), path("g")));
  tell("link again", link(path("f"), path("g")));
  tell("linkat", linkat(AT_FDCWD, path("f"), folder, "h", 0));
  tell("unlink of one name", unlink(path("f")));
  tell("unlink again", unlink(path("f")));
  tell("unlinkat", unlinkat(folder, "h", 0));
  tell("mkdirat", mkdirat(folder, "c", 0700));
  tell("unlinkat of a directory", unlinkat(folder, "c", AT_REMOVEDIR));
  tell("rename", rename(path("g"), path("a/g")));
  tell("put", put("old", "old\n"));
  tell("rename over another", rename(path("a/g"), path("old")));
  tell("renameat", renameat(AT_FDCWD, path("old"), folder, "new"));
  tell("renameat2 to one that is there", renameat2(folder, "new", folder, "new2", RENAME_NOREPLACE));
  tell("rename of nothing", rename(path("old"), path("older")));
  tell("symlink", symlink("a/new2", path("s")));
  tell("symlink again", symlink("a/new2", path("s")));
  tell("mkfifo", mkfifo(path("pipe"), 0600));
  tell("mkfifo again", mkfifo(path("pipe"), 0600));
  tell("mknod", mknod(path("node"), S_IFREG | 0600, 0));
  tell("mknod again", mknod(path("node"), S_IFREG | 0600, 0));
  tell("remove of a file", std::remove(path("node")));
  tell("mkdir", mkdir(path("d"), 0700));
  tell("remove of a directory", std::remove(path("d")));
  tell("remove of nothing", std::remove(path("d")));
  tell("chmod", chmod(path("a/new2"), 0640));
  tell("chown", chown(path("a/new2"), getuid(), getgid()));
  const timespec times[2] = {{1000, 0}, {2000, 0}};
  tell("utimensat", utimensat(AT_FDCWD, path("a/new2"), times, 0));
  tell("truncate", truncate(path("a/new2"), 2));
  tell("mkdir by all", mkdir("lock", 0700), false);
  tell("close", close(folder));
  // In a directory that is gone afterwards.
  const int start = open(".", O_RDONLY | O_DIRECTORY);
  tell("mkdir", mkdir(path("work"), 0700));
  tell("chdir", chdir(path("work")));
  tell("put", put_here("inside"));
  tell("chdir to nothing", chdir("none"));
  tell("unlink", unlink("inside"));
  tell("fchdir", fchdir(start));
  tell("rmdir", rmdir(path("work")));
  tell("close", close(start));
  tell("access", access(path("work"), F_OK));
  const timeval moments[2] = {{1000, 0}, {3000, 0}};
  tell("lutimes", lutimes(path("s"), moments));
}

void opens() {
  int file = open(path("new"), O_WRONLY | O_CREAT | O_EXCL, 0600);
  tell("open O_EXCL", file >= 0 ? 0 : -1);
  tell("open O_EXCL again", open(path("new"), O_WRONLY | O_CREAT | O_EXCL, 0600));
  tell("write", put_into(file, "0123456789"));
  tell("pwrite", pwrite(file, "ab", 2, 4));
  char one[] = "left", two[] = "right";
  const iovec pieces[2] = {{one, 4}, {two, 5}};
  tell("writev", writev(file, pieces, 2));
  tell("pwritev", pwritev(file, pieces, 2, 30));
  tell("pwritev2", pwritev2(file, pieces, 2, 20, 0));
  tell("lseek end", lseek(file, 0, SEEK_END));
  tell("ftruncate", ftruncate(file, 35));
  tell("fallocate", fallocate(file, 0, 0, 50));
  tell("posix_fallocate", posix_fallocate(file, 0, 60));
  tell("lseek end", lseek(file, -3, SEEK_END));
  tell("write", put_into(file, "end"));
  tell("close", close(file));
  file = open(path("new"), O_RDWR | O_TRUNC);
  tell("open O_TRUNC", file >= 0 ? 0 : -1);
  tell("write", put_into(file, "after"));
  const int copy = dup(file);
  tell("write to a copy", put_into(copy, " a copy"));
  tell("dup2", dup2(file, 60) == 60 ? 0 : -1);
  tell("write to the other", put_into(60, " and another\n"));
  close(60), close(copy), close(file);
  for (int round = 0; round < 3; ++round) {
    file = open(path("log"), O_WRONLY | O_CREAT | O_APPEND | (round ? 0 : O_TRUNC), 0600);
    tell("append", put_into(file, "line\n"));
    tell("dprintf", dprintf(file, "printed %d\n", round));
    tell("close", close(file));
  }
  file = creat(path("made"), 0644);
  tell("creat", file >= 0 ? 0 : -1);
  tell("write", put_into(file, "made\n"));
  tell("close", close(file));
  file = open("rank0", O_TMPFILE | O_RDWR, 0600);
  tell("open O_TMPFILE", file >= 0 ? 0 : -1);
  tell("write", put_into(file, "without a name"));
  char back[64] = {};
  tell("pread", pread(file, back, sizeof back, 8));
  tell_text("its bytes", back);
  tell("close", close(file));
  // A scratch file: used after its name is gone.
  file = open(path("scratch"), O_RDWR | O_CREAT, 0600);
  tell("unlink", unlink(path("scratch")));
  tell("write", put_into(file, "scratch of rank"));
  tell("lseek", lseek(file, 0, SEEK_SET));
  std::memset(back, 0, sizeof back);
  tell("read", read(file, back, 7));
  const iovec into[2] = {{back + 7, 4}, {back + 11, 4}};
  tell("readv", readv(file, into, 2));
  tell("preadv2", preadv2(file, into, 1, 0, 0));
  tell_text("its bytes", back);
  tell("flock", flock(file, LOCK_EX));
  struct flock region {};
  region.l_type = F_WRLCK;
  tell("fcntl lock", fcntl(file, F_SETLK, &region));
  tell("fstat", [&] {
    struct stat found {};
    return fstat(file, &found) == 0 ? found.st_size : -1;
  }());
  tell("close", close(file));
}

void streams() {
  tell("fopen w", put("w", "one\n"));
  FILE* file = std::fopen(path("x"), "wx");
  tell("fopen wx", file ? std::fputs("x\n", file) : -1);
  tell("fclose", std::fclose(file));
  tell("fopen wx again", std::fopen(path("x"), "wx") ? 0 : -1);
  for (int round = 0; round < 2; ++round) {
    file = std::fopen(path("w"), "a");
    tell("fopen a", std::fprintf(file, "round %d\n", round));
    tell("fclose", std::fclose(file));
  }
  file = std::fopen(path("w"), "r+");
  char line[64] = {};
  tell("fgets", std::fgets(line, sizeof line, file) ? hash(line) : -1);
  std::fseek(file, 0, SEEK_SET);
  tell("fputs", std::fputs("ONE", file));
  tell("fclose", std::fclose(file));
  file = std::fopen(path("both"), "w+");
  tell("fopen w+", std::fputs("written and read\n", file));
  std::rewind(file);
  tell("fread", static_cast<long>(std::fread(line, 1, sizeof line, file)));
  tell("fclose", std::fclose(file));
  file = std::freopen(path("out"), "w", std::fopen("/dev/null", "w"));
  tell("freopen", file ? std::fputs("redirected\n", file) : -1);
  tell("fclose", std::fclose(file));
  // Streams that fopen() has opened, on other files and in other modes.
  file = std::freopen(path("second"), "w", std::fopen(path("first"), "w"));
  tell("freopen", file ? std::fputs("second\n", file) : -1);
  file = std::freopen(path("second"), "r", file);
  tell("freopen to read", file && std::fgets(line, sizeof line, file) ? hash(line) : -1);
  tell("fputs to what is read", std::fputs("none", file));
  file = std::freopen(path("first"), "a", file);
  tell("freopen to append", file ? std::fputs("appended\n", file) : -1);
  file = std::freopen("/dev/null", "w", file);
  tell("freopen of a device", file ? std::fputs("nowhere\n", file) : -1);
  file = std::freopen(path("second"), "r+", file);
  tell("freopen to change", file ? std::fputs("SEC", file) : -1);
  tell("fclose", std::fclose(file));
  tell_text("the first", content("first"));
  tell_text("the second", content("second"));
  // What another stream sees of a file that is being written: what the buffer had no room for.
  file = std::fopen(path("pieces"), "w");
  for (int i = 0; i < 500; ++i) std::fputs("0123456789", file);
  FILE* reader = std::fopen(path("pieces"), "r");
  long seen = 0;
  while (std::fgetc(reader) != EOF) ++seen;
  tell("what is seen of it", seen);
  tell("fclose", std::fclose(reader) + std::fclose(file));
  std::ofstream out(own("cxx"));
  out << "by C++\n" << std::flush;
  tell("ofstream", out.good());
  out << "more\n";
  out.close();
  tell_text("ifstream", content("cxx"));
  std::fstream both(own("cxx"), std::ios::in | std::ios::out | std::ios::ate);
  both << "end\n";
  both.close();
  tell_text("fstream", content("cxx"));
  tell("create_directories", fs::create_directories(own("deep/er/still")));
  tell("create_directories again", fs::create_directories(own("deep/er/still")));
  tell("put", put("deep/er/f", "f\n"));
  tell("file_size", static_cast<long>(fs::file_size(own("deep/er/f"))));
  fs::rename(own("deep/er/f"), own("deep/g"));
  tell("exists", fs::exists(own("deep/er/f")) * 2 + fs::exists(own("deep/g")));
  std::set<std::string> found;
  for (const auto& entry : fs::directory_iterator(own("deep"))) found.insert(entry.path().filename());
  tell("directory_iterator", static_cast<long>(found.size()));
  tell("copy_file", fs::exists(own("deep/g")));
  tell("remove_all", static_cast<long>(fs::remove_all(own("deep"))));
  tell("remove_all again", static_cast<long>(fs::remove_all(own("deep"))));
}

void temporary() {
  std::string name = own("tXXXXXX");
  int file = mkstemp(name.data());
  tell("mkstemp", hash(name), false);
  tell("write", put_into(file, "mkstemp\n"));
  tell("close", close(file));
  tell("rename", rename(name.c_str(), path("t1")));
  name = own("uXXXXXX");
  file = mkostemp(name.data(), O_APPEND);
  tell("mkostemp", hash(name), false);
  tell("append", put_into(file, "mkostemp\n"));
  tell("append", put_into(file, "again\n"));
  tell("close", close(file));
  tell("rename", rename(name.c_str(), path("t2")));
  name = own("vXXXXXX.c");
  file = mkostemps(name.data(), 2, 0);
  tell("mkostemps", hash(name), false);
  tell("close", close(file));
  tell("unlink", unlink(name.c_str()));
  name = own("dXXXXXX");
  tell("mkdtemp", mkdtemp(name.data()) ? hash(name) : -1, false);
  tell("rename", rename(name.c_str(), path("t3")));
  // Names alone; the program makes the files.
  name = own("mXXXXXX");
  file = open(mktemp(name.data()), O_WRONLY | O_CREAT | O_EXCL, 0600);
  tell("mktemp", hash(name), false);
  tell("write", put_into(file, "mktemp\n"));
  tell("close", close(file));
  tell("rename", rename(name.c_str(), path("t4")));
  char letters[L_tmpnam] = {};
  tell("tmpnam", hash(std::tmpnam(letters) ? letters : ""), false);
  tell("tmpnam of its own room", std::strcmp(std::tmpnam(nullptr), letters) != 0);
  tell("mkdir", mkdir(letters, 0700));
  tell("rmdir", rmdir(letters));
  char* drawn = tempnam(rank == 0 ? "rank0" : "rank1", "prefixes");
  tell("tempnam", hash(drawn), false);
  tell_text("its beginning", std::string(drawn, std::strlen(drawn) - 6));
  tell("symlink", symlink("t4", drawn));
  tell("unlink", unlink(drawn));
  std::free(drawn);
  FILE* stream = std::tmpfile();
  tell("tmpfile", stream ? std::fputs("for a while", stream) : -1);
  std::rewind(stream);
  char back[32] = {};
  tell("fgets", std::fgets(back, sizeof back, stream) ? hash(back) : -1);
  tell("fclose", std::fclose(stream));
}

void queries() {
  tell("put", put("f", "0123456789\n"));
  struct stat found {};
  tell("stat", stat(path("f"), &found) == 0 ? found.st_size : -1);
  tell("its number", static_cast<long>(found.st_ino), false);
  tell("access", access(path("f"), R_OK));
  tell("symlink", symlink("f", path("s")));
  tell("lstat", lstat(path("s"), &found) == 0 ? S_ISLNK(found.st_mode) : -1);
  char text[256] = {};
  tell("readlink", readlink(path("s"), text, sizeof text));
  char* real = realpath(path("s"), nullptr);
  tell("realpath", real ? hash(real) : -1, false);
  std::free(real);
  struct statx extended {};
  tell("statx",
       statx(AT_FDCWD, path("f"), 0, STATX_SIZE, &extended) == 0 ? static_cast<long>(extended.stx_size) : -1);
  struct statvfs space {};
  tell("statvfs", statvfs(path("f"), &space));
  tell("its free blocks", static_cast<long>(space.f_bfree), false);
  std::set<std::string> names;
  DIR* folder = opendir(path(""));
  while (const dirent* entry = readdir(folder)) names.insert(entry->d_name);
  tell("readdir", static_cast<long>(names.size()));
  closedir(folder);
  dirent** all = nullptr;
  tell("scandir", scandir(path(""), &all, nullptr, alphasort));
  glob_t matches{};
  tell("glob", glob(path("*"), 0, nullptr, &matches) == 0 ? static_cast<long>(matches.gl_pathc) : -1);
  globfree(&matches);
  const int file = open(path("f"), O_RDONLY);
  tell("read", read(file, text, 4));
  tell("unlink", unlink(path("f")));
  tell("read of a removed file", read(file, text + 4, 7));
  tell_text("its bytes", std::string(text, 11));
  tell("close", close(file));
  tell("put", put("old", "what was there before\n"));
  tell("put", put("new", "what comes in its place\n"));
  const int old = open(path("old"), O_RDONLY);
  tell("read", read(old, text, 4));
  tell("rename over it", rename(path("new"), path("old")));
  tell("read of what was there before", read(old, text + 4, 18));
  tell_text("its bytes", std::string(text, 22));
  tell("close", close(old));
  tell_text("what is there now", content("old"));
  tell("stat of nothing", stat(path("f"), &found));
  tell("access of nothing", access(path("f"), F_OK));
  tell("opendir of nothing", opendir(path("f")) ? 0 : -1);
  tell("open of nothing", open(path("f"), O_RDONLY));
  tell("unlink", unlink(path("s")));
}

void commands() {
  std::fflush(stdout);
  tell("system", std::system("echo once >> command.$OMPI_COMM_WORLD_RANK$PMI_RANK"));
  FILE* output = popen("echo printed; echo more >> popen.$OMPI_COMM_WORLD_RANK$PMI_RANK", "r");
  char line[64] = {};
  tell("popen", output && std::fgets(line, sizeof line, output) ? hash(line) : -1);
  tell("pclose", pclose(output));
}

// What programs do with files that are more than one call.
void patterns() {
  for (int step = 0; step < 4; ++step) {
    const std::string state = "state of step " + std::to_string(step) + "\n";
    tell("a temporary file", put("state.tmp", state));
    tell("rename over the old one", rename(path("state.tmp"), path("state")));
    const bool is_there = access(path("restart"), F_OK) == 0;
    tell("a restart file", is_there ? hash(content("restart")) : 0);
    tell("a restart file is written", put("restart", state));
    FILE* log = std::fopen(path("log"), step == 0 ? "w" : "a");
    tell("a log", std::fputs(state.c_str(), log));
    tell("closed", std::fclose(log));
    const int made = mkdir("lock", 0700);
    const long winner = tell("a lock", made == 0, false);
    MPI_Barrier(MPI_COMM_WORLD);
    if (winner) rmdir("lock");
    MPI_Barrier(MPI_COMM_WORLD);
  }
  // All write one file after rank 0 has removed the old one.
  if (rank == 0) std::ofstream("common") << "an old result that is longer than the new one of all ranks\n";
  MPI_Barrier(MPI_COMM_WORLD);
  if (rank == 0) unlink("common");
  MPI_Barrier(MPI_COMM_WORLD);
  MPI_File file;
  MPI_File_open(MPI_COMM_WORLD, "common", MPI_MODE_CREATE | MPI_MODE_WRONLY, MPI_INFO_NULL, &file);
  char line[17];
  std::snprintf(line, sizeof line, "line of rank %2d\n", rank);
  MPI_File_write_at_all(file, rank * 16, line, 16, MPI_CHAR, MPI_STATUS_IGNORE);
  MPI_File_close(&file);
  tell("MPI-IO", access("common", F_OK));
  if (rank == 0) std::ofstream("configuration") << "steps 7\n";
  MPI_Barrier(MPI_COMM_WORLD);
  std::string word;
  int steps = 0;
  std::ifstream("configuration") >> word >> steps;
  tell("a configuration", steps);
  if (rank == 0) unlink("configuration");
  tell("removed", 0);
}

const std::map<std::string, void (*)()> groups = {
    {"names", names},     {"opens", opens},       {"streams", streams},   {"temporary", temporary},
    {"queries", queries}, {"commands", commands}, {"patterns", patterns},
};

}  // namespace

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &ranks);
  const auto group = groups.find(argc > 1 ? argv[1] : "");
  if (group == groups.end() || ranks > ranks_max) {
    std::fprintf(stderr, "file_calls: give it a group of calls, and at most %d ranks\n", ranks_max);
    MPI_Abort(MPI_COMM_WORLD, 2);
    return 2;
  }
  mkdir(path(""), 0700);
  // O_TMPFILE takes rank 0's folder.
  MPI_Barrier(MPI_COMM_WORLD);
  group->second();
  if (rank == 0) std::printf("ok file_calls %s\n", argv[1]);
  MPI_Finalize();
}
