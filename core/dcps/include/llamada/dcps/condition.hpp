#pragma once

#include <atomic>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <vector>

#include "llamada/base/result.hpp"
#include "llamada/dcps/sample_info.hpp"
#include "llamada/dcps/status.hpp"
#include "llamada/sql/filter.hpp"

namespace llamada::dcps {

class DataReader;
class Entity;

namespace detail {
class Core;
class WaitSetState;
}  // namespace detail

/// Something that is true or not and that a WaitSet can wait for (DDS 1.4, 2.2.2.1.7). Any thread may call
/// it.
class Condition {
 public:
  Condition() = default;
  virtual ~Condition() = default;
  Condition(const Condition&) = delete;
  Condition& operator=(const Condition&) = delete;

  virtual bool trigger_value() const = 0;

 protected:
  /// trigger_value() may have become true.
  void notify() {
    if (has_wait_sets_) notify_wait_sets();
  }
  /// Of the participant whose arrivals it depends on; none if on none.
  virtual std::shared_ptr<detail::Core> core() const;
  /// Why it can never become true: its entity was deleted, or has lost its domain (Errc::closed).
  virtual Status check_open() const { return {}; }
  static Status open_status_of(const std::shared_ptr<const Entity>& entity);

 private:
  friend class WaitSet;
  friend class Entity;
  friend class DataReader;
  void notify_wait_sets();

  std::mutex mutex_;
  std::vector<std::weak_ptr<detail::WaitSetState>> wait_sets_;
  std::atomic<bool> has_wait_sets_{false};  // has had some; seq_cst, against WaitSet::attach()
};

/// A condition that the application sets (DDS 1.4, 2.2.2.1.8).
class GuardCondition final : public Condition {
 public:
  bool trigger_value() const override { return value_; }
  void set_trigger_value(bool value) {
    value_ = value;
    if (value) notify();
  }

 private:
  std::atomic<bool> value_{false};  // seq_cst, as Condition::has_wait_sets_
};

/// True while one of its statuses has changed since it was read (DDS 1.4, 2.2.2.1.9). Of each Entity there is
/// one.
class StatusCondition final : public Condition {
 public:
  bool trigger_value() const override;
  StatusMask enabled_statuses() const;
  void set_enabled_statuses(StatusMask mask);
  /// Nothing once the entity is gone.
  std::shared_ptr<Entity> entity() const { return entity_.lock(); }

 private:
  friend class Entity;
  std::shared_ptr<detail::Core> core() const override;
  Status check_open() const override;
  std::weak_ptr<Entity> entity_;
  std::atomic<StatusMask> mask_{status::all};  // seq_cst, as Condition::has_wait_sets_
};

/// True while its reader has samples in the given states (DDS 1.4, 2.2.2.5.8). Made by
/// DataReader::create_readcondition().
class ReadCondition : public Condition {
 public:
  bool trigger_value() const override;
  const DataState& state() const { return state_; }
  /// Nothing once the reader is gone.
  std::shared_ptr<DataReader> reader() const { return reader_.lock(); }

 protected:
  friend class DataReader;
  ReadCondition(std::weak_ptr<DataReader> reader, const DataState& state);

  std::shared_ptr<detail::Core> core() const override;
  Status check_open() const override;
  /// Nothing for conditions without a query.
  virtual std::optional<sql::Filter> query() const { return std::nullopt; }

 private:
  std::weak_ptr<DataReader> reader_;
  DataState state_;
};

/// A ReadCondition on what the samples hold (DDS 1.4, 2.2.2.5.9; expressions: Annex B). Samples without data
/// never match.
class QueryCondition final : public ReadCondition {
 public:
  std::string query_expression() const;
  std::vector<std::string> query_parameters() const;
  /// Errors: invalid_argument, parse_error; the old ones stay then.
  Status set_query_parameters(std::vector<std::string> parameters);

 private:
  friend class DataReader;
  QueryCondition(std::weak_ptr<DataReader> reader, const DataState& state, sql::Filter query,
                 std::shared_ptr<const types::TypeSupport> type);
  std::optional<sql::Filter> query() const override;

  const std::shared_ptr<const types::TypeSupport> type_;
  mutable std::mutex query_mutex_;
  sql::Filter query_;
};

/// Waits for conditions, of any participants (DDS 1.4, 2.2.2.1.6). One thread at a time may wait; any thread
/// may attach and detach conditions meanwhile.
class WaitSet {
 public:
  WaitSet();
  ~WaitSet();
  WaitSet(const WaitSet&) = delete;
  WaitSet& operator=(const WaitSet&) = delete;

  /// A second time does nothing.
  void attach(std::shared_ptr<Condition> condition);
  /// Errors: precondition_not_met if it is not attached.
  Status detach(const std::shared_ptr<Condition>& condition);
  std::vector<std::shared_ptr<Condition>> conditions() const;

  /// Those that are true, at least one. Errors: timeout; precondition_not_met if another thread waits
  /// already; closed if none is true and the entity of one was deleted or has lost its domain.
  Result<std::vector<std::shared_ptr<Condition>>> wait(Duration at_most);

 private:
  void await_news(std::uint64_t seen, std::chrono::nanoseconds deadline);
  std::shared_ptr<detail::WaitSetState> state_;
};

}  // namespace llamada::dcps
