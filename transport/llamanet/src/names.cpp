#include "names.hpp"

namespace llamada::llamanet {
namespace {

Named refused(Errc code) { return {code, false, {}}; }

}  // namespace

Named Names::handle(std::uint32_t slot, const Name& request) {
  if (request.action == NameAction::publish) return publish(slot, request);
  const auto found = entries_.find({request.space, request.name});
  if (found == entries_.end()) return refused(Errc::not_found);
  Named answer{Errc::not_found, true, found->second.value};
  if (request.action == NameAction::withdraw) entries_.erase(found);
  return answer;
}

Named Names::publish(std::uint32_t slot, const Name& request) {
  if (entries_.size() >= count_max) return refused(Errc::out_of_resources);
  const bool is_new = entries_.try_emplace({request.space, request.name}, Entry{slot, request.value}).second;
  return is_new ? Named{Errc::not_found, true, {}} : refused(Errc::already_exists);
}

void Names::application_gone(std::uint32_t slot) {
  std::erase_if(entries_, [slot](const auto& entry) {
    return entry.first.first == NameSpace::ports && entry.second.slot == slot;
  });
}

}  // namespace llamada::llamanet
