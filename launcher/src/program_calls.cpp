#include "program_calls.hpp"

#include <algorithm>
#include <fstream>
#include <string_view>

namespace llamada::launcher {
namespace {

constexpr std::string_view names[] = {"MPI_Comm_spawn", "mpi_comm_spawn"};

/// Read in parts that overlap by a name.
constexpr std::size_t part_bytes = 1 << 20;

}  // namespace

bool names_spawn(const std::string& file) {
  std::ifstream input(file, std::ios::binary);
  std::string part;
  while (input) {
    const std::size_t kept = std::min(part.size(), names[0].size() - 1);
    part.erase(0, part.size() - kept);
    part.resize(kept + part_bytes);
    input.read(part.data() + kept, part_bytes);
    part.resize(kept + static_cast<std::size_t>(input.gcount()));
    for (const std::string_view name : names)
      if (part.find(name) != std::string::npos) return true;
  }
  return false;
}

}  // namespace llamada::launcher
