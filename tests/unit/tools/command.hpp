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

/// The wait status of a child that ends by itself. One that has not after a minute and a half is ended by
/// SIGABRT, and what it waited for is said on standard error.
int await_end(pid_t pid, const std::string& program);

/// Runs a program to its end.
Ended run(std::vector<std::string> arguments);

}  // namespace llamada::test
