// Where the API meets llamaNET: a participant joins the node's driver, and starts one if there is none.

#include <unistd.h>

#include <array>
#include <mutex>

#include "dds/domain/domain.hpp"
#include "llamada/llamanet/transport.hpp"

namespace dds::domain::detail {

namespace {

using llamada::llamanet::ApplicationOptions;
using llamada::llamanet::LlamanetTransport;

// What docs/guide.md says of limits. The directories take memory only as they fill.
constexpr std::uint32_t endpoint_count_max = 8192;
constexpr std::uint32_t match_count_max = 32768;

std::string program_name() {
  std::array<char, 4096> path;
  const auto length = ::readlink("/proc/self/exe", path.data(), path.size());
  const std::string_view whole(path.data(), length > 0 ? static_cast<std::size_t>(length) : 0);
  return std::string(whole.substr(whole.rfind('/') + 1));
}

/// The participants that the program has references to.
struct Participants {
  std::mutex mutex;
  /// Where a driver may be found that lies neither beside the program nor beside a library of ours.
  std::string driver_elsewhere;
  std::vector<std::weak_ptr<ParticipantState>> all;
};

Participants& participants() {
  static constinit llamada::OfThisProcess<Participants> one;
  return one.get();
}

llamada::Result<std::unique_ptr<llamada::topics::Transport>> open_transport(std::uint32_t) {
  ApplicationOptions options;
  options.name = program_name();
  options.arena.endpoint_count_max = endpoint_count_max;
  options.arena.match_count_max = match_count_max;
  options.arena.grant_count_max = match_count_max;
  {
    auto& known = participants();
    const std::lock_guard held(known.mutex);
    options.driver_elsewhere = known.driver_elsewhere;
  }
  return LlamanetTransport::open(options);
}

struct Factory {
  llamada::SystemClock clock;
  llamada::dcps::DomainParticipantFactory native{open_transport, clock};
};

/// Destroyed at the program's end.
struct LastingFactory {
  llamada::OfThisProcess<Factory> one;
  ~LastingFactory() { one.destroy(); }
};

/// Each process has one factory (DDS 1.4, 2.2.2.2.2.3 get_instance).
llamada::dcps::DomainParticipantFactory& factory() {
  static LastingFactory lasting;
  return lasting.one.get().native;
}

}  // namespace

std::shared_ptr<ParticipantState> join(std::uint32_t domain_id, const JoinOptions& options,
                                       ParticipantListening listening) {
  auto& [mutex, driver_elsewhere, all] = participants();
  {
    const std::lock_guard held(mutex);
    if (driver_elsewhere.empty()) driver_elsewhere = options.driver_program;
  }
  llamada::dcps::DomainParticipantOptions native;
  native.name = program_name();
  native.qos = options.qos;
  native.listener = listening.adapter.get();
  native.mask = listening.mask;
  auto state = std::make_shared<ParticipantState>(
      core::detail::value_of(factory().create_participant(domain_id, native)));
  state->adopt(std::move(listening.adapter));
  core::detail::make_known(state);
  const std::lock_guard held(mutex);
  std::erase_if(all, [](const auto& each) { return each.expired(); });
  all.push_back(state);
  return state;
}

std::shared_ptr<ParticipantState> find_participant(std::uint32_t domain_id) {
  const auto native = factory().lookup_participant(domain_id);
  auto& [mutex, driver_elsewhere, all] = participants();
  const std::lock_guard held(mutex);
  for (const auto& each : all) {
    auto state = each.lock();
    if (state && native && state->shared_entity() == native) return state;
  }
  return nullptr;
}

llamada::qos::DomainParticipantQos default_participant_qos() { return factory().default_participant_qos(); }

llamada::Status set_default_participant_qos(const llamada::qos::DomainParticipantQos& qos) {
  return factory().set_default_participant_qos(qos);
}

llamada::Status ParticipantState::remove() {
  auto native = std::static_pointer_cast<llamada::dcps::DomainParticipant>(shared_entity());
  if (auto status = native->delete_contained_entities(); !status) return status;
  return factory().delete_participant(native);
}

}  // namespace dds::domain::detail
