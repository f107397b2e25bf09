#include "process.hpp"

#include <fmt/core.h>
#include <poll.h>

#include <fstream>
#include <limits>
#include <string>

namespace llamada::llamanet {

std::uint64_t start_of_process(std::uint32_t pid) {
  std::ifstream file(fmt::format("/proc/{}/stat", pid));
  // proc(5): the second field is the program's name in parentheses, which may hold anything; the 22nd is due.
  file.ignore(std::numeric_limits<std::streamsize>::max(), '(');
  std::string line;
  std::getline(file, line);
  std::size_t place = line.rfind(')');
  for (int field = 3; field <= 22 && place != line.npos; ++field) place = line.find(' ', place + 1);
  if (place == line.npos) return 0;
  return std::strtoull(line.c_str() + place, nullptr, 10);
}

bool has_ended(int process) {
  pollfd state{process, POLLIN, 0};
  return ::poll(&state, 1, 0) > 0;
}

}  // namespace llamada::llamanet
