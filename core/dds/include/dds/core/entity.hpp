#pragma once

#include <atomic>
#include <condition_variable>
#include <memory>
#include <mutex>

#include "dds/core/qos.hpp"
#include "dds/core/status.hpp"
#include "llamada/dcps/entity.hpp"

namespace dds::core {

struct null_type {};
inline constexpr null_type null{};

namespace detail {

/// What references of the API share: an entity of llamada::dcps, which is deleted when the last reference
/// goes, or by close().
class EntityState : public std::enable_shared_from_this<EntityState> {
 public:
  explicit EntityState(std::shared_ptr<llamada::dcps::Entity> entity) : entity_(std::move(entity)) {}
  EntityState(const EntityState&) = delete;
  EntityState& operator=(const EntityState&) = delete;
  virtual ~EntityState() = default;

  /// Throws AlreadyClosedError.
  llamada::dcps::Entity& entity() const {
    if (is_closed_.load(std::memory_order_acquire)) raise({llamada::Errc::closed, "the entity was closed"});
    return *entity_;
  }
  const std::shared_ptr<llamada::dcps::Entity>& shared_entity() const { return entity_; }

  /// Deletes the entity; a second time does nothing. What deletion fails with is thrown, and the entity is as
  /// it was.
  void close();
  /// Keeps the entity until it is closed, even without references.
  void retain() { self_ = shared_from_this(); }

 protected:
  virtual llamada::Status remove() = 0;
  /// For destructors of what derives: as close(), but nobody hears of a failure.
  void close_silently() noexcept;

 private:
  std::shared_ptr<llamada::dcps::Entity> entity_;
  std::atomic<bool> is_closed_{false};
  std::shared_ptr<EntityState> self_;
};

/// The state that a listener is about, which is made after the listener: its first calls wait for it. Does
/// not keep it.
template <typename State>
class LateState {
 public:
  void bind(const std::shared_ptr<State>& state) {
    const std::lock_guard held(mutex_);
    state_ = state;
    is_bound_ = true;
    bound_.notify_all();
  }
  /// nullptr: it is gone.
  std::shared_ptr<State> get() {
    std::unique_lock held(mutex_);
    bound_.wait(held, [&] { return is_bound_; });
    return state_.lock();
  }

 private:
  std::mutex mutex_;
  std::condition_variable bound_;
  std::weak_ptr<State> state_;
  bool is_bound_ = false;
};

}  // namespace detail

/// A reference to shared state (ISO C++ PSM, 7.4): copies are the same thing, == compares identity,
/// dds::core::null is none.
template <typename State>
class Reference {
 public:
  Reference(null_type) {}  // NOLINT: implicit by intent
  explicit Reference(std::shared_ptr<State> state) : state_(std::move(state)) {}

  bool is_nil() const { return state_ == nullptr; }
  explicit operator bool() const { return state_ != nullptr; }
  friend bool operator==(const Reference& a, const Reference& b) { return a.state_ == b.state_; }
  friend bool operator==(const Reference& a, null_type) { return a.is_nil(); }

  /// For the parts of the API itself. Throws NullReferenceError.
  State& state() const {
    if (state_ == nullptr) throw NullReferenceError("the reference is null");
    return *state_;
  }
  const std::shared_ptr<State>& shared_state() const { return state_; }

 protected:
  std::shared_ptr<State> state_;
};

/// What all entities can (7.5.8).
template <typename State>
class EntityReference : public Reference<State> {
 public:
  using Reference<State>::Reference;

  void enable() { detail::value_of(this->state().entity().enable()); }
  status::StatusMask status_changes() const {
    return status::StatusMask(this->state().entity().status_changes());
  }
  InstanceHandle instance_handle() const { return InstanceHandle(this->state().entity().instance_handle()); }
  void close() { this->state().close(); }
  void retain() { this->state().retain(); }
};

/// An entity of llamada::dcps with policies. `NativeEntity` is its class there, `QosType` the EntityQos of
/// its policies.
template <typename State, typename NativeEntity, typename QosType>
class ConfiguredReference : public EntityReference<State> {
 public:
  using EntityReference<State>::EntityReference;

  QosType qos() const { return QosType(native().qos()); }
  void qos(const QosType& qos) { detail::value_of(native().set_qos(qos.native())); }
  /// The same, as streams have it: `writer << qos`, `writer >> qos`.
  ConfiguredReference& operator<<(const QosType& qos) {
    this->qos(qos);
    return *this;
  }
  const ConfiguredReference& operator>>(QosType& qos) const {
    qos = this->qos();
    return *this;
  }

  /// The entity below; throws AlreadyClosedError, NullReferenceError.
  NativeEntity& native() const { return static_cast<NativeEntity&>(this->state().entity()); }
  std::shared_ptr<NativeEntity> shared_native() const {
    return std::static_pointer_cast<NativeEntity>(this->state().shared_entity());
  }
};

}  // namespace dds::core
