#include "program_calls.hpp"

#include <fstream>

#include "temporary_folder.hpp"
#include "test.hpp"

using namespace llamada;
using namespace llamada::launcher;

TEST_CASE("program calls: a program that names MPI_Comm_spawn is found, wherever in its file", "[launcher]") {
  const test::TemporaryFolder folder;
  const std::string file = folder / "program";
  const std::string name = GENERATE("MPI_Comm_spawn", "mpi_comm_spawn_multiple_");
  const std::size_t at = GENERATE(0, 5, (1 << 20) - 14, (1 << 20) - 7, (1 << 20) - 1, 1 << 20, 3 << 20);
  std::ofstream(file) << std::string(at, 'x') << name << "yz";
  CHECK(names_spawn(file));
}

TEST_CASE("program calls: other programs are not", "[launcher]") {
  const test::TemporaryFolder folder;
  const std::string file = folder / "program";
  std::ofstream(file) << "MPI_Comm_spaw" << std::string(3 << 20, 'x') << "n";
  CHECK_FALSE(names_spawn(file));
  std::ofstream(file + " 2");
  CHECK_FALSE(names_spawn(file + " 2"));
  CHECK_FALSE(names_spawn(folder / "none"));
}
