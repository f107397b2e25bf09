#pragma once

#include <functional>
#include <memory>
#include <utility>

#include "llamada/dcps/entity.hpp"

namespace llamada::dcps {

/// The call of a listener's method about this entity, as Entity::listener_call() gives it. It keeps the
/// entity, and has the status's value of the moment in which it was made.
template <typename ListenerType, typename EntityType, typename Value>
std::function<void(Listener&)> call_of(std::shared_ptr<EntityType> self,
                                       void (ListenerType::*method)(EntityType&, const Value&), Value value) {
  return [self = std::move(self), method, value = std::move(value)](Listener& listener) {
    (dynamic_cast<ListenerType&>(listener).*method)(*self, value);
  };
}

/// For a status without a value.
template <typename ListenerType, typename EntityType>
std::function<void(Listener&)> call_of(std::shared_ptr<EntityType> self,
                                       void (ListenerType::*method)(EntityType&)) {
  return [self = std::move(self), method](Listener& listener) {
    (dynamic_cast<ListenerType&>(listener).*method)(*self);
  };
}

}  // namespace llamada::dcps
