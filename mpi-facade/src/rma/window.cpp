#include "rma/window.hpp"

#include <fmt/core.h>

namespace llamada::mpi {

Window::Window(int flavor, Reference<Group> group, std::vector<WindowMember> members,
               rma::WindowSegment segment, Reference<ErrorHandler> error_handler)
    : flavor_(flavor),
      group_(std::move(group)),
      members_(std::move(members)),
      segment_(std::move(segment)),
      control_(segment_.control(*group_)),
      error_handler_(std::move(error_handler)),
      batches_(members_.size()),
      info_(make_counted<Info>()),
      own_size_(static_cast<MPI_Aint>(self().size_bytes)),
      own_unit_(self().displacement_unit) {
  epochs_.is_started.resize(members_.size());
  epochs_.locks.resize(members_.size());
  epochs_.starts.resize(members_.size());
  epochs_.exposures.resize(members_.size());
}

std::string Window::description() const {
  return name_.empty() ? fmt::format("a window of {} ranks", size()) : name_;
}

std::optional<void*> Window::predefined_attribute(int keyval) {
  switch (keyval) {
    case MPI_WIN_BASE:
      return reinterpret_cast<void*>(self().base);
    case MPI_WIN_SIZE:
      return &own_size_;
    case MPI_WIN_DISP_UNIT:
      return &own_unit_;
    case MPI_WIN_CREATE_FLAVOR:
      return &flavor_;
    case MPI_WIN_MODEL:
      return &model_;
    default:
      return std::nullopt;
  }
}

}  // namespace llamada::mpi
