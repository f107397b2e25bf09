#pragma once

#include <fcntl.h>
#include <fmt/format.h>
#include <signal.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include <chrono>
#include <cstdlib>
#include <functional>
#include <nlohmann/json.hpp>
#include <string>
#include <thread>
#include <vector>

#include "child.hpp"
#include "command.hpp"
#include "test.hpp"

// A driver, and processes with a writer or a reader each, for tests that look at them with the command.

namespace llamada::test {

using nlohmann::json;

/// A driver of this test's own, as a process; ends with this object.
class DriverProcess {
 public:
  DriverProcess() : name_(fmt::format("tools-test-{}", ::getpid())) {
    int ready[2];
    REQUIRE(::pipe2(ready, O_CLOEXEC) == 0);
    FileDescriptor reading(ready[0]);
    FileDescriptor writing(ready[1]);
    posix_spawn_file_actions_t actions;
    ::posix_spawn_file_actions_init(&actions);
    ::posix_spawn_file_actions_adddup2(&actions, writing.get(), 3);
    // If this test is killed, so is the driver.
    std::vector<std::string> words{"/usr/bin/setpriv", "--pdeathsig",          "KILL",
                                   LLAMADA_LLAMANETD,  "--ready-descriptor=3", "--name=" + name_};
    std::vector<char*> argv;
    for (std::string& each : words) argv.push_back(each.data());
    argv.push_back(nullptr);
    REQUIRE(::posix_spawn(&pid_, argv[0], &actions, nullptr, argv.data(), environ) == 0);
    ::posix_spawn_file_actions_destroy(&actions);
    writing.reset();
    char byte = 0;
    REQUIRE(::read(reading.get(), &byte, 1) == 1);
  }
  ~DriverProcess() {
    ::kill(pid_, SIGKILL);
    ::waitpid(pid_, nullptr, 0);
  }
  DriverProcess(const DriverProcess&) = delete;

  std::string socket() const {
    return fmt::format("llamada/{}/{}/{}", ::geteuid(), std::getenv("LLAMADA_NAMESPACE"), name_);
  }

 private:
  std::string name_;
  pid_t pid_ = 0;
};

struct Fixture {
  DriverProcess driver;
  std::string topic = fmt::format("tools/{}", ::getpid());

  Child peer(const std::string& name, const std::string& role, std::vector<std::string> options = {}) const {
    std::vector<std::string> arguments{LLAMADA_TOPIC_PEER, driver.socket(), name, role, topic};
    arguments.insert(arguments.end(), options.begin(), options.end());
    return Child(std::move(arguments));
  }
};

inline Ended llamada_(std::vector<std::string> arguments) {
  arguments.insert(arguments.begin(), LLAMADA_COMMAND);
  return run(std::move(arguments));
}

inline json json_of(std::vector<std::string> arguments) {
  const Ended ended = llamada_(std::move(arguments));
  INFO(ended.err);
  return json::parse(ended.out);
}

/// Asks again until the answer is yes; fails after a minute.
inline void wait_until(const std::function<bool()>& answer) {
  const auto start = std::chrono::steady_clock::now();
  while (!answer()) {
    if (std::chrono::steady_clock::now() - start > std::chrono::seconds(60)) FAIL("it never came to pass");
    std::this_thread::sleep_for(std::chrono::milliseconds(20));
  }
}

inline bool has(const std::string& text, const std::string& part) {
  return text.find(part) != std::string::npos;
}

/// Whether each writer and reader that `llamada why` knows has met its like.
inline bool all_have_met(const std::string& topic, std::size_t pairs) {
  const json out = json_of({"why", topic, "--json"});
  if (out["pairs"].size() != pairs) return false;
  for (const json& pair : out["pairs"])
    if (pair["matched"] == false) return false;
  return true;
}

/// What `llamada top` says of the topic's writer; null without one.
inline json writer_of(const std::string& topic) {
  const json out = json_of({"top", "--once", "--json", "--interval", "0.1"});
  for (const json& each : out["writers"])
    if (each["topic"] == topic) return each;
  return {};
}

}  // namespace llamada::test
