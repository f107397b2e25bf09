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

/// Runs a program to its end.
Ended run(std::vector<std::string> arguments);

}  // namespace llamada::test
