#include "llamada/waits/stack.hpp"

#include <unistd.h>

#include <cstdlib>
#include <sstream>

namespace llamada::waits {
namespace {

/// The file of a program in PATH; empty if there is none.
std::string find_program(const std::string& name) {
  const char* path = std::getenv("PATH");
  std::istringstream folders(path != nullptr ? path : "/usr/bin:/bin");
  for (std::string folder; std::getline(folders, folder, ':');) {
    const std::string file = folder + "/" + name;
    if (access(file.c_str(), X_OK) == 0) return file;
  }
  return {};
}

}  // namespace

std::vector<std::string> stack_command(std::int32_t pid) {
  const std::string process = std::to_string(pid);
  if (std::string program = find_program("eu-stack"); !program.empty()) return {program, "-p", process};
  if (std::string program = find_program("gdb"); !program.empty())
    return {program, "-nx", "-batch", "-p", process, "-ex", "thread apply all backtrace"};
  return {};
}

}  // namespace llamada::waits
