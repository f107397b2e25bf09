#include "reader_instance.hpp"

#include <algorithm>

namespace llamada::dcps {

void ReaderInstance::revive() {
  if (state_ == instance_state::not_alive_disposed)
    ++disposed_generation_count_;
  else
    ++no_writers_generation_count_;
  state_ = instance_state::alive;
  view_ = view_state::new_view;
}

bool ReaderInstance::dispose() {
  if (state_ == instance_state::not_alive_disposed) return false;
  state_ = instance_state::not_alive_disposed;
  return true;
}

bool ReaderInstance::remove_writer(const topics::EndpointId& writer) {
  auto found =
      std::find_if(writers_.begin(), writers_.end(), [&](const Writer& each) { return each.id == writer; });
  if (found == writers_.end()) return false;
  writers_.erase(found);
  if (!writers_.empty() || state_ != instance_state::alive) return false;
  state_ = instance_state::not_alive_no_writers;
  return true;
}

}  // namespace llamada::dcps
