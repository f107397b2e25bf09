#include "job.hpp"

#include <poll.h>
#include <sys/resource.h>

#include <algorithm>
#include <cstring>
#include <fstream>
#include <limits>
#include <optional>
#include <string>

#include "llamada/launcher/job_driver.hpp"
#include "llamada/launcher/job_number.hpp"
#include "llamada/launcher/memory_group.hpp"
#include "llamada/llamanet/driver.hpp"
#include "llamada/mpi/calls.hpp"
#include "llamada/qos/rank_protection.hpp"
#include "llamada/qos/serialization.hpp"
#include "llamada/waits/report_area.hpp"
#include "rank_journals.hpp"

// The one place where the launcher, llamaNET and the facade's names of calls meet.

namespace llamada::tools {
namespace {

using launcher::ArenaEvent;
using launcher::ArenaEventKind;
using Kind = llamanet::DriverEvent::Kind;

ArenaEventKind kind_of(llamanet::SayKind kind) {
  switch (kind) {
    case llamanet::SayKind::note:
      return ArenaEventKind::note;
    case llamanet::SayKind::abort:
      return ArenaEventKind::aborted;
    case llamanet::SayKind::diverged:
      return ArenaEventKind::diverged;
    case llamanet::SayKind::unprotected:
      return ArenaEventKind::unprotected;
    case llamanet::SayKind::warning:
      return ArenaEventKind::warning;
    case llamanet::SayKind::live:
      return ArenaEventKind::live;
    case llamanet::SayKind::damaged:
      return ArenaEventKind::damaged;
    case llamanet::SayKind::finalized:
      return ArenaEventKind::finalized;
  }
  return ArenaEventKind::note;
}

/// Of an answer that is not given yet.
std::uint64_t number_of(const llamanet::DriverEvent::Question& question) {
  return question.connection << 32 | question.request;
}
llamanet::DriverEvent::Question question_of(std::uint64_t number) {
  return {number >> 32, static_cast<std::uint32_t>(number)};
}

ArenaEvent spawn_event(const llamanet::DriverEvent& event) {
  ArenaEvent told{ArenaEventKind::spawn, event.slot, 0, {}};
  told.spawn.number = number_of(event.question);
  for (const llamanet::SpawnCommand& command : event.spawn.commands)
    told.spawn.commands.push_back({command.process_count, command.program, command.working_directory,
                                   command.search_path, command.host, command.arguments});
  return told;
}

ArenaEvent reach_event(const llamanet::DriverEvent& event) {
  ArenaEvent told{ArenaEventKind::reach, event.slot, 0, {}};
  told.reach = {static_cast<launcher::ReplayPlace>(event.reach.place),
                event.reach.is_single,
                number_of(event.question),
                event.reach.number,
                {event.reach.output, event.reach.errors}};
  return told;
}

ArenaEvent name_event(const llamanet::DriverEvent& event) {
  using SharedKind = launcher::SharedQuestion::Kind;
  ArenaEvent told{ArenaEventKind::shared, event.slot, 0, {}};
  launcher::SharedQuestion& question = told.shared;
  switch (event.name.action) {
    case llamanet::NameAction::publish:
      question.kind = SharedKind::publish;
      break;
    case llamanet::NameAction::withdraw:
      question.kind = SharedKind::withdraw;
      break;
    case llamanet::NameAction::look_up:
      question.kind = SharedKind::look_up;
      break;
  }
  question.is_port = event.name.space == llamanet::NameSpace::ports;
  question.name = event.name.name;
  question.value = event.name.value;
  question.number = number_of(event.question);
  return told;
}

ArenaEvent move_event(const llamanet::DriverEvent& event) {
  using SharedKind = launcher::SharedQuestion::Kind;
  ArenaEvent told{ArenaEventKind::shared, event.slot, 0, {}};
  launcher::SharedQuestion& question = told.shared;
  switch (event.move.kind) {
    case llamanet::MoveKind::read:
      question.kind = SharedKind::read;
      break;
    case llamanet::MoveKind::add:
      question.kind = SharedKind::add;
      break;
    case llamanet::MoveKind::set:
      question.kind = SharedKind::set;
      break;
    case llamanet::MoveKind::release:
      question.kind = SharedKind::release;
      break;
  }
  question.number_name = event.move.number;
  question.operation = event.move.operation;
  question.operand = event.move.operand;
  question.number = number_of(event.question);
  return told;
}

ArenaEvent agree_event(const llamanet::DriverEvent& event) {
  ArenaEvent told{ArenaEventKind::agree, event.slot, 0, {}};
  told.agreement = {event.vote, number_of(event.question)};
  return told;
}

ArenaEvent probed_event(const llamanet::DriverEvent& event) {
  ArenaEvent told{ArenaEventKind::probed, event.slot, 0, {}};
  for (const llamanet::PairProbe& pair : event.probed)
    told.probe.pairs.push_back({pair.udp_bytes, pair.ethernet_mtu,
                                static_cast<std::uint64_t>(pair.round_trip.count()),
                                pair.clock_ahead.count()});
  return told;
}

llamanet::LinkChoice link_of(const launcher::LinkChoice& link) { return {link.udp_bytes, link.ethernet_mtu}; }

std::optional<ArenaEvent> event_of(const llamanet::DriverEvent& event) {
  switch (event.kind) {
    case Kind::attached:
      return ArenaEvent{ArenaEventKind::attached, event.slot, static_cast<std::int32_t>(event.pid), {}};
    case Kind::said:
      return ArenaEvent{kind_of(event.say.kind), event.slot, event.say.code, event.say.text};
    case Kind::died:
    case Kind::detached:
      return ArenaEvent{ArenaEventKind::died, event.slot, 0, {}};
    case Kind::spawn:
      return spawn_event(event);
    case Kind::reach:
      return reach_event(event);
    case Kind::inject: {
      ArenaEvent told{ArenaEventKind::inject, event.slot, 0, event.text};
      told.inject_number = number_of(event.question);
      return told;
    }
    case Kind::name:
      return name_event(event);
    case Kind::move:
      return move_event(event);
    case Kind::agree:
      return agree_event(event);
    case Kind::probed:
      return probed_event(event);
    case Kind::parked: {
      ArenaEvent told{ArenaEventKind::parked, event.slot, 0, {}};
      told.parked = {static_cast<std::int32_t>(event.pid), event.park.call, number_of(event.question)};
      return told;
    }
    case Kind::refused:
    case Kind::woken:  // the host of a job follows no logs
      break;
  }
  return std::nullopt;
}

llamanet::SlotState slot_state(launcher::RemoteState state) {
  switch (state) {
    case launcher::RemoteState::running:
      return llamanet::SlotState::attached;
    case launcher::RemoteState::dead:
      return llamanet::SlotState::dead;
    case launcher::RemoteState::done:
      return llamanet::SlotState::done;
    case launcher::RemoteState::finalized:
      return llamanet::SlotState::finalized;
  }
  return llamanet::SlotState::attached;
}

llamanet::JobNodes job_nodes(const launcher::ArenasRequest& request) {
  llamanet::JobNodes nodes;
  nodes.own = request.nodes->own;
  nodes.of_slot = request.nodes->of_rank;
  nodes.address = request.nodes->address;
  nodes.job_number = request.job_number;
  nodes.may_use_ethernet = request.nodes->link != launcher::LinkWish::udp;
  std::memcpy(&nodes.key.low, request.nodes->key.data(), sizeof nodes.key.low);
  std::memcpy(&nodes.key.high, request.nodes->key.data() + sizeof nodes.key.low, sizeof nodes.key.high);
  return nodes;
}

/// The arenas of a job, by llamaNET's driver: slot = rank.
class DriverArenas final : public launcher::JobArenas {
 public:
  explicit DriverArenas(llamanet::Driver driver)
      : driver_(std::move(driver)), tokens_(driver_.slot_count_max()) {}

