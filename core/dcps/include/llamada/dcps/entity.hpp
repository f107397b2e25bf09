#pragma once

#include <chrono>
#include <cstdint>
#include <functional>
#include <memory>
#include <mutex>

#include "llamada/base/biased_mutex.hpp"
#include "llamada/base/result.hpp"
#include "llamada/dcps/condition.hpp"
#include "llamada/dcps/instance_handle.hpp"
#include "llamada/dcps/listener.hpp"
#include "llamada/dcps/status.hpp"
#include "llamada/qos/entity_qos.hpp"

namespace llamada::dcps {

class DomainParticipant;

namespace detail {
class Core;
class ListenerCalls;
class ServedEntities;
using Lock = std::unique_lock<BiasedMutex>;
}  // namespace detail

/// What all entities have (DDS 1.4, 2.2.2.1.1): a handle, a StatusCondition, statuses, being enabled.
///
/// Threads: any may call any entity; each participant has one lock, which is not held while listeners run.
/// Entities belong to what made them. One that was deleted may still be held; its operations then fail with
/// Errc::closed, and so does a call that waits in another thread while the entity is deleted. A participant
/// whose domain is gone for good fails the same way: its matches end, and all its operations but the getters
/// give the same error.
class Entity : public std::enable_shared_from_this<Entity> {
 public:
  virtual ~Entity();
  Entity(const Entity&) = delete;
  Entity& operator=(const Entity&) = delete;

  /// Nothing of an entity works before, but its policies, its listener and its StatusCondition. Errors:
  /// precondition_not_met (what made it is not enabled), and what making it for good may fail with.
  Status enable();
  bool is_enabled() const;
  bool is_deleted() const;
  /// handle_nil while it is not enabled.
  InstanceHandle instance_handle() const;
  /// The statuses that have changed since they were read.
  StatusMask status_changes() const;
  std::shared_ptr<StatusCondition> status_condition() const { return status_condition_; }

 protected:
  using Lock = detail::Lock;
  friend class detail::ListenerCalls;
  friend class Condition;
  friend class StatusCondition;
  friend class ReadCondition;
  friend class DomainParticipant;
  friend class DomainParticipantFactory;
  friend class Publisher;
  friend class Subscriber;

  Entity(std::shared_ptr<detail::Core> core, Entity* parent);

  detail::Core& core() const { return *core_; }
  const std::shared_ptr<detail::Core>& shared_core() const { return core_; }
  Lock lock() const { return Lock(mutex_); }

  // With the lock held:

  /// Why nothing can be done: closed, not_enabled.
  Status check_usable() const {
    if (enabled_ && !deleted_ && !domain_is_lost_) [[likely]]
      return {};
    return why_unusable();
  }
  /// Errors: closed (the entity was deleted, or the domain is gone).
  Status check_open() const;
  /// Waits until `condition` holds; it is asked with the lock held, perhaps by another thread. False: the
  /// time is over. Errors: closed (the entity is being deleted, or the domain is gone).
  Result<bool> await(Lock& held, std::chrono::nanoseconds at_most, const std::function<bool()>& condition);
  Status enable_locked();
  /// To be called by what makes it.
  void made(Listener* listener, StatusMask mask);
  Status enable_if_wanted();
  /// Whether this entity may make one of the topic: precondition_not_met, closed.
  Status check_child_of_topic(const Entity* topic) const;

  /// What is left to do when it is enabled.
  virtual Status on_enable() { return {}; }
  /// The parent is enabled and so, if its ENTITY_FACTORY says so, must be the children.
  virtual void enable_children() {}
  virtual bool enables_children() const { return false; }
  /// Whether what no listener here wants to hear is told to the parent's.
  virtual bool hands_on_statuses() const { return true; }
  /// The status has changed: for the condition, and for a listener.
  void raise(StatusMask status);
  /// Its value is read: `value`'s changes begin anew.
  template <typename StatusValue>
  StatusValue take_status(StatusValue& value, StatusMask status) {
    StatusValue taken = value;
    value.forget_changes();
    status_changes_ &= ~status;
    return taken;
  }
  /// The policies that children are made with; not with the lock held.
  template <typename ChildQos>
  Status set_default(ChildQos& place, const ChildQos& qos);
  template <typename StatusValue>
  StatusValue read_status(StatusValue& value, StatusMask status) {
    Lock held = lock();
    return take_status(value, status);
  }
  StatusMask changed_statuses() const { return status_changes_; }
  void clear_status(StatusMask status) { status_changes_ &= ~status; }

