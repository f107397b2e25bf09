#pragma once

#include <chrono>
#include <functional>
#include <memory>
#include <thread>

#include "domain_handles.hpp"
#include "domain_membership.hpp"
#include "ignored_entities.hpp"
#include "lead.hpp"
#include "listener_calls.hpp"
#include "llamada/base/clock.hpp"
#include "llamada/base/made_here.hpp"
#include "llamada/dcps/entity.hpp"
#include "llamada/dcps/time.hpp"
#include "served_entities.hpp"
#include "service_sleep.hpp"
#include "shared_moment.hpp"
#include "spinning.hpp"
#include "waiters.hpp"

namespace llamada::dcps::detail {

/// What the entities of one participant share: the lock, the membership of the domain, and the service
/// thread, which receives, keeps the time and calls listeners. Lives as long as any of the entities.
///
/// Every thread that looks takes in what has arrived for all. While the application's threads look by
/// themselves, or one of them leads, which means to wait for the domain instead of the service thread, the
/// service thread only naps. So nobody has to wake it, and it wakes nobody.
///
/// A caller with a Lock holds it; the lock is let go while listeners run and while there is nothing to do.
class Core : public std::enable_shared_from_this<Core> {
 public:
  Core(std::unique_ptr<topics::Transport> transport, const Clock& clock);
  ~Core();

  Lock lock() { return Lock(mutex_); }
  BiasedMutex& mutex() { return mutex_; }
  Now now() const { return now_of(clock_); }
  Timestamp realtime() const { return clock_.realtime(); }
  std::chrono::nanoseconds monotonic() const { return clock_.monotonic(); }

  /// Enters the domain and begins to serve it. Once.
  void start(topics::ParticipantOptions options, std::unique_ptr<topics::DiscoveryEvents> discovery);
  /// Ends the service; no listener is called any more. Not with the lock held.
  void stop();
  /// False: this process is a child of fork(), and has but a copy.
  bool is_of_this_process() const { return made_.holds(); }

  // The parts, with the lock held:

  DomainMembership& domain() { return domain_; }
  const DomainMembership& domain() const { return domain_; }
  /// Only once started.
  topics::Participant& participant() { return domain_.participant(); }
  ServedEntities& entities() { return entities_; }
  IgnoredEntities& ignored() { return ignored_; }
  ListenerCalls& listener_calls() { return calls_; }

  // With the lock held:

  /// Makes an endpoint. If there is no room, it waits for readers to let go of writers that were deleted.
  template <typename Make>
  auto make_endpoint(Make make) -> decltype(make()) {
    // Programs that make and delete in haste shall not grow meanwhile.
    if (domain_.participant().deleted_writer_count() >= deleted_writers_max) (void)poll();
    auto made = make();
    const auto deadline = clock_.monotonic() + letting_go_max;
    while (!made && made.error().code() == Errc::out_of_resources && await_letting_go(deadline))
      made = make();
    return made;
  }

  /// Takes what has arrived. Errors: closed (the domain is gone).
  Status poll();
  /// As poll(), by a thread of the application.
  Status look() {
    lead_.looked();
    return poll();
  }
  /// One moment for much of what happens in one look.
  const Now& moment() { return moment_.use(); }
  /// Waits until `condition` is true; it is asked with the lock held, perhaps by another thread. False: the
  /// time is over, or the domain is gone.
  bool wait_until(Lock& held, std::chrono::nanoseconds deadline, const std::function<bool()>& condition);
  /// A status of the entity changed that a listener may want to hear of.
  void plan_call(Entity& entity, StatusMask status) {
    if (calls_.plan(entity, status)) look_at(std::chrono::nanoseconds::zero());
  }
  /// New data of the reader are told to its listener without asking its subscriber's.
  void plan_data_call(Entity& reader);
  /// Waits until `running_calls` is 0; not if a listener calls.
  void await_no_calls(Lock& held, const std::uint32_t& running_calls);
  /// There is a reason to look at `moment` at the latest; zero: now.
  void look_at(std::chrono::nanoseconds moment) {
    if (lead_.is_service_threads() || sleep_.outlasts(moment)) wake_up();
  }

  // For WaitSets, without the lock: core_waiting.cpp.

  /// Whether the thread leads from here on, until end_lead(). False: another one does, or there is nothing to
  /// wait for any more. The calls between look for what arrives; spins first, while that has paid off lately.
  bool begin_lead();
  /// Until `holds`, which is asked with the lock held. False: the time is over, or the participant is.
  bool lead_until(std::chrono::nanoseconds deadline, const std::function<bool()>& holds);
  void end_lead();
  /// Ends the sleep of who leads; only while one does.
  void wake_leader() { domain_.wake(); }
  /// Looks for a short while. True: `holds`.
  bool spin_until(const std::function<bool()>& holds);
  /// Somebody waits for conditions of this participant, but does not lead.
  void begin_following();
  void end_following();

 private:
  bool is_service_thread() const { return std::this_thread::get_id() == service_id_; }
  void serve();
  void do_work();
  void wait_for_work(Lock& held);
  bool has_work();
  void ask_waiters();
  void lose_domain(const Status& why);
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
  const Clock& clock_;
  DomainMembership domain_;
  std::thread service_;
  std::thread::id service_id_;
  bool stopping_ = false;
  ServiceSleep sleep_;
  std::chrono::nanoseconds check_due_{0};
  Lead lead_;
  Waiters waiters_;
  Spinning spinning_;
  SharedMoment moment_;
  ListenerCalls calls_;
  ServedEntities entities_;
  IgnoredEntities ignored_;
};

}  // namespace llamada::dcps::detail