  std::string address() const override { return driver_.socket_name(); }
  bool has_logs_in_memory() const override { return driver_.has_logs_in_memory(); }
  int descriptor() const override { return driver_.descriptor(); }

  Result<std::vector<ArenaEvent>> do_work() override {
    std::vector<ArenaEvent> events;
    // One look takes a connection, the next what it said.
    for (int look = 0; look < looks_max && is_ready(); ++look)
      for (const llamanet::DriverEvent& event : driver_.poll(std::chrono::milliseconds(0)))
        if (auto told = event_of(event); told && is_permitted(event)) events.push_back(std::move(*told));
    for (ArenaEvent& event : events)
      if (event.kind == ArenaEventKind::probed) event.probe.why_no_ethernet = driver_.why_no_ethernet();
    return events;
  }

  Status expect(std::uint32_t rank, std::uint64_t token, const std::string& identity) override {
    tokens_[rank] = token;
    driver_.set_identity(rank, identity);
    driver_.expect(rank, token, 1);
    return {};
  }

  Status next_incarnation(std::uint32_t rank, const std::string& identity) override {
    if (driver_.state(rank) != llamanet::SlotState::dead) driver_.mark_dead(rank);
    driver_.set_identity(rank, identity);
    driver_.expect(rank, tokens_[rank], driver_.next_incarnation(rank));
    return {};
  }

