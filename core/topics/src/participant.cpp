#include "llamada/topics/participant.hpp"

#include <algorithm>

#include "participant_state.hpp"
#include "slot_store.hpp"

namespace llamada::topics {

using detail::ParticipantState;

void Loan::give_back_slot() { std::exchange(slots_, nullptr)->give_back(slot_); }

Participant::Participant(Transport& transport, const Clock& clock, ParticipantOptions options,
                         DiscoveryEvents* discovery)
    : state_(std::make_unique<ParticipantState>(transport, clock, std::move(options), discovery)) {}

Participant::~Participant() = default;

Result<std::unique_ptr<WriterEndpoint>> Participant::create_writer(const EndpointSpec& spec,
                                                                   WriterEvents& events) {
  if (auto announced = state_->ensure_announced(); !announced) return propagate(announced);
  auto writer = detail::WriterImplementation::create(*state_, spec, events);
  if (!writer) return propagate(writer);
  return std::unique_ptr<WriterEndpoint>(std::move(*writer));
}

Result<std::unique_ptr<ReaderEndpoint>> Participant::create_reader(const EndpointSpec& spec,
                                                                   ReaderEvents& events) {
  if (auto announced = state_->ensure_announced(); !announced) return propagate(announced);
  auto reader = detail::ReaderImplementation::create(*state_, spec, events);
  if (!reader) return propagate(reader);
  return std::unique_ptr<ReaderEndpoint>(std::move(*reader));
}

Status Participant::poll() { return state_->poll(); }

std::size_t Participant::deleted_writer_count() const { return state_->retired_writers.size(); }

Status Participant::wait(const std::function<bool()>& look_again, std::chrono::nanoseconds at_most) {
  const std::int64_t due_ns = state_->next_due_ns.load(std::memory_order_relaxed);
  if (due_ns != detail::never_ns)
    at_most =
        std::min(at_most, std::chrono::nanoseconds(std::max<std::int64_t>(due_ns - state_->now_ns(), 0)));
  // A poll() in look_again may find that there is less time.
  const auto looks = [&] {
    return look_again() || state_->next_due_ns.load(std::memory_order_relaxed) < due_ns;
  };
  return state_->transport.wait(looks, at_most);
}

Status Participant::wait_after(const std::function<Result<bool>()>& round, std::chrono::nanoseconds at_most) {
  Status worked;
  const auto look_again = [&] {
    Result<bool> stays = round();
    if (!stays) worked = propagate(stays);
    return !stays || *stays;
  };
  Status waited = wait(look_again, at_most);
  return worked ? waited : worked;
}

void Participant::wake_self() { state_->transport.wake(state_->transport.slot()); }

void Participant::check_domain() { state_->transport.check(); }

void Participant::assert_liveliness() {
  if (state_->ensure_announced()) state_->assert_manually();
}

Status Participant::set_user_data(std::vector<std::byte> user_data) {
  state_->options.user_data = std::move(user_data);
  if (auto announced = state_->ensure_announced(); !announced) return announced;
  return state_->describe();
}

std::uint64_t Participant::id() const { return state_->own_arena_id(); }

}  // namespace llamada::topics
