#pragma once

#include <sys/types.h>

#include <string>
#include <vector>

namespace llamada::test {

/// What a program that has ended said.
struct Ended {
  int exit_code = -1;  ///< 128 + the signal if one ended it.
  std::string out;
  std::string err;
};

/// The wait status of a child that ends by itself. If it has not after a minute and a half, says on standard
/// error what it waits for, ends it by SIGABRT, and aborts the test's process.
int await_end(pid_t pid, const std::vector<std::string>& arguments);

/// A program that runs, with no input.
class Running {
 public:
  explicit Running(std::vector<std::string> arguments);
  /// Ends the program if end() has not.
  ~Running();
  Running(const Running&) = delete;
  Running& operator=(const Running&) = delete;

  void send(int signal) const;
  /// What it has said on standard error so far.
  std::string err() const;
  /// Waits for its end, as await_end() does.
  Ended end();

 private:
  std::vector<std::string> arguments_;
  pid_t pid_ = 0;
  int out_ = -1;
  int err_ = -1;
};

/// Runs a program to its end.
Ended run(std::vector<std::string> arguments);

}  // namespace llamada::test
