#include "slot_state.hpp"

namespace llamada::tools {

using llamanet::SlotState;

std::string_view state_name(const llamanet::Inspector::Slot& slot) {
  if (slot.state == SlotState::expected) return "starting";
  if (slot.state == SlotState::dead) return "dead";
  if (slot.state == SlotState::done) return "done";
  if (is_lost(slot.state)) return "lost";
  if (slot.other_node) return "running";  // it has no arena here
  const auto view = slot.view();
  switch (view.state()) {
    case log::ArenaState::in_program:
      return view.replaying() ? "replaying" : "running";
    case log::ArenaState::finalized:
      return "finalized";
    case log::ArenaState::exiting:
      return "exiting";
    default:
      return "attached";
  }
}

}  // namespace llamada::tools
