#include "llamada/dcps/entity.hpp"

#include "core.hpp"

namespace llamada::dcps {

Entity::Entity(std::shared_ptr<detail::Core> core, Entity* parent)
    : parent_(parent),
      core_(std::move(core)),
      mutex_(core_->mutex()),
      domain_is_lost_(core_->domain().is_lost()),
      status_condition_(std::make_shared<StatusCondition>()) {}

Entity::~Entity() = default;

Status Entity::why_unusable() const {
  if (Status status = check_open(); !status) return status;
  return failure(Errc::not_enabled, "the entity is not enabled; call enable()");
}

Status Entity::check_open() const {
  if (deleted_) return failure(Errc::closed, "the entity was deleted");
  return core_->domain().state();
}

// What a deletion itself waits for goes on: only calls that began before it end.
Result<bool> Entity::await(Lock& held, std::chrono::nanoseconds at_most,
                           const std::function<bool()>& condition) {
  const bool was_closing = closing_;
  const auto is_over = [&] { return deleted_ || closing_ != was_closing; };
  bool holds = false;
  (void)core_->wait_until(held, after(core_->now().monotonic, at_most), [&] {
    holds = holds || (!is_over() && condition());
    return holds || is_over();
  });
  if (holds) return true;
  if (is_over()) return failure(Errc::closed, "the entity was deleted while this call waited");
  if (Status status = core_->domain().state(); !status) return propagate(status);
  return false;
}

Status Entity::enable() {
  Lock held = lock();
  return enable_locked();
}

Status Entity::enable_locked() {
  if (Status status = check_open(); !status) return status;
  if (enabled_) return {};
  if (parent_ != nullptr && !parent_->enabled_) {
    return failure(Errc::precondition_not_met,
                   "what the entity was made by is not enabled; enable that first");
  }
  if (Status status = on_enable(); !status) return status;
  enabled_ = true;
  if (enables_children()) enable_children();
  return {};
}

Status Entity::enable_if_wanted() {
  if (parent_ != nullptr && parent_->enabled_ && parent_->enables_children()) return enable_locked();
  return {};
}

void Entity::made(Listener* listener, StatusMask mask) {
  status_condition_->entity_ = weak_from_this();
  hear(listener);
  listener_mask_ = mask;
}

Status Entity::check_child_of_topic(const Entity* topic) const {
  if (Status status = check_open(); !status) return status;
  if (topic == nullptr || topic->core_ != core_ || topic->deleted_) {
    return failure(Errc::precondition_not_met, "the topic is not one of the same participant");
  }
  return {};
}

bool Entity::is_enabled() const {
  Lock held = lock();
  return enabled_;
}

bool Entity::is_deleted() const {
  Lock held = lock();
  return deleted_;
}

InstanceHandle Entity::instance_handle() const {
  Lock held = lock();
  return handle_;
}

StatusMask Entity::status_changes() const {
  Lock held = lock();
  return status_changes_;
}

void Entity::raise(StatusMask status) {
  status_changes_ |= status;
  status_condition_->notify();
  // DATA_ON_READERS is told with the DATA_AVAILABLE that it comes from.
  if (status != status::data_on_readers) core_->plan_call(*this, status);
}

// The nearest entity, from this one upwards, whose listener wants to hear of the status
// (DDS 1.4, 2.2.4.2.3.1).
Entity* Entity::find_listener(StatusMask status) {
  for (Entity* entity = this; entity != nullptr; entity = entity->parent_) {
    if (entity->listener_ != nullptr && (entity->listener_mask_ & status) != 0) return entity;
    if (!entity->hands_on_statuses()) break;
  }
  return nullptr;
}

void Entity::replace_listener(Listener* listener, StatusMask mask) {
  Lock held = lock();
  const bool changes = listener != listener_;
  hear(listener);
  listener_mask_ = mask;
  if (changes) await_listener_calls(held);
}

void Entity::hear(Listener* listener) {
  if (listener_ != nullptr) core_->listener_calls().listener_went();
  listener_ = listener;
  if (listener_ != nullptr) core_->listener_calls().listener_came();
}

Listener* Entity::current_listener() const {
  Lock held = lock();
  return listener_;
}

void Entity::mark_deleted(Lock& held) {
  deleted_ = true;
  hear(nullptr);
  core_->look_at({});  // who waits for something of this entity waits in vain
  await_listener_calls(held);
  parent_ = nullptr;
  status_condition_->notify();
}

void Entity::await_listener_calls(Lock& held) { core_->await_no_calls(held, running_calls_); }

}  // namespace llamada::dcps
