#include "world/own_programs.hpp"

#include "llamada/llamanet/background_program.hpp"

namespace llamada::mpi {

Status start_own_program(const std::string& name, std::vector<std::string> arguments,
                         std::vector<int> descriptors) {
  const auto program = llamanet::find_own_program(name);
  if (!program)
    return failure(Errc::not_found, "no {} lies beside this program, or in bin beside libmpi's folder", name);
  arguments.insert(arguments.begin(), name);
  return llamanet::start_in_background({*program, std::move(arguments), std::move(descriptors), {}});
}

}  // namespace llamada::mpi
