#include "object/communicator.hpp"

#include <fmt/format.h>

namespace llamada::mpi {

std::string Communicator::description() const {
  return name_.empty() ? fmt::format("a communicator of {} ranks", size()) : name_;
}

}  // namespace llamada::mpi
