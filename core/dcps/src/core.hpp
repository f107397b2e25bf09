#pragma once

#include <chrono>
#include <condition_variable>
#include <deque>
#include <functional>
#include <memory>
#include <mutex>
#include <thread>
#include <vector>

#include "llamada/base/clock.hpp"
#include "llamada/base/made_here.hpp"
#include "llamada/dcps/entity.hpp"
#include "llamada/dcps/time.hpp"
#include "llamada/topics/participant.hpp"
#include "spinning.hpp"

namespace llamada::dcps {

class DataReader;
class ContentFilteredTopic;
class DataWriter;
class Subscriber;
class Topic;

inline InstanceHandle handle_of(const topics::EndpointId& id) { return {id.participant, id.endpoint}; }
inline InstanceHandle participant_handle(std::uint64_t id) { return {id, ~std::uint64_t{0}}; }

namespace detail {

/// What the entities of one participant share: the lock, the way to the domain, and the service thread, which
/// receives, keeps the time and calls listeners. Lives as long as any of the entities.
///
/// What arrives is seen by whoever looks. While the application's threads look by themselves, or one of them
/// leads, which is to wait for the domain in the service thread's place, the service thread only naps, so
/// that nobody has to wake it and it wakes nobody.
///
/// Who calls with a Lock holds it; it is let go while listeners run and while there is nothing to do.
class Core : public std::enable_shared_from_this<Core> {
 public:
  Core(std::unique_ptr<topics::Transport> transport, const Clock& clock);
  ~Core();

  Lock lock() { return Lock(mutex_); }
  BiasedMutex& mutex() { return mutex_; }
  Now now() const {
    const Clock::Both both = clock_.both();
    return {both.monotonic, both.realtime};
  }
  Timestamp realtime() const { return clock_.realtime(); }

  /// Enters the domain and begins to serve it. Once.
  void start(topics::ParticipantOptions options, std::unique_ptr<topics::DiscoveryEvents> discovery);
  /// Ends the service; no listener is called any more. Not with the lock held.
  void stop();
  /// False: this process is a child of fork(), and has but a copy.
  bool is_of_this_process() const { return made_.holds(); }
  bool is_started() const { return participant_ != nullptr; }
  /// Only once started.
  topics::Participant& participant() { return *participant_; }

  // With the lock held:

  /// Makes an endpoint. If there is no room, it waits for readers to let go of writers that were deleted.
  template <typename Make>
  auto make_endpoint(Make make) -> decltype(make()) {
    // Programs that make and delete in haste shall not grow meanwhile.
    if (participant_->deleted_writer_count() >= deleted_writers_max) (void)poll();
    auto made = make();
    const auto deadline = clock_.monotonic() + letting_go_max;
    while (!made && made.error().code() == Errc::out_of_resources && await_letting_go(deadline))
      made = make();
    return made;
  }
  bool is_service_thread() const { return std::this_thread::get_id() == service_id_; }

  /// Takes what has arrived. Errors: closed (the domain is gone).
  Status poll();
  /// The same, by a thread of the application.
  Status look() {
    ++looks_;
    return poll();
  }
  /// One moment for much of what happens in one look.
  const Now& moment();
  /// Errors: closed (the domain is gone for good).
  Status state() const { return failed_; }
  /// Whether state() is an error.
  const bool& is_lost() const { return is_lost_; }
  /// Waits until `condition` is true; it is asked with the lock held, perhaps by another thread. False: the
  /// time is over, or the domain is gone.
  bool wait_until(Lock& held, std::chrono::nanoseconds deadline, const std::function<bool()>& condition);
  /// A status of the entity changed that a listener may want to hear of.
  void plan_call(Entity& entity, StatusMask status) {
    if (listener_count_ > 0) plan_wanted_call(entity, status);
  }
  /// There is a reason to look at `moment` at the latest; zero: now.
  void look_at(std::chrono::nanoseconds moment) {
    if (service_leads_ || moment < sleeping_until_) wake_up();
  }
  /// New data of the reader are told to its listener without asking its subscriber's.
  void plan_data_call(Entity& reader);
  void await_no_calls(Lock& held, const std::uint32_t& running_calls);
  void listener_came() { ++listener_count_; }
  void listener_went() { --listener_count_; }

  // For WaitSets, without the lock: core_waiting.cpp.

  /// Whether the thread leads from here on, until end_lead(). False: another one does, or there is nothing to
  /// wait for any more. The calls between look for what arrives; spins first, while that has paid off lately.
  bool begin_lead();
  /// Until `holds`, which is asked with the lock held. False: the time is over, or the participant is.
  bool lead_until(std::chrono::nanoseconds deadline, const std::function<bool()>& holds);
  void end_lead();
  /// Ends the sleep of who leads; only while one does.
  void wake_leader() { participant_->wake_self(); }
  /// Looks for a short while. True: `holds`.
  bool spin_until(const std::function<bool()>& holds);
  /// Somebody waits for conditions of this participant, but does not lead.
  void begin_following();
  void end_following();
  std::chrono::nanoseconds monotonic() const { return clock_.monotonic(); }

