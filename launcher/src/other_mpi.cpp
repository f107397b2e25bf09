#include "other_mpi.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <sstream>

#include "program_libraries.hpp"

namespace llamada::launcher {
namespace {

namespace fs = std::filesystem;

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
  return other_mpi_among(paths_in(list_libraries(program, environment, directory)));
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
