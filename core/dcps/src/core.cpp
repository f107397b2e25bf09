#include "core.hpp"

#include <algorithm>
#include <utility>

#include "llamada/base/check.hpp"
#include "llamada/dcps/data_reader.hpp"
#include "llamada/dcps/data_writer.hpp"
#include "llamada/dcps/subscriber.hpp"

namespace llamada::dcps::detail {
namespace {

// No sleep is longer, so that a deadline by a clock that was moved is not missed by much.
constexpr std::chrono::nanoseconds sleep_max = std::chrono::seconds(1);

}  // namespace

Core::Core(std::unique_ptr<topics::Transport> transport, const Clock& clock)
    : transport_(std::move(transport)), clock_(clock) {}

Core::~Core() { LLAMADA_CHECK(!service_.joinable()); }

void Core::start(topics::ParticipantOptions options, std::unique_ptr<topics::DiscoveryEvents> discovery) {
  discovery_ = std::move(discovery);
  participant_ =
      std::make_unique<topics::Participant>(*transport_, clock_, std::move(options), discovery_.get());
  service_ = std::thread([self = shared_from_this()] { self->serve(); });
}

void Core::stop() {
  bool by_itself = false;
  {
    Lock held = lock();
    by_itself = is_service_thread();
    stopping_ = true;
    for (Waiter* waiter : waiters_) waiter->wake.notify_all();
    nap_over_.notify_all();
    lead_free_.notify_all();
    if (participant_) participant_->wake_self();
    lead_free_.wait(held, [this] { return !led_; });
  }
  if (!service_.joinable()) return;
  if (by_itself)
    service_.detach();  // a listener has deleted the participant: this thread ends when it returns
  else
    service_.join();
}

void Core::serve() {
  Lock held = lock();
  service_id_ = std::this_thread::get_id();
  while (!stopping_) {
    do_work();
    call_listeners(held);
    if (stopping_ || has_work()) continue;
    is_looked_after() ? nap(held) : wait_for_work(held);
  }
}

// Everything that is due, but the calls of listeners.
void Core::do_work() {
  if (failed_) (void)poll();
  const Now moment = now();
  for (DataReader* reader : readers_) reader->advance(moment);
  tell_news();
  for (DataWriter* writer : writers_) writer->advance(moment);
  ask_waiters();
}

void Core::wait_for_work(Lock& held) {
  sleeping_until_ = next_wakeup();
  const std::chrono::nanoseconds at_most =
      std::clamp(sleeping_until_ - clock_.monotonic(), std::chrono::nanoseconds::zero(), sleep_max);
  const auto look_again = [this] {
    Lock inner = lock();
    if (failed_) (void)poll();
    ask_waiters();
    return stopping_ || lead_wanted_ > 0 || has_work();
  };
  Status waited = failed_;
  const bool can_wait = waited.has_value();
  service_waits_ = true;
  held.unlock();
  if (can_wait) waited = participant_->wait(look_again, at_most);
  held.lock();
  service_waits_ = false;
  lead_free_.notify_all();
  if (can_wait && !waited) lose_domain(waited);
  if (!waited && !stopping_ && !has_work()) calls_ended_.wait_for(held, std::chrono::milliseconds(100));
  sleeping_until_ = std::chrono::nanoseconds::zero();
}

bool Core::has_work() { return !planned_calls_.empty() || next_wakeup() <= clock_.monotonic(); }

std::chrono::nanoseconds Core::next_wakeup() const {
  std::chrono::nanoseconds next = never;
  for (const DataReader* reader : readers_) next = std::min(next, reader->next_wakeup());
  for (const DataWriter* writer : writers_) next = std::min(next, writer->next_wakeup());
  return next;
}

Status Core::poll() {
  if (!failed_) return failed_;
  moment_uses_ = 0;
  if (Status status = participant_->poll(); !status) {
    lose_domain(status);
    return failed_;
  }
  settle();
  return {};
}

// Nothing comes or goes any more: all matches end, and whoever waits is told.
void Core::lose_domain(const Status& why) {
  if (!failed_) return;
  failed_ = tl::unexpected<Error>(Error(Errc::closed, why.error().text()));
  is_lost_ = true;
  for (DataReader* reader : readers_) reader->forget_writers();
  for (DataWriter* writer : writers_) writer->forget_readers();
  tell_news();
  for (Waiter* waiter : waiters_) waiter->wake.notify_all();
  if (led_ && participant_) participant_->wake_self();
}

// What several readers have to agree on, and what came of it.
void Core::settle() {
  for (Subscriber* subscriber : subscribers_)
    if (subscriber->holds_groups()) subscriber->settle_groups(moment());
  tell_news();
}

void Core::tell_news() {
  for (std::size_t k = 0; k < with_news_.size(); ++k) with_news_[k]->report_news();
  with_news_.clear();
}

const Now& Core::moment() {
  // A look may take in what comes meanwhile, for long.
  constexpr std::uint32_t uses_max = 32;
  if (moment_uses_ == 0 || moment_uses_ == uses_max) {
    moment_ = now();
    moment_uses_ = 0;
  }
  ++moment_uses_;
  return moment_;
}

void Core::ask_waiters() {
  for (Waiter* waiter : waiters_) {
    if (waiter->done || !waiter->condition()) continue;
    waiter->done = true;
    waiter->leads ? participant_->wake_self() : waiter->wake.notify_all();
  }
}

// Who waits for the time that look_at() has to name.
void Core::wake_up() {
  if (service_leads_) return participant_->wake_self();
  if (!participant_) return;
  napping_ ? nap_over_.notify_all() : participant_->wake_self();
}

// As call_planned() finds out who is told.
bool Core::wants_call(Entity& entity, StatusMask status) const {
  if (entity.find_listener(status) != nullptr) return true;
  return status == status::data_available && entity.parent_ != nullptr &&
         entity.parent_->find_listener(status::data_on_readers) != nullptr;
}

void Core::plan_wanted_call(Entity& entity, StatusMask status) {
  if ((entity.pending_calls_ & status) != 0 || !wants_call(entity, status)) return;
  entity.pending_calls_ |= status;
  planned_calls_.push_back({entity.weak_from_this(), status, false});
  look_at(std::chrono::nanoseconds::zero());
}

void Core::plan_data_call(Entity& reader) {
  planned_calls_.push_back({reader.weak_from_this(), status::data_available, true});
  look_at(std::chrono::nanoseconds::zero());
}

void Core::call_listeners(Lock& held) {
  for (std::size_t count = planned_calls_.size(); count > 0 && !stopping_; --count) {
    const PlannedCall planned = std::move(planned_calls_.front());
    planned_calls_.pop_front();
    call_planned(held, planned);
  }
}

void Core::call_planned(Lock& held, const PlannedCall& planned) {
  const std::shared_ptr<Entity> subject = planned.entity.lock();
  if (!subject) return;
  subject->pending_calls_ &= ~planned.status;
  if (subject->deleted_ || (subject->status_changes_ & planned.status) == 0) return;
  // Of new data the subscriber's listener, or the participant's, is told first.
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

void Core::tell(Lock& held, Entity& subject, Entity& holder, StatusMask status) {
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
  calls_ended_.notify_all();
}

void Core::loan_ended() {
  --loan_count_;
  if (left_ && loan_count_ == 0) leave_domain();
}

void Core::leave_domain() {
  left_ = true;
  if (loan_count_ > 0) return;
  participant_.reset();
  transport_.reset();
}

void Core::await_no_calls(Lock& held, const std::uint32_t& running_calls) {
  if (is_service_thread()) return;
  calls_ended_.wait(held, [&] { return running_calls == 0; });
}

void Core::topic_changed(const Topic& topic) {
  for (DataReader* reader : readers_) reader->on_topic_changed(topic);
  for (DataWriter* writer : writers_) writer->on_topic_changed(topic);
}

void Core::filter_changed(const ContentFilteredTopic& topic) {
  for (DataReader* reader : readers_) {
    if (reader->topicdescription().get() == &topic) reader->set_filter();
  }
}

bool Core::is_ignored(InstanceHandle handle) const {
  return std::find(ignored_.begin(), ignored_.end(), handle) != ignored_.end();
}

bool Core::is_ignored(const topics::EndpointInfo& endpoint) const {
  if (ignored_.empty() && ignored_topics_.empty()) return false;
  return is_ignored(handle_of(endpoint.id)) || is_ignored(participant_handle(endpoint.id.participant)) ||
         std::find(ignored_topics_.begin(), ignored_topics_.end(), endpoint.topic) != ignored_topics_.end();
}

}  // namespace llamada::dcps::detail
