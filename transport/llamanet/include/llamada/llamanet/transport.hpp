#pragma once

#include <atomic>
#include <memory>

#include "llamada/llamanet/application.hpp"
#include "llamada/topics/transport.hpp"

namespace llamada::llamanet {

/// The applications of one node as a Participant sees them: topics::Transport over an Application.
///
/// Threads: as topics::Transport's.
class LlamanetTransport final : public topics::Transport {
 public:
  explicit LlamanetTransport(std::unique_ptr<Application> application)
      : application_(std::move(application)) {}

  /// Attaches to the node's driver, starting one if there is none. Errors: as Application::attach().
  static Result<std::unique_ptr<topics::Transport>> open(ApplicationOptions options = {});

  Application& application() { return *application_; }

  topics::ArenaWriter& arena() override { return application_->arena(); }
  std::uint32_t slot() const override { return application_->slot(); }
  std::uint32_t slot_count() const override { return application_->slot_count(); }
  Peer peer(std::uint32_t slot) const override {
    return {application_->peer(slot), application_->peer_arena(slot),
            application_->slot_state(slot) != SlotState::dead};
  }
  Result<bool> poll() override { return application_->refresh(); }
  void release_replaced() override { application_->release_replaced(); }
  std::uint64_t roster_changes() const override { return application_->generation(); }
  // A waker stores what it has, fences, and looks at `sleeping`; a sleeper stores `sleeping`, fences, and
  // looks for what there is. Whichever fence is the first, the other side's look sees the store before it:
  // either nobody sleeps, or somebody wakes.
  void wake(std::uint32_t slot) override {
    std::atomic_thread_fence(std::memory_order_seq_cst);
    application_->wake(slot);
  }
  void wake_all() override {
    std::atomic_thread_fence(std::memory_order_seq_cst);
    application_->wake_all();
  }
  Status wait(const std::function<bool()>& look_again, std::chrono::nanoseconds at_most) override {
    return application_->sleep(look_again, at_most, Application::WakersBy::fence);
  }

 private:
  std::unique_ptr<Application> application_;
};

}  // namespace llamada::llamanet
