#pragma once

#include <cstddef>
#include <memory>
#include <utility>

#include "llamada/topics/participant.hpp"

namespace llamada::dcps::detail {

/// A participant's membership of its domain: entered once, left for good, or lost when the domain ends.
///
/// Threads: any, with the participant's lock held; participant() may wait and be woken without it.
class DomainMembership {
 public:
  explicit DomainMembership(std::unique_ptr<topics::Transport> transport)
      : transport_(std::move(transport)) {}

  /// Enters the domain. Once.
  void enter(const Clock& clock, topics::ParticipantOptions options,
             std::unique_ptr<topics::DiscoveryEvents> discovery) {
    discovery_ = std::move(discovery);
    participant_ =
        std::make_unique<topics::Participant>(*transport_, clock, std::move(options), discovery_.get());
  }
  /// From enter() until the domain is left.
  bool is_in() const { return participant_ != nullptr; }
  /// Only while is_in().
  topics::Participant& participant() { return *participant_; }
  /// Ends the sleep of the thread that waits for the domain, if there is one.
  void wake() {
    if (participant_) participant_->wake_self();
  }

  /// Errors: closed (the domain is gone for good).
  Status state() const { return state_; }
  /// Whether state() is an error; the reference stays valid.
  const bool& is_lost() const { return is_lost_; }
  /// The domain is gone. False: that was known.
  bool lose(const Status& why) {
    if (is_lost_) return false;
    state_ = tl::unexpected<Error>(Error(Errc::closed, why.error().text()));
    is_lost_ = true;
    return true;
  }

  /// The application has samples, or room for some, that keep the domain's memory.
  void loan_began() { ++loan_count_; }
  void loan_ended() {
    --loan_count_;
    if (is_leaving_) leave();
  }
  /// Leaves the domain as soon as nothing is on loan. Nobody may wait for it any longer.
  void leave() {
    is_leaving_ = true;
    if (loan_count_ > 0) return;
    participant_.reset();
    transport_.reset();
  }

 private:
  std::unique_ptr<topics::Transport> transport_;
  std::unique_ptr<topics::DiscoveryEvents> discovery_;
  std::unique_ptr<topics::Participant> participant_;
  Status state_;
  bool is_lost_ = false;
  bool is_leaving_ = false;
  std::size_t loan_count_ = 0;
};

}  // namespace llamada::dcps::detail
