#include "object/info_table.hpp"

#include <mpi.h>
#include <sys/utsname.h>
#include <unistd.h>

#include <climits>
#include <fstream>
#include <iterator>
#include <memory>

namespace llamada::mpi {
namespace {

void set_if_known(Info& info, std::string_view key, std::string_view value) {
  if (!value.empty()) info.set(key, value.substr(0, MPI_MAX_INFO_VAL - 1));
}

/// The words of the command that this process was started with.
std::vector<std::string> command_line() {
  std::ifstream file("/proc/self/cmdline", std::ios::binary);
  const std::string bytes{std::istreambuf_iterator<char>(file), {}};
  std::vector<std::string> words;
  for (std::size_t at = 0; at < bytes.size(); at += words.back().size() + 1)
    words.emplace_back(bytes.c_str() + at);
  return words;
}

}  // namespace

HandleTable<Info, ObjectKind::info>& info_table() {
  using Table = HandleTable<Info, ObjectKind::info>;
  // Kept to the end of the process: handlers at exit may use it.
  static Table& table = []() -> Table& {
    Table* made = std::make_unique<Table>().release();
    made->set_builtin(MPI_INFO_ENV, make_counted<Info>());
    return *made;
  }();
  return table;
}

void fill_with_environment(Info& info, int rank_count_max, const std::string& host) {
  const auto words = command_line();
  std::string arguments;
  for (std::size_t index = 1; index < words.size(); ++index)
    arguments += (index > 1 ? " " : "") + words[index];
  if (!words.empty()) set_if_known(info, "command", words[0]);
  set_if_known(info, "argv", arguments);
  set_if_known(info, "maxprocs", std::to_string(rank_count_max));
  char own_host[256] = "";
  if (!host.empty())
    set_if_known(info, "host", host);
  else if (gethostname(own_host, sizeof own_host - 1) == 0)
    set_if_known(info, "host", own_host);
  utsname machine;
  if (uname(&machine) == 0) set_if_known(info, "arch", machine.machine);
  char directory[PATH_MAX];
  if (getcwd(directory, sizeof directory) != nullptr) set_if_known(info, "wdir", directory);
}

}  // namespace llamada::mpi
