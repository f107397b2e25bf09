// From entities of the layer below to what references share of them.

#include <condition_variable>
#include <mutex>
#include <unordered_map>

#include "dds/core/entity.hpp"

namespace dds::core::detail {

namespace {

struct KnownStates {
  std::mutex mutex;
  std::condition_variable making_ended;
  std::size_t making_count = 0;
  /// The first is for comparison only: states that are going away are here, too.
  std::unordered_multimap<const llamada::dcps::Entity*,
                          std::pair<const EntityState*, std::weak_ptr<EntityState>>>
      all;

  std::shared_ptr<EntityState> find(const llamada::dcps::Entity& entity) const {
    const auto [first, last] = all.equal_range(&entity);
    for (auto each = first; each != last; ++each)
      if (auto state = each->second.second.lock()) return state;
    return nullptr;
  }
};

/// A program's listeners may hear of any participant's entities. Never destroyed: entities may be static.
KnownStates& known_states() {
  static constinit llamada::OfThisProcess<KnownStates> states;
  return states.get();
}

}  // namespace

Making::Making() {
  const std::lock_guard held(known_states().mutex);
  ++known_states().making_count;
}

Making::~Making() {
  auto& states = known_states();
  const std::lock_guard held(states.mutex);
  --states.making_count;
  states.making_ended.notify_all();
}

void make_known(const std::shared_ptr<EntityState>& state) {
  auto& states = known_states();
  const std::lock_guard held(states.mutex);
  states.all.emplace(state->shared_entity().get(), std::pair(state.get(), state));
  states.making_ended.notify_all();
}

std::shared_ptr<EntityState> known_state(const llamada::dcps::Entity& entity) {
  auto& states = known_states();
  const std::lock_guard held(states.mutex);
  return states.find(entity);
}

std::shared_ptr<EntityState> await_state(const llamada::dcps::Entity& entity) {
  auto& states = known_states();
  std::unique_lock held(states.mutex);
  std::shared_ptr<EntityState> found;
  states.making_ended.wait(
      held, [&] { return (found = states.find(entity)) != nullptr || states.making_count == 0; });
  return found;
}

EntityState::~EntityState() {
  if (!made_.holds()) {
    llamada::keep_for_good(std::move(entity_));
    return;
  }
  auto& states = known_states();
  const std::lock_guard held(states.mutex);
  const auto [first, last] = states.all.equal_range(entity_.get());
  for (auto each = first; each != last; ++each)
    if (each->second.first == this) {
      states.all.erase(each);
      return;
    }
}

}  // namespace dds::core::detail