  Result<std::uint32_t> add_ranks(std::uint32_t count) override { return driver_.add_slots(count); }
  void answer_spawn(std::uint64_t question, const launcher::SpawnAnswer& answer) override {
    driver_.answer_spawn(question_of(question), {answer.first, answer.count, answer.error});
  }

  void answer_reach(std::uint64_t question, const launcher::WrittenOutput& written) override {
    driver_.answer_reach(question_of(question), {written[0], written[1]});
  }

  void wake(std::uint64_t parked, std::array<FileDescriptor, 3> streams) override {
    driver_.wake(question_of(parked), std::move(streams));
  }

  void answer_inject(std::uint64_t question, const launcher::InjectAnswer& answer) override {
    driver_.answer_inject(question_of(question), {answer.accepted, answer.text});
  }

  void answer_shared(std::uint64_t question, const launcher::SharedAnswer& answer) override {
    if (answer.is_about_name)
      driver_.answer_name(question_of(question), {answer.code, answer.done, answer.value});
    else
      driver_.answer_move(question_of(question), {answer.done, answer.before});
  }

  void answer_agreement(std::uint64_t question, const std::optional<AgreementDecision>& decision) override {
    driver_.answer_agree(question_of(question),
                         {decision.has_value(), decision.value_or(AgreementDecision())});
  }
  void ask_again() override { driver_.ask_again(); }
  void set_lost(std::uint32_t rank, bool with_node) override { driver_.mark_lost(rank, with_node); }

  void limit_log(std::uint64_t size_bytes) override { driver_.limit_log(size_bytes); }
  void set_unprotected() override { driver_.set_unprotected(); }
  void set_done(std::uint32_t rank) override { driver_.mark_done(rank); }
  void set_ending() override { driver_.set_ending(); }

  launcher::RankView view(std::uint32_t rank) const override {
    const llamanet::ArenaView arena = driver_.view(rank);
    launcher::RankView view;
    view.incarnation = arena.incarnation();
    view.state = static_cast<launcher::RankState>(arena.state());
    view.exit_code = arena.exit_code();
    view.pid = arena.pid();
    view.replaying = arena.replaying();
    view.asleep = arena.sleeping();
    view.damaged = arena.is_damaged();
    view.call = mpi::call_name(static_cast<mpi::CallId>(arena.call_id()));
    view.call_index = arena.call_index();
    for (std::uint32_t counter = 0; counter < view.counters.size(); ++counter)
      view.counters[counter] = arena.counter(static_cast<log::Counter>(counter));
    return view;
  }

  Status restore_journal(const launcher::JournalPiece& piece) override {
    return journals_.restore(driver_, piece);
  }
  Result<std::vector<launcher::JournalPiece>> make_cut(std::uint64_t next_cut) override {
    return journals_.make_cut(driver_, next_cut);
  }

  std::string endpoints() const override { return driver_.endpoints(); }
  Status probe_nodes(const std::vector<std::string>& endpoints) override {
    return driver_.probe_nodes(endpoints);
  }
  Status meet_nodes(const std::vector<std::string>& endpoints, const launcher::LinkChoice& link) override {
    return driver_.meet_nodes(endpoints, link_of(link));
  }
  Result<std::string> add_ranks_of_nodes(const std::vector<std::uint32_t>& nodes) override {
    return driver_.add_slots_of_nodes(nodes);
  }
  Status meet_ranks(const std::vector<std::string>& endpoints) override {
    return driver_.meet_slots(endpoints);
  }
  std::optional<std::vector<std::uint32_t>> ping_nodes() override { return driver_.ping_nodes(); }
  Status stop_hearing(const std::vector<std::uint32_t>& nodes) override {
    return driver_.stop_hearing(nodes);
  }
  void drop_ranks(std::uint32_t first, std::uint32_t count) override { driver_.drop_slots(first, count); }
  std::vector<std::uint64_t> driver_drops() const override { return driver_.dropped_frames(); }
  void set_remote(std::uint32_t rank, launcher::RemoteState state, std::uint32_t incarnation) override {
    driver_.set_remote(rank, slot_state(state), incarnation);
  }

  std::uint32_t raise_survey() override { return driver_.raise_survey(); }
  std::optional<waits::Report> wait_report(std::uint32_t rank) const override {
    const auto area = driver_.view(rank).user_area();
    if (area.empty()) return std::nullopt;
    return waits::read_report(area);
  }

