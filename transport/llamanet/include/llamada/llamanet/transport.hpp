#pragma once

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
  void wake(std::uint32_t slot) override { application_->wake(slot); }
  void wake_all() override { application_->wake_all(); }
  Status wait(const std::function<bool()>& look_again, std::chrono::nanoseconds at_most) override {
    return application_->sleep(look_again, at_most);
  }

 private:
  std::unique_ptr<Application> application_;
};

}  // namespace llamada::llamanet
