#include "job_process.hpp"

#include <fcntl.h>
#include <signal.h>
#include <spawn.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <random>
#include <sstream>
#include <thread>

#include "llamada/base/file_descriptor.hpp"

namespace llamada::system_test {
namespace {

namespace fs = std::filesystem;

/// Empty also for what cannot be read: a process's files are gone with it.
std::string contents(const fs::path& path) {
  llamada::FileDescriptor file(open(path.c_str(), O_RDONLY | O_CLOEXEC));
  std::string text;
  char part[4096];
  ssize_t count;
  while (file && (count = read(file.get(), part, sizeof part)) > 0)
    text.append(part, static_cast<std::size_t>(count));
  return text;
}

std::string new_mark() {
  static std::atomic<int> count = 0;
  const auto now = std::chrono::steady_clock::now().time_since_epoch().count();
  return "LLAMADA_SYSTEM_TEST=" + std::to_string(getpid()) + "-" + std::to_string(count++) + "-" +
         std::to_string(now);
}

char state_of(const fs::path& process) {
  const std::string stat = contents(process / "stat");
  const std::size_t name_end = stat.rfind(") ");
  return name_end == std::string::npos ? 'X' : stat[name_end + 2];
}

std::string name_of(const fs::path& process) {
  std::string name = contents(process / "comm");
  if (!name.empty()) name.pop_back();
  return name;
}

int shell_code(int status) { return WIFSIGNALED(status) ? 128 + WTERMSIG(status) : WEXITSTATUS(status); }

}  // namespace

Job::Job(std::vector<std::string> arguments, const std::string& input, int ignored) : mark_(new_mark()) {
  std::string program = LLAMADA_MPIRUN;
  std::vector<char*> words = {program.data()};
  for (std::string& word : arguments) words.push_back(word.data());
  words.push_back(nullptr);
  std::vector<char*> environment = {mark_.data()};
  for (char** entry = environ; *entry != nullptr; ++entry) environment.push_back(*entry);
  environment.push_back(nullptr);
  const std::string out = folder_ / "stdout", err = folder_ / "stderr", in = folder_ / "stdin";
  std::ofstream(in, std::ios::binary) << input;
  posix_spawn_file_actions_t files;
  posix_spawn_file_actions_init(&files);
  posix_spawn_file_actions_addopen(&files, 0, in.c_str(), O_RDONLY, 0);
  posix_spawn_file_actions_addopen(&files, 1, out.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_APPEND, 0600);
  posix_spawn_file_actions_addopen(&files, 2, err.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_APPEND, 0600);
  posix_spawnattr_t attributes;
  posix_spawnattr_init(&attributes);
  sigset_t not_ignored;
  sigfillset(&not_ignored);
  if (ignored != 0) sigdelset(&not_ignored, ignored);
  posix_spawnattr_setsigdefault(&attributes, &not_ignored);
  posix_spawnattr_setflags(&attributes, POSIX_SPAWN_SETSIGDEF);
  const auto handler = ignored != 0 ? signal(ignored, SIG_IGN) : SIG_DFL;
  if (posix_spawn(&pid_, program.c_str(), &files, &attributes, words.data(), environment.data()) != 0)
    pid_ = 0;
  if (ignored != 0) signal(ignored, handler);
  posix_spawnattr_destroy(&attributes);
  posix_spawn_file_actions_destroy(&files);
}

Job::~Job() { end(); }

void Job::end() {
  // By its number: what has only just been started has no environment that could be read yet.
  if (pid_ > 0 && !reaped_) kill(pid_, SIGKILL);
  for (const Found& process : processes()) kill(process.pid, SIGKILL);
  reaped_ = reaped_ || (pid_ > 0 && waitpid(pid_, &status_, 0) == pid_);
}

std::vector<Found> Job::processes() const {
  std::vector<Found> found;
  std::error_code ignored;
  for (const auto& entry : fs::directory_iterator("/proc", ignored)) {
    const std::string number = entry.path().filename();
    if (number.find_first_not_of("0123456789") != std::string::npos) continue;
    const std::string environment = '\0' + contents(entry.path() / "environ");
    if (environment.find('\0' + mark_ + '\0') == std::string::npos) continue;
    const Found process{static_cast<pid_t>(std::stol(number)), name_of(entry.path()), state_of(entry.path())};
    if (process.state != 'Z' && process.state != 'X') found.push_back(process);
  }
  return found;
}

pid_t Job::find(const std::string& name) const {
  for (const Found& process : processes())
    if (process.name == name) return process.pid;
  return 0;
}

bool Job::ended() {
  reaped_ = reaped_ || waitpid(pid_, &status_, WNOHANG) == pid_;
  return reaped_;
}

int Job::wait() {
  if (pid_ == 0 || !wait_for([this] { return ended(); })) return -1;
  return shell_code(status_);
}

std::vector<Found> Job::wait_until_none_is_left(std::chrono::seconds limit) {
  const auto end = std::chrono::steady_clock::now() + limit;
  std::vector<Found> left = processes();
  while (!left.empty() && std::chrono::steady_clock::now() < end) {
    sleep_for_a_moment();
    left = processes();
  }
  return left;
}

std::string Job::output() const { return contents(folder_ / "stdout"); }
std::string Job::errors() const { return contents(folder_ / "stderr"); }

std::vector<std::string> lines_of_mpirun(const std::string& text) {
  std::vector<std::string> lines;
  std::istringstream stream(text);
  for (std::string line; std::getline(stream, line);)
    if (line.rfind("mpirun: ", 0) == 0) lines.push_back(line);
  return lines;
}

pid_t pid_said_by_rank(const std::string& output, int rank) {
  std::istringstream lines(output);
  int said = 0;
  for (pid_t pid = 0; lines >> said >> pid;)
    if (said == rank) return pid;
  return 0;
}

void sleep_for_a_moment() { std::this_thread::sleep_for(std::chrono::milliseconds(2)); }

std::string command_line(pid_t pid) {
  std::string text = contents(fs::path("/proc") / std::to_string(pid) / "cmdline");
  std::replace(text.begin(), text.end(), '\0', ' ');
  return text;
}

void adopt_orphans() { prctl(PR_SET_CHILD_SUBREAPER, 1); }

void reap_orphans() {
  while (waitpid(-1, nullptr, WNOHANG) > 0) {
  }
}

std::string names_left(Job& job) {
  std::string names;
  for (const Found& process : job.wait_until_none_is_left(std::chrono::seconds(60)))
    names += std::to_string(process.pid) + " " + process.name + "\n";
  return names;
}

std::uint64_t seed_of_this_run() {
  const char* given = std::getenv("LLAMADA_TEST_SEED");
  return given != nullptr ? std::strtoull(given, nullptr, 10) : std::random_device{}();
}

}  // namespace llamada::system_test
