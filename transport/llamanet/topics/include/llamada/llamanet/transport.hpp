#pragma once

#include <atomic>
#include <chrono>
#include <memory>
#include <vector>

#include "llamada/llamanet/application.hpp"
#include "llamada/topics/transport.hpp"

namespace llamada::llamanet {

/// The applications of one node as a Participant sees them: topics::Transport over an Application.
///
/// The driver only keeps the roster. When one on demand ends, data go on flowing between those who know each
/// other; the next poll() joins the driver that comes in its place, or starts it. Nobody's slot changes for
/// the Participant then: what it calls a slot is a place, and slots_ says where that is in the driver's page.
///
/// Threads: as topics::Transport's.
class LlamanetTransport final : public topics::Transport {
 public:
  explicit LlamanetTransport(std::unique_ptr<Application> application);

  /// Attaches to the node's driver, starting one if there is none. Errors: as Application::attach().
  static Result<std::unique_ptr<topics::Transport>> open(ApplicationOptions options = {});

  Application& application() { return *application_; }

  log::ArenaWriter& arena() override { return application_->arena(); }
  std::uint32_t slot() const override { return place_; }
  std::uint32_t slot_count() const override;
  Peer peer(std::uint32_t place) const override {
    const std::uint32_t slot = slots_[place];
    return {application_->roster().peer(slot), application_->roster().peer_arena(slot),
            application_->roster().slot_state(slot) != SlotState::dead};
  }
  Result<bool> poll() override;
  void release_replaced() override { application_->roster().release_replaced(); }
  std::uint64_t roster_changes() const override {
    // Relaxed: whoever misses it now sees it with the next look.
    return application_->roster().generation() + (looks_wanted_.load(std::memory_order_relaxed) << 40);
  }
  // A waker stores what it has, fences, and looks at `sleeping`; a sleeper stores `sleeping`, fences, and
  // looks for what there is. Whichever fence is the first, the other side's look sees the store before it:
  // either nobody sleeps, or somebody wakes.
  void wake(std::uint32_t place) override {
    std::atomic_thread_fence(std::memory_order_seq_cst);
    place == place_ ? application_->bell().wake_self() : application_->wake(slots_[place]);
  }
  void wake_all() override {
    std::atomic_thread_fence(std::memory_order_seq_cst);
    application_->wake_all();
  }
  Status wait(const std::function<bool()>& look_again, std::chrono::nanoseconds at_most) override;
  void check() override;

 private:
  using Time = std::chrono::steady_clock;

  Result<bool> rejoin();
  void move_places(const std::vector<std::uint32_t>& moves);

  std::unique_ptr<Application> application_;
  std::vector<std::uint32_t> slots_;  // by place
  bool is_moved_ = false;             // some place is not the slot of its number
  mutable std::uint32_t places_ = 0;  // that have been in use: never fewer
  const std::uint32_t place_;         // of this application
  std::atomic<std::uint64_t> looks_wanted_{0};
  std::atomic<Time::time_point> next_attempt_{Time::time_point{}};  // to join a driver
  std::chrono::milliseconds pause_;                                 // until the attempt after the next one
  bool has_warned_ = false;
  Status refused_;
};

}  // namespace llamada::llamanet