 private:
  /// A slot's token is good for one attach; who is parked shows that it was given it.
  bool is_permitted(const llamanet::DriverEvent& event) const {
    return event.kind != Kind::parked || event.park.token == tokens_[event.slot];
  }
  bool is_ready() const {
    pollfd one{driver_.descriptor(), POLLIN, 0};
    return poll(&one, 1, 0) == 1;
  }

  static constexpr int looks_max = 64;
  llamanet::Driver driver_;
  std::vector<std::uint64_t> tokens_;
  RankJournals journals_;
};

std::uint64_t memory_available_bytes() {
  std::ifstream table("/proc/meminfo");
  std::string name, unit;
  for (std::uint64_t kib = 0; table >> name >> kib; std::getline(table, unit))
    if (name == "MemAvailable:") return kib << 10;
  return std::numeric_limits<std::uint64_t>::max();
}

Status check_log_bytes_at_start(const qos::Profile& profile) {
  const std::uint64_t wanted = profile.rank_replacement.log_bytes_at_start;
  // On a disk it is reserved, which says whether there is so much.
  const bool is_on_disk = !profile.rank_replacement.log_directory.empty();
  if (!qos::rank_protection(profile).keeps_messages || is_on_disk || wanted == 0) return {};
  const std::uint64_t available = memory_available_bytes();
  const auto group = launcher::MemoryGroup::own();
  if (const auto left = group.available_bytes(); left && wanted > *left && *left < available)
    return failure(
        Errc::out_of_resources,
        "log_bytes_at_start of the profile '{}' is {}, but this job's control group (cgroup) has only {} MiB "
        "of its limit of {} MiB left; ask for more memory for the job, or take fault-tolerant, which takes "
        "memory when it needs it",
        profile.name, qos::bytes_to_string(wanted), *left >> 20, *group.limit_bytes() >> 20);
  if (wanted <= available) return {};
  return failure(
      Errc::out_of_resources,
      "log_bytes_at_start of the profile '{}' is {}, but this node has only {} MiB of memory left; take "
      "fault-tolerant, which takes memory when it needs it, or lower log_bytes_at_start",
      profile.name, qos::bytes_to_string(wanted), available >> 20);
}

/// The size of each arena under a limit on address space (ulimit -v), 0 where there is none or it is large
/// enough: each rank maps the arenas of all here, and half of the limit is for the program.
std::uint64_t arena_size_within_limit(const launcher::ArenasRequest& request) {
  constexpr std::uint64_t unit_bytes = 1 << 20, arena_bytes_min = 64 << 20;
  rlimit limit{};
  if (getrlimit(RLIMIT_AS, &limit) != 0 || limit.rlim_cur == RLIM_INFINITY) return 0;
  const std::uint64_t usual =
      std::max(std::uint64_t{8} << 30, 2 * request.profile.rank_replacement.log_bytes_per_node);
  const std::uint64_t possible =
      limit.rlim_cur / 2 / std::max(request.own_rank_count(), 1U) / unit_bytes * unit_bytes;
  return possible >= usual ? 0 : std::max(possible, arena_bytes_min);
}

Result<std::unique_ptr<launcher::JobArenas>> make_arenas(const launcher::ArenasRequest& request) {
  if (auto checked = check_log_bytes_at_start(request.profile); !checked) return propagate(checked);
  llamanet::DriverOptions options;
  options.name = launcher::driver_name(request.job_number, request.nodes ? request.nodes->own : 0);
  options.secret_name = true;
  options.slot_count_max = request.rank_count + launcher::spawned_count_max;
  options.arena_size_bytes = arena_size_within_limit(request);
  if (qos::rank_protection(request.profile).keeps_messages)
    options.log_bytes_max = request.profile.rank_replacement.log_bytes_per_node;
  options.log_directory = request.profile.rank_replacement.log_directory;
  options.profile = qos::serialize(request.profile);
  options.makes_cuts = request.makes_cuts;
  if (request.nodes) options.nodes = job_nodes(request);
  auto driver = llamanet::Driver::open(options);
  if (!driver) return propagate(driver);
  if (auto status = driver->create_slots(request.rank_count); !status) return propagate(status);
  return std::unique_ptr<launcher::JobArenas>(std::make_unique<DriverArenas>(std::move(*driver)));
}

}  // namespace

launcher::ArenasFactory arenas_factory() { return make_arenas; }

int run_job(int control_descriptor, int last_word_descriptor, launcher::Adoption adoption) {
  return launcher::run_job_driver(
      FileDescriptor(control_descriptor), launcher::LastWord(FileDescriptor(last_word_descriptor)),
      make_arenas, [](std::string_view name) { return mpi::find_call(name) != mpi::CallId::none; },
      std::move(adoption));
}

}  // namespace llamada::tools
