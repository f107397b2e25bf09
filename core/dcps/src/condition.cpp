#include "llamada/dcps/condition.hpp"

#include <algorithm>

#include "core.hpp"
#include "llamada/dcps/data_reader.hpp"
#include "wait_set_state.hpp"

namespace llamada::dcps {

void Condition::notify() {
  std::lock_guard held(mutex_);
  for (const auto& each : wait_sets_) {
    if (auto wait_set = each.lock()) wait_set->notify();
  }
}

bool StatusCondition::trigger_value() const {
  const auto entity = entity_.lock();
  return entity && (entity->status_changes() & enabled_statuses()) != 0;
}

StatusMask StatusCondition::enabled_statuses() const { return mask_.load(std::memory_order_acquire); }

void StatusCondition::set_enabled_statuses(StatusMask mask) {
  mask_.store(mask, std::memory_order_release);
  notify();
}

ReadCondition::ReadCondition(std::weak_ptr<DataReader> reader, const DataState& state)
    : reader_(std::move(reader)), state_(state) {}

bool ReadCondition::trigger_value() const {
  const auto reader = reader_.lock();
  return reader && reader->has_samples(*this);
}

QueryCondition::QueryCondition(std::weak_ptr<DataReader> reader, const DataState& state, sql::Filter query,
                               std::shared_ptr<const types::TypeSupport> type)
    : ReadCondition(std::move(reader), state), type_(std::move(type)), query_(std::move(query)) {}

std::string QueryCondition::query_expression() const {
  std::lock_guard held(query_mutex_);
  return query_.expression();
}

std::vector<std::string> QueryCondition::query_parameters() const {
  std::lock_guard held(query_mutex_);
  return query_.parameters();
}

Status QueryCondition::set_query_parameters(std::vector<std::string> parameters) {
  {
    std::lock_guard held(query_mutex_);
    auto query = query_.with_parameters(parameters);
    if (!query) return propagate(query);
    query_ = *query;
  }
  notify();
  return {};
}

std::optional<sql::Filter> QueryCondition::query() const {
  std::lock_guard held(query_mutex_);
  return query_;
}

WaitSet::WaitSet() : state_(std::make_shared<detail::WaitSetState>()) {}

WaitSet::~WaitSet() = default;

void WaitSet::attach(std::shared_ptr<Condition> condition) {
  {
    std::lock_guard held(state_->mutex);
    auto& conditions = state_->conditions;
    if (std::find(conditions.begin(), conditions.end(), condition) != conditions.end()) return;
    conditions.push_back(condition);
    ++state_->news;  // it may be true already
    state_->wake.notify_all();
  }
  std::lock_guard held(condition->mutex_);
  std::erase_if(condition->wait_sets_, [](const auto& each) { return each.expired(); });
  condition->wait_sets_.push_back(state_);
}

Status WaitSet::detach(const std::shared_ptr<Condition>& condition) {
  {
    std::lock_guard held(state_->mutex);
    if (std::erase(state_->conditions, condition) == 0) {
      return failure(Errc::precondition_not_met, "the condition is not attached to this WaitSet");
    }
  }
  std::lock_guard held(condition->mutex_);
  std::erase_if(condition->wait_sets_,
                [this](const auto& each) { return each.expired() || each.lock() == state_; });
  return {};
}

std::vector<std::shared_ptr<Condition>> WaitSet::conditions() const {
  std::lock_guard held(state_->mutex);
  return state_->conditions;
}

Result<std::vector<std::shared_ptr<Condition>>> WaitSet::wait(Duration at_most) {
  using Clock = std::chrono::steady_clock;
  const bool for_ever = at_most >= std::chrono::hours(24 * 365 * 100);
  const Clock::time_point deadline = for_ever ? Clock::time_point::max() : Clock::now() + at_most;
  std::unique_lock held(state_->mutex);
  if (state_->is_waiting) return failure(Errc::precondition_not_met, "another thread waits at this WaitSet");
  state_->is_waiting = true;
  std::vector<std::shared_ptr<Condition>> active;
  while (true) {
    const std::uint64_t seen = state_->news;
    const auto conditions = state_->conditions;
    held.unlock();  // a condition takes its participant's lock
    for (const auto& each : conditions) {
      if (each->trigger_value()) active.push_back(each);
    }
    held.lock();
    if (!active.empty()) break;
    const auto has_news = [&] { return state_->news != seen; };
    if (for_ever)
      state_->wake.wait(held, has_news);
    else if (!state_->wake.wait_until(held, deadline, has_news))
      break;
  }
  state_->is_waiting = false;
  if (active.empty())
    return failure(Errc::timeout, "no condition became true within {}", qos::to_string(at_most));
  return active;
}

}  // namespace llamada::dcps
