#pragma once

#include <functional>
#include <mutex>

#include "dds/core/entity.hpp"
#include "dds/sub/sub.hpp"

// Conditions and wait sets (DDS 1.4, 2.2.2.1.6 to 2.2.2.1.9; ISO C++ PSM, 7.5.7).
namespace dds::core::cond {

namespace detail {

/// A condition, and what WaitSet::dispatch() calls for it. Any thread.
class ConditionState {
 public:
  explicit ConditionState(std::shared_ptr<llamada::dcps::Condition> native) : native_(std::move(native)) {}
  ConditionState(const ConditionState&) = delete;
  ConditionState& operator=(const ConditionState&) = delete;
  virtual ~ConditionState() = default;
  /// Throws PreconditionNotMetError in a child of fork().
  const std::shared_ptr<llamada::dcps::Condition>& native() const {
    core::detail::value_of(made_.check());
    return native_;
  }
  bool is_of_this_process() const { return made_.holds(); }

  void handler(std::function<void()> handler) {
    std::lock_guard held(mutex_);
    handler_.swap(handler);
  }
  void dispatch();

 private:
  const llamada::MadeHere made_;
  std::shared_ptr<llamada::dcps::Condition> native_;
  std::mutex mutex_;
  std::function<void()> handler_;
};

/// A condition of a reader, which the reader has until this goes.
class ReadConditionState final : public ConditionState {
 public:
  ReadConditionState(sub::AnyDataReader reader, std::shared_ptr<llamada::dcps::ReadCondition> native)
      : ConditionState(native), reader_(std::move(reader)), read_condition_(std::move(native)) {}
  ~ReadConditionState() override;
  const sub::AnyDataReader& reader() const { return reader_; }
  const std::shared_ptr<llamada::dcps::ReadCondition>& read_condition() const { return read_condition_; }

 private:
  sub::AnyDataReader reader_;
  std::shared_ptr<llamada::dcps::ReadCondition> read_condition_;
};

}  // namespace detail

/// A boolean that a WaitSet can wait for (DDS 1.4, 2.2.2.1.7). Any thread.
class Condition : public Reference<detail::ConditionState> {
 public:
  using Reference::Reference;
  bool trigger_value() const { return state().native()->trigger_value(); }
  /// WaitSet::dispatch() calls `handler` while the condition is true. Any thread may set it.
  template <typename Handler>
  void handler(Handler handler) {
    state().handler(std::move(handler));
  }
  void reset_handler() { state().handler(nullptr); }
  void dispatch() { state().dispatch(); }
};
using ConditionSeq = std::vector<Condition>;

/// A condition that the program sets (DDS 1.4, 2.2.2.1.8). Any thread.
class GuardCondition : public Condition {
 public:
  GuardCondition()
      : Condition(
            std::make_shared<detail::ConditionState>(std::make_shared<llamada::dcps::GuardCondition>())) {}
  template <typename Handler>
  explicit GuardCondition(Handler handler) : GuardCondition() {
    this->handler(std::move(handler));
  }
  using Condition::trigger_value;
  void trigger_value(bool value) {
    static_cast<llamada::dcps::GuardCondition&>(*state().native()).set_trigger_value(value);
  }
};

/// True while one of its enabled statuses has changed since it was read (DDS 1.4, 2.2.2.1.9). An entity has
/// one: all references to it are equal and share its handler. Throws AlreadyClosedError. Any thread.
class StatusCondition : public Condition {
 public:
  template <typename State>
  explicit StatusCondition(const EntityReference<State>& entity)
      : Condition(entity.state().status_condition()) {}
  template <typename State, typename Handler>
  StatusCondition(const EntityReference<State>& entity, Handler handler) : StatusCondition(entity) {
    this->handler(std::move(handler));
  }
  /// The entity of the statuses; null if the program no longer has a reference to it.
  core::Entity entity() const;
  status::StatusMask enabled_statuses() const { return status::StatusMask(native().enabled_statuses()); }
  void enabled_statuses(const status::StatusMask& mask) { native().set_enabled_statuses(mask.native()); }

 private:
  llamada::dcps::StatusCondition& native() const {
    return static_cast<llamada::dcps::StatusCondition&>(*state().native());
  }
};

namespace detail {

/// Copies of a WaitSet share this. In a child of fork() every method throws PreconditionNotMetError.
class WaitSetState {
 public:
  void attach(const Condition& condition);
  bool detach(const Condition& condition);
  ConditionSeq conditions() const;
  ConditionSeq wait(const Duration& at_most);

