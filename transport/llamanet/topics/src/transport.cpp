#include "llamada/llamanet/transport.hpp"

#include <fmt/core.h>

#include <algorithm>
#include <cstdio>
#include <numeric>

namespace llamada::llamanet {
namespace {

/// Between attempts to join a driver: at first, since drivers that start at once end each other, and at most.
constexpr std::chrono::milliseconds pause_first{10};
constexpr std::chrono::milliseconds pause_max{1000};

/// Whether it is of no use to try again.
bool is_for_good(const Error& error) {
  return error.code() == Errc::already_exists || error.code() == Errc::unsupported ||
         error.code() == Errc::parse_error;
}

}  // namespace

LlamanetTransport::LlamanetTransport(std::unique_ptr<Application> application)
    : application_(std::move(application)),
      slots_(application_->roster().slot_count_max()),
      place_(application_->slot()),
      pause_(pause_first) {
  std::iota(slots_.begin(), slots_.end(), 0);
}

Result<std::unique_ptr<topics::Transport>> LlamanetTransport::open(ApplicationOptions options) {
  options.start_driver = true;
  auto application = Application::attach(options);
  if (!application) return propagate(application);
  return std::unique_ptr<topics::Transport>(std::make_unique<LlamanetTransport>(std::move(*application)));
}

std::uint32_t LlamanetTransport::slot_count() const {
  const std::uint32_t count = application_->roster().slot_count();
  auto places = static_cast<std::uint32_t>(is_moved_ ? slots_.size() : count);
  while (places > 0 && slots_[places - 1] >= count) --places;
  // A new driver's roster may be shorter, and whoever had a place behind it must be seen to be gone.
  places_ = std::max(places_, places);
  return places_;
}

Result<bool> LlamanetTransport::poll() {
  if (!refused_) return propagate(refused_);
  if (!application_->is_alone()) {
    auto changed = application_->roster().refresh();
    if (changed || changed.error().code() != Errc::closed || !application_->rejoins()) return changed;
    application_->lose_driver();
  }
  if (Time::now() < next_attempt_.load(std::memory_order_relaxed)) return false;
  return rejoin();
}

Result<bool> LlamanetTransport::rejoin() {
  next_attempt_.store(Time::now() + pause_, std::memory_order_relaxed);
  pause_ = std::min(2 * pause_, pause_max);
  auto moves = application_->rejoin();
  if (moves) {
    move_places(*moves);
    auto changed = application_->roster().refresh();
    if (changed) {
      has_warned_ = false;
      pause_ = pause_first;
      return true;
    }
    application_->lose_driver();  // it, too, has ended
    return false;
  }
  if (is_for_good(moves.error())) {
    refused_ = failure(Errc::closed,
                       "the driver llamanetd of this participant has ended, and the one that has come in its "
                       "place does not take the participant: {}; close the participant and make another one",
                       moves.error().text());
    return propagate(refused_);
  }
  if (pause_ == pause_max && !std::exchange(has_warned_, true))
    fmt::print(stderr,
               "llamada: the driver llamanetd has ended, and process {} cannot join another one ({}). Its "
               "participants go on with those they know, find no new ones, and try again every second.\n",
               ::getpid(), moves.error().text());
  return false;
}

void LlamanetTransport::move_places(const std::vector<std::uint32_t>& moves) {
  if (moves.empty()) return;
  for (std::uint32_t& slot : slots_) slot = moves[slot];
  is_moved_ = true;
}

Status LlamanetTransport::wait(const std::function<bool()>& look_again, std::chrono::nanoseconds at_most) {
  Status slept = application_->bell().sleep(look_again, at_most, Bell::WakersBy::fence);
  if (!application_->rejoins()) return slept;
  if (application_->is_alone()) check();
  return {};
}

void LlamanetTransport::check() {
  if (!application_->rejoins()) return;
  const bool has_to_look = application_->is_alone()
                               ? Time::now() >= next_attempt_.load(std::memory_order_relaxed)
                               : !application_->check_driver();
  if (has_to_look) looks_wanted_.fetch_add(1, std::memory_order_relaxed);
}

}  // namespace llamada::llamanet