  // With the lock held, too: what is served. Enabled ones only.
  /// Samples, or room for some, that the application has keep the domain's memory.
  void loan_began() { ++loan_count_; }
  void loan_ended();
  /// Leaves the domain, as soon as nothing is on loan. After stop().
  void leave_domain();

  void add(DataReader& reader) { readers_.push_back(&reader); }
  void add(DataWriter& writer) { writers_.push_back(&writer); }
  void add(Subscriber& subscriber) { subscribers_.push_back(&subscriber); }
  void remove(DataReader& reader) {
    std::erase(readers_, &reader);
    std::erase(with_news_, &reader);
  }
  void remove(DataWriter& writer) { std::erase(writers_, &writer); }
  void remove(Subscriber& subscriber) { std::erase(subscribers_, &subscriber); }
  const std::vector<DataReader*>& readers() const { return readers_; }
  /// Something happened in its cache: its statuses change at the end of the next look.
  void has_news(DataReader& reader) { with_news_.push_back(&reader); }
  const std::vector<DataWriter*>& writers() const { return writers_; }

  /// Its endpoints have to tell it.
  void topic_changed(const Topic& topic);
  void filter_changed(const ContentFilteredTopic& topic);

  /// Entities of the domain that are as if they were not there.
  bool is_ignored(const topics::EndpointInfo& endpoint) const;
  void ignore(InstanceHandle handle) { ignored_.push_back(handle); }
  void ignore_topic(std::string name) { ignored_topics_.push_back(std::move(name)); }
  bool is_ignored(InstanceHandle handle) const;

 private:
  struct Waiter {
    const std::function<bool()>& condition;
    std::condition_variable_any wake;
    bool done = false;
    bool leads = false;
  };
  struct PlannedCall {
    std::weak_ptr<Entity> entity;
    StatusMask status;
    bool direct = false;
  };

  void serve();
  void do_work();
  void wait_for_work(Lock& held);
  bool has_work();
  void ask_waiters();
  void lose_domain(const Status& why);
  void settle();
  void tell_news();
  std::chrono::nanoseconds next_wakeup() const;
  void call_listeners(Lock& held);
  void call_planned(Lock& held, const PlannedCall& planned);
  void tell(Lock& held, Entity& subject, Entity& holder, StatusMask status);
  bool wants_call(Entity& entity, StatusMask status) const;
  void plan_wanted_call(Entity& entity, StatusMask status);
  void wake_up();

  // core_waiting.cpp
  bool await_letting_go(std::chrono::nanoseconds deadline);
  bool is_looked_after() const;
  void nap(Lock& held);
  void check_domain();
  bool begin_lead(Lock& held);
  bool lead_until(Lock& held, std::chrono::nanoseconds deadline, const std::function<bool()>& holds);
  void end_lead(Lock& held);
  bool spin_until(Lock& held, const std::function<bool()>& holds);
  bool wait_as_follower(Lock& held, std::chrono::nanoseconds deadline,
                        const std::function<bool()>& condition);

  static constexpr std::size_t deleted_writers_max = 64;
  static constexpr std::chrono::nanoseconds letting_go_max = std::chrono::milliseconds(200);

  const MadeHere made_;
  BiasedMutex mutex_;
  std::unique_ptr<topics::Transport> transport_;
  const Clock& clock_;
  std::unique_ptr<topics::DiscoveryEvents> discovery_;
  std::unique_ptr<topics::Participant> participant_;
  std::thread service_;
  std::thread::id service_id_;
  bool stopping_ = false;
  Status failed_;
  bool is_lost_ = false;                        // failed_ is an error
  std::chrono::nanoseconds sleeping_until_{0};  // 0: the service is awake
  bool service_waits_ = false;                  // for the domain
  bool napping_ = false;
  bool nap_is_long_ = false;
  std::condition_variable_any nap_over_;
  std::chrono::nanoseconds check_due_{0};
  std::uint64_t looks_ = 0;  // of the application
  std::uint64_t looks_seen_ = 0;
  bool led_ = false;
  bool service_leads_ = false;
  std::uint64_t leads_ = 0;
  std::uint64_t leads_seen_ = 0;
  std::uint32_t lead_wanted_ = 0;
  std::condition_variable_any lead_free_;
  std::uint32_t followers_ = 0;
  std::uint32_t listener_count_ = 0;
  Spinning spinning_;
  Now moment_;
  std::uint32_t moment_uses_ = 0;
  std::size_t loan_count_ = 0;
  bool left_ = false;
  std::deque<PlannedCall> planned_calls_;
  std::vector<Waiter*> waiters_;
  std::condition_variable_any calls_ended_;
  std::vector<DataReader*> readers_;
  std::vector<DataReader*> with_news_;  // of readers_, each once
  std::vector<DataWriter*> writers_;
  std::vector<Subscriber*> subscribers_;
  std::vector<InstanceHandle> ignored_;
  std::vector<std::string> ignored_topics_;
};

}  // namespace detail
}  // namespace llamada::dcps
