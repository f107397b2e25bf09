#pragma once

#include <string>
#include <vector>

namespace llamada::test {

/// What a program that has ended said.
struct Ended {
  int exit_code = -1;  ///< 128 + the signal if one ended it.
  std::string out;
  std::string err;
};

/// Runs a program to its end.
Ended run(std::vector<std::string> arguments);

}  // namespace llamada::test