  /// Takes the status's value and gives the call of the listener's method that tells it.
  virtual std::function<void(Listener&)> listener_call(StatusMask) { return {}; }

  /// Never again. Waits for calls of listeners that are about it or its own, unless this is one of them.
  void mark_deleted(Lock& held);
  void await_listener_calls(Lock& held);
  void hear(Listener* listener);
  Entity* find_listener(StatusMask status);
  std::uint32_t running_calls() const { return running_calls_; }

  // Without:

  void replace_listener(Listener* listener, StatusMask mask);
  Listener* current_listener() const;

  Entity* parent_ = nullptr;
  bool enabled_ = false;
  bool deleted_ = false;
  /// It is about to be deleted: calls that wait for it end.
  bool closing_ = false;
  InstanceHandle handle_;

 private:
  Status why_unusable() const;

  std::shared_ptr<detail::Core> core_;
  BiasedMutex& mutex_;          // the core's
  const bool& domain_is_lost_;  // the core's
  std::shared_ptr<StatusCondition> status_condition_;
  StatusMask status_changes_ = 0;
  StatusMask pending_calls_ = 0;
  Listener* listener_ = nullptr;
  StatusMask listener_mask_ = 0;
  std::uint32_t running_calls_ = 0;
};

/// Errc::inconsistent_policy if no entity can be made with these policies.
template <typename QosType>
Status check_creatable(const QosType& qos) {
  const Status status = qos::check_consistent(qos);
  if (status) return {};
  return tl::unexpected<Error>(Error(Errc::inconsistent_policy, status.error().text()));
}

template <typename ChildQos>
Status Entity::set_default(ChildQos& place, const ChildQos& qos) {
  if (Status status = check_creatable(qos); !status) return status;
  Lock held = lock();
  place = qos;
  return {};
}

/// An entity with policies and a listener: how they are set and read is the same for all.
template <typename QosType, typename ListenerType>
class ConfiguredEntity : public Entity {
 public:
  QosType qos() const {
    Lock held = lock();
    return qos_;
  }

  /// Errors: inconsistent_policy, immutable_policy (it is enabled), closed, and what applying them fails
  /// with; the old policies stay then.
  Status set_qos(const QosType& qos) {
    Lock held = lock();
    if (Status status = check_open(); !status) return status;
    if (Status status = check_creatable(qos); !status) return status;
    if (!enabled_) {
      qos_ = qos;
      return {};
    }
    if (Status status = qos::check_changeable(qos_, qos); !status) return immutable(status.error());
    if (Status status = apply_qos(qos); !status) return status;
    qos_ = qos;
    on_qos_applied(held);
    return {};
  }

  /// nullptr: none. When it returns no call of the old listener is under way, unless this is called from it.
  void set_listener(ListenerType* listener, StatusMask mask = status::all) {
    replace_listener(listener, mask);
  }
  ListenerType* listener() const { return dynamic_cast<ListenerType*>(current_listener()); }

 protected:
  ConfiguredEntity(std::shared_ptr<detail::Core> core, Entity* parent, const QosType& qos)
      : Entity(std::move(core), parent), qos_(qos) {}

  /// The entity is enabled and `qos` is consistent and may be changed to. With the lock held.
  virtual Status apply_qos(const QosType&) { return {}; }
  virtual void on_qos_applied(Lock&) {}

  QosType qos_;

 private:
  static Status immutable(const Error& error) {
    return tl::unexpected<Error>(Error(Errc::immutable_policy, error.text()));
  }
};

}  // namespace llamada::dcps
