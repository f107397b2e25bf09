#include "object/communicator.hpp"

#include <fmt/format.h>

namespace llamada::mpi {

std::string Communicator::description() const {
  if (name_.empty() && is_inter())
    return fmt::format("an intercommunicator of {} and {} ranks", size(), remote_group_->size());
  return name_.empty() ? fmt::format("a communicator of {} ranks", size()) : name_;
}

}  // namespace llamada::mpi
