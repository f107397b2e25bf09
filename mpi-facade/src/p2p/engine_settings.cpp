#include "p2p/engine.hpp"

// What tools may set while the program runs (MPI 3.1, 14.3.6).

namespace llamada::mpi {

void Engine::set_eager_bytes_max(std::uint64_t bytes) {
  options_.eager_bytes_max = static_cast<std::size_t>(bytes);
  outgoing_->set_eager_bytes_max(options_.eager_bytes_max);
}

void Engine::set_direct_bytes_min(std::uint64_t bytes) {
  options_.direct_bytes_min = static_cast<std::size_t>(bytes);
  outgoing_->set_direct_bytes_min(options_.direct_bytes_min);
}

void Engine::set_spin_rounds(std::uint64_t rounds) {
  spin_rounds_ = static_cast<unsigned>(rounds);
  if (shared_) shared_->options().spin_rounds = spin_rounds_;
}

void Engine::set_yields_before_sleep(std::uint64_t yields) {
  options_.yields_before_sleep = static_cast<unsigned>(yields);
  if (shared_) shared_->options().yields_before_sleep = options_.yields_before_sleep;
}

}  // namespace llamada::mpi
