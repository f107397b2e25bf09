#define CATCH_CONFIG_RUNNER
#include <unistd.h>

#include <cstdlib>
#include <string>

#include "test.hpp"

int main(int argc, char** argv) {
  // Each test program, and what it starts, sees its own drivers only, whatever else runs on this machine.
  ::setenv("LLAMADA_NAMESPACE", ("test-" + std::to_string(::getpid())).c_str(), 1);
  return Catch::Session().run(argc, argv);
}