 private:
  void check_made_here() const { core::detail::value_of(made_.check()); }

  const llamada::MadeHere made_;
  llamada::dcps::WaitSet native_;
  mutable std::mutex mutex_;
  ConditionSeq conditions_;  // in the order of their attachment
};

}  // namespace detail

/// Waits for conditions of any participants (DDS 1.4, 2.2.2.1.6). Copies are the same WaitSet. One thread at
/// a time may wait; any thread may attach and detach conditions meanwhile.
class WaitSet : public Reference<detail::WaitSetState> {
 public:
  using ConditionSeq = cond::ConditionSeq;
  using Reference::Reference;
  WaitSet() : Reference(std::make_shared<detail::WaitSetState>()) {}

  /// Attaching a condition again does nothing.
  WaitSet& attach_condition(const Condition& condition) { return state().attach(condition), *this; }
  /// Returns false if the condition was not attached.
  bool detach_condition(const Condition& condition) { return state().detach(condition); }
  WaitSet& operator+=(const Condition& condition) { return attach_condition(condition); }
  WaitSet& operator-=(const Condition& condition) { return detach_condition(condition), *this; }
  ConditionSeq conditions() const { return state().conditions(); }
  ConditionSeq& conditions(ConditionSeq& into) const { return into = conditions(); }

  /// Returns the true conditions, at least one. Throws TimeoutError after `at_most`; PreconditionNotMetError
  /// if another thread waits already; AlreadyClosedError if none is true and the entity of one was closed.
  ConditionSeq wait(const Duration& at_most = Duration::infinite()) { return state().wait(at_most); }
  ConditionSeq& wait(ConditionSeq& triggered, const Duration& at_most = Duration::infinite()) {
    return triggered = wait(at_most);
  }
  /// Waits like wait() and calls the handlers of the true conditions, in the order of attachment.
  void dispatch(const Duration& at_most = Duration::infinite());
};

}  // namespace dds::core::cond

namespace dds::sub::cond {

/// True while its reader has samples in the given states (DDS 1.4, 2.2.2.5.8). Any thread.
class ReadCondition : public core::cond::Condition {
 public:
  ReadCondition(const AnyDataReader& reader, const status::DataState& state)
      : Condition(std::make_shared<core::cond::detail::ReadConditionState>(
            reader, core::detail::value_of(reader.native().create_readcondition(state.native())))) {}
  template <typename Handler>
  ReadCondition(const AnyDataReader& reader, const status::DataState& state, Handler handler)
      : ReadCondition(reader, state) {
    this->handler(std::move(handler));
  }

  status::DataState state_filter() const { return status::DataState(native_read_condition()->state()); }
  const AnyDataReader& data_reader() const { return read_state().reader(); }
  const std::shared_ptr<llamada::dcps::ReadCondition>& native_read_condition() const {
    return read_state().read_condition();
  }

 protected:
  explicit ReadCondition(std::shared_ptr<core::cond::detail::ConditionState> state)
      : Condition(std::move(state)) {}

 private:
  core::cond::detail::ReadConditionState& read_state() const {
    return static_cast<core::cond::detail::ReadConditionState&>(state());
  }
};

/// A ReadCondition on the contents of samples (DDS 1.4, 2.2.2.5.9). A wrong expression, or one that does not
/// fit the type, throws InvalidArgumentError.
class QueryCondition : public ReadCondition {
 public:
  QueryCondition(const Query& query, const status::DataState& state)
      : ReadCondition(std::make_shared<core::cond::detail::ReadConditionState>(
            query.data_reader(), core::detail::value_of(query.data_reader().native().create_querycondition(
                                     state.native(), query.expression(), query.parameters())))) {}
  template <typename Handler>
  QueryCondition(const Query& query, const status::DataState& state, Handler handler)
      : QueryCondition(query, state) {
    this->handler(std::move(handler));
  }

  std::string expression() const { return native().query_expression(); }
  core::StringSeq parameters() const { return native().query_parameters(); }
  void parameters(const core::StringSeq& parameters) {
    core::detail::value_of(native().set_query_parameters(parameters));
  }

 private:
  llamada::dcps::QueryCondition& native() const {
    return static_cast<llamada::dcps::QueryCondition&>(*native_read_condition());
  }
};

}  // namespace dds::sub::cond
