#include "program_libraries.hpp"

#include <elf.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <filesystem>
#include <fstream>
#include <sstream>

#include "llamada/base/file_descriptor.hpp"

namespace llamada::launcher {
namespace {

constexpr int loader_time_max_ms = 2000;
constexpr std::size_t list_bytes_max = 1 << 20;

/// The dynamic loader that the program asks for; empty if there is none.
std::string loader_of(const std::string& program) {
  std::ifstream file(program, std::ios::binary);
  Elf64_Ehdr header{};
  file.read(reinterpret_cast<char*>(&header), sizeof header);
  if (!file || !std::equal(header.e_ident, header.e_ident + SELFMAG, ELFMAG)) return {};
  for (int i = 0; header.e_ident[EI_CLASS] == ELFCLASS64 && i < header.e_phnum; ++i) {
    Elf64_Phdr part{};
    file.seekg(
        static_cast<std::streamoff>(header.e_phoff + static_cast<std::size_t>(i) * header.e_phentsize));
    file.read(reinterpret_cast<char*>(&part), sizeof part);
    if (!file || part.p_type != PT_INTERP) continue;
    std::string name;
    file.seekg(static_cast<std::streamoff>(part.p_offset));
    std::getline(file, name, '\0');
    return name;
  }
  return {};
}

std::string read_for_a_while(const FileDescriptor& pipe) {
  std::string text;
  char part[4096];
  pollfd one{pipe.get(), POLLIN, 0};
  while (text.size() < list_bytes_max && poll(&one, 1, loader_time_max_ms) == 1) {
    const ssize_t count = read(pipe.get(), part, sizeof part);
    if (count == 0 || (count < 0 && errno != EINTR)) break;
    if (count > 0) text.append(part, static_cast<std::size_t>(count));
  }
  return text;
}

std::vector<char*> pointers_to(std::vector<std::string>& texts) {
  std::vector<char*> pointers;
  for (std::string& text : texts) pointers.push_back(text.data());
  pointers.push_back(nullptr);
  return pointers;
}

/// What the loader prints as it does for ldd. With --list it would end at the first library that is missing.
std::string list_of(const std::string& loader, const std::string& program,
                    std::vector<std::string> environment, const std::string& directory) {
  std::array<int, 2> ends;
  if (pipe2(ends.data(), O_CLOEXEC) != 0) return {};
  const FileDescriptor reading(ends[0]);
  FileDescriptor writing(ends[1]);
  posix_spawn_file_actions_t actions;
  posix_spawn_file_actions_init(&actions);
  posix_spawn_file_actions_adddup2(&actions, writing.get(), 1);
  posix_spawn_file_actions_addopen(&actions, 2, "/dev/null", O_WRONLY, 0);
  if (!directory.empty()) posix_spawn_file_actions_addchdir_np(&actions, directory.c_str());
  environment.emplace_back("LD_TRACE_LOADED_OBJECTS=1");
  std::vector<std::string> words{loader, program};
  pid_t child = 0;
  const int failed = posix_spawn(&child, loader.c_str(), &actions, nullptr, pointers_to(words).data(),
                                 pointers_to(environment).data());
  posix_spawn_file_actions_destroy(&actions);
  if (failed != 0) return {};
  writing.reset();
  std::string text = read_for_a_while(reading);
  kill(child, SIGKILL);
  waitpid(child, nullptr, 0);
  return text;
}

}  // namespace

std::string list_libraries(const std::string& program, const std::vector<std::string>& environment,
                           const std::string& directory) {
  const std::string loader = loader_of(program);
  // Other loaders than glibc's would run the program.
  if (!std::filesystem::path(loader).filename().string().starts_with("ld-linux")) return {};
  return list_of(loader, program, environment, directory);
}

std::string missing_library(const std::string& list) {
  std::istringstream lines(list);
  for (std::string line; std::getline(lines, line);) {
    const std::size_t arrow = line.find(" => not found");
    if (arrow != line.npos)
      return line.substr(line.find_first_not_of(" \t"), arrow - line.find_first_not_of(" \t"));
  }
  return {};
}

}  // namespace llamada::launcher
