#pragma once

#include <atomic>
#include <memory>
#include <mutex>

#include "dds/core/qos.hpp"
#include "dds/core/status.hpp"
#include "llamada/base/made_here.hpp"
#include "llamada/dcps/entity.hpp"

namespace dds::core {

namespace cond::detail {
class ConditionState;
}

namespace detail {

/// References of the API share this: an entity of llamada::dcps. The last reference that goes deletes it, or
/// close().
class EntityState : public std::enable_shared_from_this<EntityState> {
 public:
  explicit EntityState(std::shared_ptr<llamada::dcps::Entity> entity) : entity_(std::move(entity)) {}
  EntityState(const EntityState&) = delete;
  EntityState& operator=(const EntityState&) = delete;
  virtual ~EntityState();

  /// Throws AlreadyClosedError; PreconditionNotMetError in a child of fork().
  llamada::dcps::Entity& entity() const {
    check_made_here();
    if (is_closed_.load(std::memory_order_acquire)) raise({llamada::Errc::closed, "the entity was closed"});
    return *entity_;
  }
  const std::shared_ptr<llamada::dcps::Entity>& shared_entity() const { return entity_; }

  /// True if entity() throws nothing.
  bool is_usable() const noexcept { return made_.holds() && !is_closed_.load(std::memory_order_acquire); }
  bool is_of_this_process() const noexcept { return made_.holds(); }

  /// Deletes the entity, and with it those that were made of it; a second time does nothing. A deletion that
  /// fails throws, and the entity is unchanged. In a child of fork() only this copy is closed.
  void close();
  /// Keeps the entity until it is closed, even without references.
  void retain() { self_ = shared_from_this(); }
  /// The entity's one StatusCondition. Throws AlreadyClosedError.
  std::shared_ptr<cond::detail::ConditionState> status_condition();

 protected:
  virtual llamada::Status remove() = 0;
  /// For destructors of what derives: as close(), but nobody hears of a failure.
  void close_silently() noexcept;

 private:
  void check_made_here() const {
    if (!made_.holds()) [[unlikely]]
      value_of(made_.check());
  }

  std::shared_ptr<llamada::dcps::Entity> entity_;
  const llamada::MadeHere made_;
  std::atomic<bool> is_closed_{false};
  std::shared_ptr<EntityState> self_;
  std::once_flag status_condition_made_;
  std::shared_ptr<cond::detail::ConditionState> status_condition_;
};

// Listeners hear of entities of the layer below; these functions find the state that references share.

/// While one lives, an entity is being made: await_state() waits for it.
class Making {
 public:
  Making();
  Making(const Making&) = delete;
  Making& operator=(const Making&) = delete;
  ~Making();
};
/// From now on, and as long as it lives, the state of its entity.
void make_known(const std::shared_ptr<EntityState>& state);
/// Returns nullptr if there is none, or no longer.
std::shared_ptr<EntityState> known_state(const llamada::dcps::Entity& entity);
/// Like known_state(), for an entity that is perhaps just being made.
std::shared_ptr<EntityState> await_state(const llamada::dcps::Entity& entity);

/// A listener in the form of the layer below; its `adapter` may be nullptr.
template <typename NativeListener>
struct Listening {
  std::unique_ptr<NativeListener> adapter;
  llamada::dcps::StatusMask mask = llamada::dcps::status::none;
};

template <typename Adapter, typename Listener>
std::unique_ptr<Adapter> adapt(Listener* listener) {
  return listener != nullptr ? std::make_unique<Adapter>(*listener) : nullptr;
}

/// Calls a method of a listener with a reference to the entity, and with its status if it has one.
template <typename Reference, typename Listener, typename Method, typename... Statuses>
void tell(Listener& listener, Method method, const llamada::dcps::Entity& entity,
          const Statuses&... statuses) {
  auto state = std::static_pointer_cast<typename Reference::State>(await_state(entity));
  if (!state) return;
  Reference reference(std::move(state));
  (listener.*method)(reference, statuses...);
}

/// The state of an entity with policies and a listener.
template <typename NativeEntity>
class ConfiguredState : public EntityState {
 public:
  using Native = NativeEntity;
  using NativeListener = std::remove_pointer_t<decltype(std::declval<const Native&>().listener())>;

  explicit ConfiguredState(std::shared_ptr<Native> native) : EntityState(std::move(native)) {}
  /// An entity that could not be deleted goes on without the listener.
  ~ConfiguredState() override {
    if (!is_of_this_process()) return;
    auto& native = static_cast<Native&>(*shared_entity());
    if (adapter_ != nullptr && native.listener() == adapter_.get())
      native.set_listener(nullptr, llamada::dcps::status::none);
  }

