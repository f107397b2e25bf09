#include "persistd.hpp"

#include <fcntl.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstring>
#include <filesystem>
#include <fstream>
#include <iterator>

#include "test.hpp"

namespace llamada::dcps::test {
namespace {

pid_t spawn(const std::vector<std::string>& command, int output) {
  std::vector<char*> words;
  for (const std::string& word : command) words.push_back(const_cast<char*>(word.c_str()));
  words.push_back(nullptr);
  const pid_t child = ::fork();
  REQUIRE(child >= 0);
  if (child != 0) return child;
  if (output >= 0) {
    ::dup2(output, 1);
    ::dup2(output, 2);
  }
  ::execv(words[0], words.data());
  ::_exit(127);
}

int code_of(int status) { return WIFEXITED(status) ? WEXITSTATUS(status) : -WTERMSIG(status); }

}  // namespace

Persistd::Persistd(std::string store, std::string socket_name)
    : store_(std::move(store)), socket_name_(std::move(socket_name)) {}

Persistd::~Persistd() {
  if (is_running()) kill();
}

void Persistd::start() {
  const int output =
      words_.empty() ? -1 : ::open(words_.c_str(), O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0600);
  std::vector<std::string> command{LLAMADA_PERSISTD, "--store", store_, "--driver", socket_name_};
  if (!kind_.empty()) command.insert(command.end(), {"--store-kind", kind_});
  pid_ = start_until_ready(std::move(command), "--ready-descriptor", output);
  if (output >= 0) ::close(output);
}

std::string Persistd::said() const {
  std::ifstream file(words_);
  return {std::istreambuf_iterator<char>(file), std::istreambuf_iterator<char>()};
}

void Persistd::send(int signal) const {
  REQUIRE(is_running());  // kill(-1) would reach every process
  REQUIRE(::kill(pid_, signal) == 0);
}

void Persistd::kill() {
  if (!is_running()) return;
  ::kill(pid_, SIGKILL);
  ::waitpid(pid_, nullptr, 0);
  pid_ = -1;
}

int Persistd::end() {
  send(SIGTERM);
  int status = 0;
  REQUIRE(::waitpid(pid_, &status, 0) == pid_);
  pid_ = -1;
  return code_of(status);
}

pid_t start_until_ready(std::vector<std::string> command, const std::string& option, int output) {
  int ready[2];
  REQUIRE(::pipe(ready) == 0);
  ::fcntl(ready[0], F_SETFD, FD_CLOEXEC);
  command.push_back(option);
  command.push_back(std::to_string(ready[1]));
  const pid_t child = spawn(command, output);
  ::close(ready[1]);
  char byte = 0;
  const bool is_ready = ::read(ready[0], &byte, 1) == 1;
  ::close(ready[0]);
  REQUIRE(is_ready);
  return child;
}

std::vector<StoredReading> stored_readings(const std::string& store, std::int32_t key, std::int32_t value) {
  std::string wanted(8, '\0');
  std::memcpy(wanted.data(), &key, sizeof key);
  std::memcpy(wanted.data() + sizeof key, &value, sizeof value);
  std::vector<StoredReading> found;
  for (const auto& entry : std::filesystem::directory_iterator(store)) {
    if (entry.path().extension() != ".seg") continue;
    std::ifstream file(entry.path(), std::ios::binary);
    const std::string bytes(std::istreambuf_iterator<char>(file), {});
    for (std::size_t at = 0; (at = bytes.find(wanted, at)) != std::string::npos; ++at)
      found.push_back({entry.path(), at});
  }
  return found;
}

Ended run(const std::vector<std::string>& command) {
  int output[2];
  REQUIRE(::pipe2(output, O_CLOEXEC) == 0);
  const pid_t child = spawn(command, output[1]);
  ::close(output[1]);
  Ended ended;
  char bytes[4096];
  for (ssize_t count = 0; (count = ::read(output[0], bytes, sizeof bytes)) > 0;)
    ended.text.append(bytes, static_cast<std::size_t>(count));
  ::close(output[0]);
  int status = 0;
  REQUIRE(::waitpid(child, &status, 0) == child);
  ended.code = code_of(status);
  return ended;
}

}  // namespace llamada::dcps::test
