#include "other_mpi.hpp"

#include <elf.h>
#include <fcntl.h>
#include <fmt/format.h>
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
#include <iterator>
#include <sstream>

#include "llamada/base/file_descriptor.hpp"

namespace llamada::launcher {
namespace {

namespace fs = std::filesystem;

constexpr int loader_time_max_ms = 2000;
constexpr std::size_t list_bytes_max = 1 << 20;

/// "libmpi.so.40", "libmpich.so.12", "libmpi_cray.so.12": the libraries that have MPI_Init.
bool is_mpi(const std::string& path) {
  const std::string name = fs::path(path).filename().string();
  return name.starts_with("libmpi.so") || name.starts_with("libmpich") || name.starts_with("libmpi_cray") ||
         name.starts_with("libmpi_ibm");
}

/// Our libmpi asks for the variables that mpirun sets.
bool is_ours(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  const std::string bytes{std::istreambuf_iterator<char>(file), {}};
  return bytes.find("LLAMADA_TOKEN") != bytes.npos;
}

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

/// What `loader --list program` prints.
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
  std::vector<std::string> words{loader, "--list", program};
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

/// The words of a text that are absolute paths.
std::vector<std::string> paths_in(const std::string& text) {
  std::istringstream words(text);
  std::vector<std::string> paths;
  for (std::string word; words >> word;)
    if (word[0] == '/' && std::find(paths.begin(), paths.end(), word) == paths.end()) paths.push_back(word);
  return paths;
}

}  // namespace

std::string other_mpi_among(const std::vector<std::string>& libraries) {
  std::string found;
  for (const std::string& library : libraries) {
    if (!is_mpi(library)) continue;
    if (is_ours(library)) return {};
    if (found.empty()) found = library;
  }
  return found;
}

std::string other_mpi_of_process(pid_t pid) {
  std::stringstream text;
  text << std::ifstream(fmt::format("/proc/{}/maps", pid)).rdbuf();
  return other_mpi_among(paths_in(text.str()));
}

std::string other_mpi_of_program(const std::string& program, const std::vector<std::string>& environment,
                                 const std::string& directory) {
  const std::string loader = loader_of(program);
  // Other loaders than glibc's would run the program.
  if (!fs::path(loader).filename().string().starts_with("ld-linux")) return {};
  return other_mpi_among(paths_in(list_of(loader, program, environment, directory)));
}

std::string describe_other_mpi(const std::string& library, std::size_t rank_count) {
  const std::string name = fs::path(library).filename().string();
  const bool has_our_abi = name == "libmpich.so.12" || name == "libmpi.so.12";
  return fmt::format(
      "mpirun: no rank called Llamada's MPI_Init: the program uses another MPI library, {}, and so ran {} "
      "times "
      "as a job of one rank; build it with Llamada's mpicc{}.\n",
      library, rank_count,
      has_our_abi ? ", or let LD_LIBRARY_PATH begin with the folder of Llamada's libmpi.so.12" : "");
}

}  // namespace llamada::launcher
