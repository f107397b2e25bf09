#include "llamada/dcps/condition.hpp"

#include <algorithm>

#include "core.hpp"
#include "llamada/dcps/data_reader.hpp"
#include "wait_set_state.hpp"

namespace llamada::dcps {

namespace {

std::chrono::nanoseconds monotonic() { return std::chrono::steady_clock::now().time_since_epoch(); }

}  // namespace

// Asked without the participant's lock.
Status Condition::open_status_of(const std::shared_ptr<const Entity>& entity) {
  if (!entity || entity->is_deleted())
    return failure(
        Errc::closed,
        "the WaitSet waits for a condition whose entity was closed and that can never become true; "
        "detach the condition first");
  const auto held = entity->lock();
  return entity->core_->domain().state();
}

std::shared_ptr<detail::Core> Condition::core() const { return nullptr; }

void Condition::notify_wait_sets() {
  std::lock_guard held(mutex_);
  for (const auto& each : wait_sets_) {
    if (auto wait_set = each.lock()) wait_set->notify();
  }
}

bool StatusCondition::trigger_value() const {
  const auto entity = entity_.lock();
  return entity && (entity->status_changes() & enabled_statuses()) != 0;
}

Status StatusCondition::check_open() const { return open_status_of(entity_.lock()); }

std::shared_ptr<detail::Core> StatusCondition::core() const {
  const auto entity = entity_.lock();
  return entity ? entity->core_ : nullptr;
}

StatusMask StatusCondition::enabled_statuses() const { return mask_; }

void StatusCondition::set_enabled_statuses(StatusMask mask) {
  mask_ = mask;
  notify();
}

ReadCondition::ReadCondition(std::weak_ptr<DataReader> reader, const DataState& state)
    : reader_(std::move(reader)), state_(state) {}

bool ReadCondition::trigger_value() const {
  const auto reader = reader_.lock();
  return reader && reader->has_samples(*this);
}

Status ReadCondition::check_open() const { return open_status_of(reader_.lock()); }

std::shared_ptr<detail::Core> ReadCondition::core() const {
  const auto reader = reader_.lock();
  return reader ? reader->shared_core() : nullptr;
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
    const auto& known = *state_->conditions;
    if (std::find(known.begin(), known.end(), condition) != known.end()) return;
    auto more = std::make_shared<detail::WaitSetState::Conditions>(known);
    more->push_back(condition);
    state_->conditions = std::move(more);
  }
  {
    std::lock_guard held(condition->mutex_);
    std::erase_if(condition->wait_sets_,
                  [this](const auto& each) { return each.expired() || each.lock() == state_; });
    condition->wait_sets_.push_back(state_);
    condition->has_wait_sets_ = true;
  }
  state_->notify();  // it may be true already
}

Status WaitSet::detach(const std::shared_ptr<Condition>& condition) {
  {
    std::lock_guard held(state_->mutex);
    auto less = std::make_shared<detail::WaitSetState::Conditions>(*state_->conditions);
    if (std::erase(*less, condition) == 0) {
      return failure(Errc::precondition_not_met, "the condition is not attached to this WaitSet");
    }
    state_->conditions = std::move(less);
  }
  {
    std::lock_guard held(condition->mutex_);
    std::erase_if(condition->wait_sets_,
                  [this](const auto& each) { return each.expired() || each.lock() == state_; });
  }
  state_->notify();  // a waiting thread may sleep on behalf of this condition's participant
  return {};
}

std::vector<std::shared_ptr<Condition>> WaitSet::conditions() const { return *state_->attached(); }

Result<std::vector<std::shared_ptr<Condition>>> WaitSet::wait(Duration at_most) {
  const bool for_ever = at_most >= std::chrono::hours(24 * 365 * 100);
  const std::chrono::nanoseconds start = monotonic();
  const std::chrono::nanoseconds deadline = for_ever ? never : after(start, at_most);
  if (state_->is_waiting.exchange(true))
    return failure(Errc::precondition_not_met, "another thread waits at this WaitSet");
  std::vector<std::shared_ptr<Condition>> active;
  Status open;
  while (true) {
    const std::uint64_t seen = state_->news;
    // Not under the lock: a condition takes its participant's.
    open = {};
    const auto attached = state_->attached();
    for (const auto& each : *attached) {
      if (each->trigger_value())
        active.push_back(each);
      else if (open)
        open = each->check_open();
    }
    if (!active.empty() || !open || (!for_ever && monotonic() >= deadline)) break;
    await_news(seen, deadline);
  }
  state_->is_waiting = false;
  if (!active.empty()) return active;
  if (!open) return propagate(open);
  return failure(Errc::timeout, "no condition became true within {}", qos::to_string(at_most));
}

// If all conditions belong to one participant, this thread does the looking and sleeping of that
// participant's service thread, so that only one thread has to be woken. It may return sooner.
void WaitSet::await_news(std::uint64_t seen, std::chrono::nanoseconds deadline) {
  const std::function<bool()> has_news = [&] { return state_->news != seen; };
  std::vector<std::shared_ptr<detail::Core>> cores;
  const auto attached = state_->attached();
  for (const auto& each : *attached) {
    auto core = each->core();
    if (core && std::find(cores.begin(), cores.end(), core) == cores.end()) cores.push_back(std::move(core));
  }
  std::unique_lock held(state_->mutex, std::defer_lock);
  if (cores.size() == 1) {
    if (cores.front()->spin_until(has_news)) return;
    if (cores.front()->begin_lead()) {
      held.lock();
      state_->led = cores.front().get();
      state_->leader = std::this_thread::get_id();
      held.unlock();
      const Duration left = deadline == never ? never : deadline - monotonic();
      cores.front()->lead_until(after(cores.front()->monotonic(), left), has_news);
      held.lock();
      state_->led = nullptr;
      held.unlock();
      return cores.front()->end_lead();
    }
  }
  for (const auto& core : cores) core->begin_following();
  held.lock();
  // Nobody tells a follower that a domain is lost, so it looks again after sleep_max.
  state_->wake.wait_for(held, std::min<std::chrono::nanoseconds>(deadline - monotonic(), detail::sleep_max),
                        has_news);
  held.unlock();
  for (const auto& core : cores) core->end_following();
}

}  // namespace llamada::dcps
