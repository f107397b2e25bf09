#include "runtime/protection.hpp"

#include <mpi.h>

#include "runtime/runtime.hpp"
#include "world/world.hpp"

namespace llamada::mpi {
namespace {

std::string sentence(const char* what) {
  const CallCounter& calls = runtime().calls;
  return fmt::format("{}, its MPI call {}: {} cannot be repeated by a replacement",
                     call_name(calls.current()), calls.begun(), what);
}

}  // namespace

int give_up_protection(const char* what) {
  give_up_protection(*runtime().world, sentence(what));
  return MPI_SUCCESS;
}

}  // namespace llamada::mpi
