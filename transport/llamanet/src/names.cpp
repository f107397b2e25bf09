#include "names.hpp"

namespace llamada::llamanet {
namespace {

constexpr std::uint32_t number_of(NameSpace space) { return static_cast<std::uint32_t>(space); }

Named answer_of(const Status& status) {
  return status ? Named{Errc::not_found, true, {}} : Named{status.error().code(), false, {}};
}

}  // namespace

Named Names::handle(std::uint32_t slot, const Name& request) {
  const std::uint32_t space = number_of(request.space);
  switch (request.action) {
    case NameAction::publish:
      return answer_of(table_.publish(space, request.name, request.value, slot));
    case NameAction::withdraw:
      return answer_of(table_.withdraw(space, request.name));
    case NameAction::look_up:
      break;
  }
  const auto found = table_.look_up(space, request.name);
  return found ? Named{Errc::not_found, true, *found} : Named{found.error().code(), false, {}};
}

void Names::application_gone(std::uint32_t slot) { table_.drop(number_of(NameSpace::ports), slot); }

}  // namespace llamada::llamanet
