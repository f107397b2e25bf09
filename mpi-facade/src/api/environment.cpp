#include <unistd.h>

#include <array>
#include <cstdlib>

#include "runtime/arguments.hpp"
#include "runtime/strings.hpp"

// MPI 3.1, 8.1, 8.2 and 14.2.4: what the program may ask of its surroundings.
using namespace llamada::mpi;

LLAMADA_MPI_FUNCTION(Get_version)
int PMPI_Get_version(int* version, int* subversion) {
  *version = MPI_VERSION;
  *subversion = MPI_SUBVERSION;
  return MPI_SUCCESS;
}

LLAMADA_MPI_FUNCTION(Get_library_version)
int PMPI_Get_library_version(char* version, int* length) {
  give_string("Llamada " LLAMADA_VERSION ", MPI 3.1 with MPICH's binary interface", version, length);
  return MPI_SUCCESS;
}

LLAMADA_MPI_FUNCTION(Get_processor_name)
int PMPI_Get_processor_name(char* name, int* length) {
  LLAMADA_MPI_ENTER(Get_processor_name);
  if (int code = check_pointer(nullptr, name, "name")) return code;
  if (int code = check_pointer(nullptr, length, "length")) return code;
  std::string& known = runtime().processor_name;
  if (known.empty()) {
    std::array<char, MPI_MAX_PROCESSOR_NAME> host{};
    known = gethostname(host.data(), host.size() - 1) == 0 ? host.data() : "localhost";
  }
  give_string(known.substr(0, MPI_MAX_PROCESSOR_NAME - 1), name, length);
  return MPI_SUCCESS;
}

LLAMADA_MPI_FUNCTION(Alloc_mem)
int PMPI_Alloc_mem(MPI_Aint size, MPI_Info, void* base) {
  LLAMADA_MPI_ENTER(Alloc_mem);
  if (int code = check_pointer(nullptr, base, "base")) return code;
  if (size < 0) return report(nullptr, MPI_ERR_ARG, fmt::format("the size is {}", size));
  void* memory = std::malloc(size == 0 ? 1 : static_cast<std::size_t>(size));
  if (!memory) return report(nullptr, MPI_ERR_NO_MEM, fmt::format("there is no memory for {} bytes", size));
  *static_cast<void**>(base) = memory;
  return MPI_SUCCESS;
}

LLAMADA_MPI_FUNCTION(Free_mem)
int PMPI_Free_mem(void* base) {
  LLAMADA_MPI_ENTER(Free_mem);
  std::free(base);
  return MPI_SUCCESS;
}

LLAMADA_MPI_FUNCTION(Pcontrol)
int PMPI_Pcontrol(const int, ...) { return MPI_SUCCESS; }
