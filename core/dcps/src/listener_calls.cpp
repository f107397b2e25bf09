#include "listener_calls.hpp"

#include <functional>
#include <utility>

namespace llamada::dcps::detail {

// Agrees with call(), which finds out who is told.
bool ListenerCalls::wants_call(Entity& entity, StatusMask status) {
  if (entity.find_listener(status) != nullptr) return true;
  return status == status::data_available && entity.parent_ != nullptr &&
         entity.parent_->find_listener(status::data_on_readers) != nullptr;
}

bool ListenerCalls::plan_wanted(Entity& entity, StatusMask status) {
  if ((entity.pending_calls_ & status) != 0 || !wants_call(entity, status)) return false;
  entity.pending_calls_ |= status;
  planned_.push_back({entity.weak_from_this(), status, false});
  return true;
}

void ListenerCalls::plan_data_call(Entity& reader) {
  planned_.push_back({reader.weak_from_this(), status::data_available, true});
}

void ListenerCalls::call_all(Lock& held, const bool& stopping) {
  for (std::size_t count = planned_.size(); count > 0 && !stopping; --count) {
    const PlannedCall planned = std::move(planned_.front());
    planned_.pop_front();
    call(held, planned);
  }
}

void ListenerCalls::call(Lock& held, const PlannedCall& planned) {
  const std::shared_ptr<Entity> subject = planned.entity.lock();
  if (!subject) return;
  subject->pending_calls_ &= ~planned.status;
  if (subject->deleted_ || (subject->status_changes_ & planned.status) == 0) return;
  // The subscriber's listener, or the participant's, hears of new data first.
  if (planned.status == status::data_available && !planned.direct) {
    Entity* subscriber = subject->parent_;
    if ((subscriber->status_changes_ & status::data_on_readers) != 0) {
      if (Entity* holder = subscriber->find_listener(status::data_on_readers)) {
        return tell(held, *subscriber, *holder, status::data_on_readers);
      }
    } else if (subscriber->find_listener(status::data_on_readers) != nullptr) {
      return;  // it has been told
    }
  }
  if (Entity* holder = subject->find_listener(planned.status)) tell(held, *subject, *holder, planned.status);
}

void ListenerCalls::tell(Lock& held, Entity& subject, Entity& holder, StatusMask status) {
  const auto subject_lives = subject.weak_from_this().lock();
  const auto holder_lives = holder.weak_from_this().lock();
  const std::function<void(Listener&)> call = subject.listener_call(status);
  Listener* listener = holder.listener_;
  if (!call || !subject_lives || !holder_lives) return;
  ++subject.running_calls_;
  ++holder.running_calls_;
  held.unlock();
  call(*listener);
  held.lock();
  --subject.running_calls_;
  --holder.running_calls_;
  ended_.notify_all();
}

void ListenerCalls::await_none(Lock& held, const std::uint32_t& running_calls) {
  ended_.wait(held, [&] { return running_calls == 0; });
}

}  // namespace llamada::dcps::detail