  /// The listener that the entity was made with.
  void adopt(std::unique_ptr<NativeListener> adapter) { adapter_ = std::move(adapter); }
  void listen(Listening<NativeListener> listening) {
    static_cast<Native&>(entity()).set_listener(listening.adapter.get(), listening.mask);
    adapter_ = std::move(listening.adapter);
  }
  /// Returns the listener of the API behind the adapter; nullptr if it is of another kind.
  template <typename Adapter>
  auto* heard_by() const {
    const auto* adapter = dynamic_cast<const Adapter*>(adapter_.get());
    return adapter != nullptr ? &adapter->listener() : nullptr;
  }

 private:
  std::unique_ptr<NativeListener> adapter_;
};

}  // namespace detail

/// A reference to shared state (ISO C++ PSM, 7.4): copies are the same thing, == compares identity,
/// dds::core::null is none, and compares as nullptr does.
template <typename StateType>
class Reference {
 public:
  using State = StateType;

  Reference(null_type) {}  // NOLINT: implicit by intent
  explicit Reference(std::shared_ptr<State> state) : state_(std::move(state)) {}

  bool is_nil() const { return state_ == nullptr; }
  explicit operator bool() const { return state_ != nullptr; }
  friend bool operator==(const Reference& a, null_type) { return a.is_nil(); }
  friend bool operator==(const Reference& a, std::nullptr_t) { return a.is_nil(); }

  /// For the parts of the API itself. Throws NullReferenceError.
  State& state() const {
    if (state_ == nullptr) throw NullReferenceError("the reference is null");
    return *state_;
  }
  const std::shared_ptr<State>& shared_state() const { return state_; }

 protected:
  std::shared_ptr<State> state_;
};

template <typename A, typename B>
bool operator==(const Reference<A>& a, const Reference<B>& b) {
  return a.shared_state() == b.shared_state();
}

/// A reference that does not keep what it refers to (ISO C++ PSM, 7.4): `WeakReference<Topic<T>>`. Any
/// thread.
template <typename T>
class WeakReference {
 public:
  using ReferenceType = T;

  WeakReference() = default;
  WeakReference(const T& reference) : state_(reference.shared_state()) {}  // NOLINT: implicit by intent

  /// True if nobody keeps the entity, or if there never was one.
  bool expired() const { return state_.expired(); }
  /// null if it expired.
  T lock() const { return T(state_.lock()); }

 private:
  std::weak_ptr<typename T::State> state_;
};

/// The operations of all entities (DDS 1.4, 2.2.2.1.1; ISO C++ PSM, 7.5.8). Any thread.
template <typename State>
class EntityReference : public Reference<State> {
 public:
  using Reference<State>::Reference;

  void enable() { detail::value_of(this->state().entity().enable()); }
  status::StatusMask status_changes() const {
    return status::StatusMask(this->state().entity().status_changes());
  }
  InstanceHandle instance_handle() const { return InstanceHandle(this->state().entity().instance_handle()); }
  /// Closes the entity and what was made of it: the writers of a publisher, the readers of a subscriber, the
  /// conditions of a reader. Throws PreconditionNotMetError, and changes nothing, while samples of a reader
  /// are on loan or a topic is in use.
  void close() { this->state().close(); }
  void retain() { this->state().retain(); }
};

/// An entity of any kind (DDS 1.4, 2.2.2.1.1; ISO C++ PSM, 7.5.8). polymorphic_cast<>() gives it back as what
/// it is.
class Entity : public EntityReference<detail::EntityState> {
 public:
  using EntityReference::EntityReference;
  template <typename State>
  Entity(const EntityReference<State>& other)  // NOLINT: implicit by intent
      : EntityReference(other.shared_state()) {}
};

/// Returns the entity or topic description as a `To`, for example a DataReader<T> for an Entity or an
/// AnyDataReader (ISO C++ PSM, 7.4). null stays null. Throws InvalidDowncastError if it is no `To`.
template <typename To, typename From>
To polymorphic_cast(const From& from) {
  static_assert(
      requires(const To& to) { to.check_data_type(); } ||
          std::is_base_of_v<detail::EntityState, typename To::State>,
      "polymorphic_cast gives entities and topic descriptions");
  auto state = std::dynamic_pointer_cast<typename To::State>(from.shared_state());
  if (state == nullptr && !from.is_nil())
    throw InvalidDowncastError("polymorphic_cast: the reference is to an entity of another kind");
  To to(std::move(state));
  if constexpr (requires { to.check_data_type(); })
    if (!to.is_nil()) to.check_data_type();
  return to;
}

/// An entity of llamada::dcps with policies. `NativeEntity` is its class there, `QosType` the EntityQos of
/// its policies.
template <typename State, typename NativeEntity, typename QosType>
class ConfiguredReference : public EntityReference<State> {
 public:
  using EntityReference<State>::EntityReference;

  QosType qos() const { return QosType(native().qos()); }
  void qos(const QosType& qos) { detail::value_of(native().set_qos(qos.native())); }
  /// Sets or gets the policies as a stream: `writer << qos`, `writer >> qos`.
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
