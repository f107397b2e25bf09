#include "llamada/launcher/mpirun.hpp"

#include "llamada/mpi/calls.hpp"

int main(int argc, char** argv) {
  return llamada::launcher::run_mpirun(argc, argv, [](std::string_view name) {
    return llamada::mpi::find_call(name) != llamada::mpi::CallId::none;
  });
}
