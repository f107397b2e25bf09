#include "world/llamanet.hpp"

#include <errno.h>
#include <fmt/core.h>
#include <signal.h>
#include <sys/single_threaded.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>
#include <cstdio>
#include <optional>

#include "llamada/base/check.hpp"
#include "llamada/llamanet/application.hpp"
#include "llamada/llamanet/driver_guard.hpp"
#include "llamada/llamanet/memory_source.hpp"
#include "llamada/qos/serialization.hpp"
#include "world/cores.hpp"
#include "world/far_ranks.hpp"
#include "world/last_output.hpp"
#include "world/peer_memory.hpp"

namespace llamada::mpi {
namespace {

/// Without handlers and destructors: nothing of the program may run any more.
[[noreturn]] void end_process(int code) { _exit(code); }

template <typename Qos>
std::string short_text(const Qos& qos) {
  const bool keeps_all = qos.history.kind == qos::HistoryKind::keep_all;
  const bool reliable = qos.reliability.kind == qos::ReliabilityKind::reliable;
  const bool transient_local = qos.durability.kind == qos::DurabilityKind::transient_local;
  return fmt::format("{} {} {}", reliable ? "RELIABLE" : "BEST_EFFORT", keeps_all ? "KEEP_ALL" : "KEEP_LAST",
                     transient_local ? "TRANSIENT_LOCAL" : "VOLATILE");
}

/// The rank's DataWriter and DataReader on the job's topic, for those who look from outside. All logs belong
/// to the first entry; a predecessor may have made none, one or both.
Status describe_endpoints(log::ArenaWriter& arena, const qos::Profile& profile) {
  const std::string offered = short_text(profile.datawriter_qos);
  const std::string requested = short_text(profile.datareader_qos);
  const log::EndpointDescription descriptions[] = {
      {.kind = log::EndpointKind::writer, .topic = "ranks", .type = "MPI", .qos = offered},
      {.kind = log::EndpointKind::reader, .topic = "ranks", .type = "MPI", .qos = requested}};
  for (std::uint32_t i = arena.reading().endpoint_count(); i < std::size(descriptions); ++i)
    if (auto added = arena.add_endpoint(descriptions[i]); !added) return propagate(added);
  return {};
}

/// This rank's share of what is made before the job runs. A replacement finds its predecessor's, and what is
/// spawned comes later.
Status prepare_log(llamanet::Application& application, const qos::Profile& profile,
                   const LaunchedRank& launched) {
  const std::uint64_t node_bytes = profile.rank_replacement.log_bytes_at_start;
  const bool is_first = application.incarnation() == 1 && launched.first == 0;
  if (!qos::rank_protection(profile).keeps_messages || node_bytes == 0 || !is_first) return {};
  auto prepared =
      application.own_arena().prepare_next(node_bytes / static_cast<std::uint64_t>(launched.size));
  if (prepared) return {};
  return failure(prepared.error().code(), "log_bytes_at_start of the profile '{}' is {}: {}", profile.name,
                 qos::bytes_to_string(node_bytes), prepared.error().text());
}

/// This rank's part in shared memory.
class Segment final : public SharedSegment::Holder {
 public:
  Segment(llamanet::Application& application, std::uint64_t name, llamanet::Mapping mapping)
      : application_(application), name_(name), mapping_(std::move(mapping)) {}
  /// When the driver is gone, so is what it has kept.
  ~Segment() override { (void)application_.release_segment(name_); }

 private:
  llamanet::Application& application_;
  std::uint64_t name_;
  llamanet::Mapping mapping_;
};

class LlamanetWorld final : public World {
 public:
  LlamanetWorld(std::unique_ptr<llamanet::Application> application, qos::Profile profile,
                const LaunchedRank& launched, std::optional<llamanet::DriverGuard> guard)
      : application_(std::move(application)),
        guard_(std::move(guard)),
        profile_(std::move(profile)),
        job_name_(launched.driver),
        world_first_(launched.first),
        world_size_(launched.size) {
    if (const llamanet::NodeBook* book = application_->book()) {
      // The driver of each node has a name of its own.
      job_name_ = fmt::format("job-{:016x}", book->job_number);
      links_.emplace(*application_, *this, launched.first, launched.size, protection().keeps_messages);
    }
    oversubscribed_ = machine_size() > (launched.cpus > 0 ? launched.cpus : cores_allowed());
  }

  int rank() const override { return static_cast<int>(application_->slot()); }
  int size() const override { return static_cast<int>(application_->roster().slot_count()); }
  int world_first() const override { return world_first_; }
  int world_size() const override { return world_size_; }
  std::uint32_t incarnation() const override { return application_->incarnation(); }
  const qos::Profile& profile() const override { return profile_; }
  std::string_view identity() const override { return application_->identity(); }
  const std::atomic<std::uint64_t>* cut() const override { return &application_->roster().page().cut; }
  void await_stable() override {
    if (cut()->load(std::memory_order_relaxed) != 0 && is_protected())
      reached(ReplayPlace::effect, __libc_single_threaded);
  }

  log::ArenaWriter& arena() override { return application_->arena(); }
  bool is_local(int world_rank) const override { return !links_ || !links_->is_far(world_rank); }
  int node_of(int world_rank) const override { return links_ ? links_->node_of(world_rank) : 0; }
  int local_size() const override { return links_ ? count_local() : size(); }
  int machine_size() const override { return links_ ? links_->machine_size() : size(); }
  Source source(int world_rank, log::LogKey key) override {
    if (is_local(world_rank)) return World::source(world_rank, key);
    auto found = links_->logs().source(world_rank, key);
    if (!found) aborted(1, found.error().text());
    return *found;
  }
  log::PeerArena cursors_of(int world_rank) override {
    return is_local(world_rank) ? World::cursors_of(world_rank) : log::PeerArena();
  }
  void publish_to(log::LogWriter& log, log::LogKey key, std::span<const int> world_ranks) override {
    for (const int other : world_ranks) {
      if (is_local(other)) continue;
      if (auto published = links_->logs().publish_to(log, key, other); !published)
        aborted(1, published.error().text());
    }
  }
  ProgressHook* link() override { return links_ ? &links_->logs() : nullptr; }
  bool awaits_inputs() override { return links_ && links_->logs().awaits_inputs(); }
  /// Survivors have agreed to end; nobody may ever follow what they published before a revocation.
  bool has_delivered() override { return !links_ || survivors_go_on() || links_->logs().has_delivered(); }
  void leave() override {
    guard_.reset();
    (void)application_->leave();
  }
  /// Of a rank on another node as its slot says, since its arena is there.
  log::ArenaState state_of(int world_rank) override {
    if (is_lost(world_rank)) return log::ArenaState::exiting;
    if (is_local(world_rank)) return World::state_of(world_rank);
    switch (application_->roster().slot_state(static_cast<std::uint32_t>(world_rank))) {
      case llamanet::SlotState::attached:
        return log::ArenaState::in_program;
      case llamanet::SlotState::finalized:
        return log::ArenaState::finalized;
      case llamanet::SlotState::done:
        return log::ArenaState::exiting;
      default:
        return log::ArenaState::none;
    }
  }
  bool is_replaying(int world_rank) override {
    return is_local(world_rank) && World::is_replaying(world_rank);
  }
  log::PeerArena peer(int world_rank) override {
    LLAMADA_CHECK(is_local(world_rank));
    if (world_rank == rank()) return application_->arena().reading();
    const auto slot = static_cast<std::uint32_t>(world_rank);
    auto arena = application_->roster().peer(slot);
    if (arena.base || slot >= application_->roster().slot_count()) return arena;
    // Of another world.
    if (!application_->roster().meet(slot)) driver_is_gone();
    return application_->roster().peer(slot);
  }
  bool has_ended(int world_rank) override {
    const auto state = application_->roster().slot_state(static_cast<std::uint32_t>(world_rank));
    return state == llamanet::SlotState::done || state == llamanet::SlotState::free ||
           llamanet::is_lost(state);
  }
  bool is_lost(int world_rank) override {
    return llamanet::is_lost(application_->roster().slot_state(static_cast<std::uint32_t>(world_rank)));
  }
  bool has_come(int world_rank, log::LogKey key) override {
    return is_local(world_rank) || links_->logs().has_come(world_rank, key);
  }
  Result<std::optional<AgreementDecision>> agree(const AgreementVote& vote) override {
    if (vote.members.size() > llamanet::agreement_members_max)
      return failure(Errc::out_of_resources, "an agreement has {} members, and no more than {} may have one",
                     vote.members.size(), llamanet::agreement_members_max);
    auto answer = application_->agree(vote);
    if (!answer && answer.error().code() == Errc::closed) driver_is_gone();
    if (!answer) return propagate(answer);
    return answer->is_decided ? std::optional(std::move(answer->decision)) : std::nullopt;
  }
  void part(int world_rank) override {
    if (!is_local(world_rank)) return links_->logs().part(world_rank);
    if (!application_->roster().part(static_cast<std::uint32_t>(world_rank))) driver_is_gone();
  }
  std::uint64_t roster_changes() override { return application_->roster().generation(); }

  Result<SpawnedRanks> spawn(const std::vector<SpawnCommand>& commands) override {
    llamanet::Spawn question;
    for (const SpawnCommand& command : commands)
      question.commands.push_back({command.process_count, command.program, command.working_directory,
                                   command.search_path, command.host, command.arguments});
    auto answer = application_->spawn(question);
    if (!answer && answer.error().code() == Errc::closed) driver_is_gone();
    if (!answer) return propagate(answer);
    if (answer->count == 0) return failure(Errc::not_found, "{}", answer->error);
    return SpawnedRanks{static_cast<int>(answer->first), static_cast<int>(answer->count)};
  }
  std::string job_name() const override { return job_name_; }
  Status publish_name(NameSpace space, const std::string& name, const std::string& value) override {
    return drop_value(ask_name(space, llamanet::NameAction::publish, name, value));
  }
  Status withdraw_name(NameSpace space, const std::string& name) override {
    return drop_value(ask_name(space, llamanet::NameAction::withdraw, name, {}));
  }
  Result<std::string> look_up_name(NameSpace space, const std::string& name) override {
    return ask_name(space, llamanet::NameAction::look_up, name, {});
  }

  Result<std::uint64_t> move_number(const NumberMove& move) override {
    auto answer = application_->move(
        {move.number, move.operation, static_cast<llamanet::MoveKind>(move.kind), move.operand});
    if (!answer && answer.error().code() == Errc::closed) driver_is_gone();
    if (!answer) return propagate(answer);
    if (answer->done) return answer->before;
    return failure(Errc::out_of_resources, "the job has as many shared numbers as it may have");
  }

  void wake(int world_rank) override {
    if (!is_local(world_rank)) [[unlikely]]
      return links_->logs().push(world_rank);
    application_->wake(static_cast<std::uint32_t>(world_rank));
  }
  void wake_all() override { application_->wake_all(); }
  /// A rank that has records under way to other nodes keeps quiet about that question: the others cannot have
  /// seen these. Whoever asks does so twice, so that what had come before the first answer is seen by the
  /// second question.
  std::uint32_t survey() override {
    const std::uint32_t survey = application_->roster().page().survey.load(std::memory_order_acquire);
    if (!links_) return survey;
    if (survey == seen_survey_) return *shown_survey_;
    seen_survey_ = survey;
    if (!shown_survey_ || links_->logs().is_idle()) shown_survey_ = survey;
    return *shown_survey_;
  }
  void prepare_ahead() override { application_->own_arena().prepare_ahead(); }
  const std::atomic<std::uint32_t>* sleeping_word(int world_rank) override {
    if (!is_local(world_rank) || application_->bell().needs_fence()) return nullptr;
    return &peer(world_rank).header().sleeping;
  }

  void sleep(const std::function<bool()>& look_again) override {
    const auto at_most = links_ ? links_->logs().prepare_sleep() : llamanet::Bell::nap_max;
    auto slept = application_->bell().sleep(look_again, at_most);
    if (!slept) driver_is_gone();
  }
  Result<SharedSegment> shared_segment(std::uint64_t name, std::size_t bytes) override {
    auto mapping = application_->shared_segment(name, bytes);
    if (!mapping && mapping.error().code() == Errc::closed) driver_is_gone();
    if (!mapping) return propagate(mapping);
    auto memory = mapping->bytes();
    return SharedSegment(memory, std::make_unique<Segment>(*application_, name, std::move(*mapping)));
  }
  bool oversubscribed() const override { return oversubscribed_; }
  bool is_protected() const override { return application_->roster().is_protected(); }

  [[noreturn]] void aborted(int code, std::string_view text) override {
    arena().set_exit(code);
    // The driver ends the job when it hears of it: what the program has printed goes before.
    Abort abort{*application_, application_->prepare_say(llamanet::SayKind::abort, code, text), code};
    write_last_output(tell_and_end, &abort);
    tell_and_end(&abort);
  }
  [[noreturn]] void diverged(std::string_view text) override {
    if (repeats_as_copy_) give_way(text);
    arena().set_exit(1);
    tell(llamanet::SayKind::diverged, 1, text);
    end_process(1);
  }
  [[noreturn]] void damaged(int world_rank, std::string_view how) override {
    // Who has written over its own notes sees damage elsewhere.
    const std::string own = arena().find_damage();
    arena().set_exit(1);
    if (own.empty())
      tell(llamanet::SayKind::damaged, world_rank, how);
    else
      tell(llamanet::SayKind::damaged, rank(), own);
    end_process(1);
  }
  void log_used_up() override {
    if (said_used_up_) return;
    said_used_up_ = true;
    const int error = application_->own_arena().disk_error();
    tell(llamanet::SayKind::unprotected, 0,
         error == 0 ? std::string() : llamanet::why_no_room(error, profile_.rank_replacement.log_directory));
  }
  void unprotected(std::string_view why) override { tell(llamanet::SayKind::unprotected, 0, why); }
  void announce_end() override {
    if (links_) tell(llamanet::SayKind::finalized, 0, "");
  }
  void warning(std::string_view text) override { tell(llamanet::SayKind::warning, 0, text); }
  void reached(ReplayPlace place, bool is_single) override {
    ask({.place = static_cast<llamanet::ReplayPlace>(place), .is_single = is_single});
  }
  WrittenOutput written_output() override {
    const llamanet::Reached answer = ask({.place = llamanet::ReplayPlace::output});
    return {answer.output, answer.errors};
  }
  std::string obstacle_to_standby() override {
    if (guard_) return "another launcher has started the ranks";
    if (size() != world_size()) return "the job has started other programs by MPI_Comm_spawn";
    if (!is_protected()) return "the job is no longer protected";
    if (checkpoint() != 0) return "the program takes checkpoints";
    return {};
  }
  WrittenOutput output_so_far() override {
    const llamanet::Reached answer = ask({.place = llamanet::ReplayPlace::output, .number = for_standby});
    return {answer.output, answer.errors};
  }
  Result<std::vector<FileDescriptor>> park(std::uint64_t call) override { return application_->park(call); }
  Status take_over() override {
    if (auto taken = application_->take_over(); !taken) return taken;
    renew_own_card();
    repeats_as_copy_ = true;
    seen_survey_ = shown_survey_ = std::nullopt;
    // In place: others refer to it.
    if (links_)
      links_.emplace(*application_, *this, world_first_, world_size_, protection().keeps_messages,
                     links_->logs().left());
    said_used_up_ = false;
    arena().set_replaying(true);
    return {};
  }
  Source source_behind(int world_rank, log::LogKey key, std::uint64_t record_count) override {
    if (is_local(world_rank)) return World::source(world_rank, key);
    auto found = links_->logs().source_behind(world_rank, key, record_count);
    if (!found) give_way(found.error().text());
    return *found;
  }
  void goes_on_as_copy(const WrittenOutput& written, std::chrono::nanoseconds age) override {
    if (links_)
      if (auto followed = links_->logs().follow_rest(); !followed) give_way(followed.error().text());
    using Milliseconds = std::chrono::duration<std::uint32_t, std::milli>;
    const auto rounded = std::chrono::ceil<Milliseconds>(std::max(age, std::chrono::nanoseconds(1)));
    ask({.place = llamanet::ReplayPlace::restored,
         .number = rounded.count(),
         .output = written[0],
         .errors = written[1]});
  }
  void note(std::string_view text) override { tell(llamanet::SayKind::note, 0, text); }
  void checkpoint_written(std::uint32_t number) override {
    ask({.place = llamanet::ReplayPlace::checkpoint, .number = number});
  }
  void checkpoint_unusable(std::uint32_t number, std::string_view why) override {
    if (!outlives_processes()) return;
    tell(llamanet::SayKind::warning, 0, why);
    ask({.place = llamanet::ReplayPlace::unusable, .number = number});
  }
  void restored(const WrittenOutput& written) override {
    ask({.place = llamanet::ReplayPlace::restored, .output = written[0], .errors = written[1]});
  }
  void live() override {
    repeats_as_copy_ = false;
    arena().set_replaying(false);
    tell(llamanet::SayKind::live, 0, "");
    wake_all();
  }

 private:
  /// Reach::number of a rank that asks how much it has written, and takes no checkpoint.
  static constexpr std::uint32_t for_standby = 1;
  /// Reach::number of a rank that cannot go on from a standby, where others name a checkpoint.
  static constexpr std::uint32_t standby = 0;
  llamanet::Reached ask(const llamanet::Reach& question) {
    auto answer = application_->reach(question);
    if (!answer) driver_is_gone();
    return *answer;
  }
  Result<std::string> ask_name(NameSpace space, llamanet::NameAction action, const std::string& name,
                               const std::string& value) {
    const auto in = space == NameSpace::ports ? llamanet::NameSpace::ports : llamanet::NameSpace::services;
    auto answer = application_->name({in, action, name, value});
    if (!answer && answer.error().code() == Errc::closed) driver_is_gone();
    if (!answer) return propagate(answer);
    if (answer->done) return std::move(answer->value);
    if (answer->code == Errc::already_exists)
      return failure(answer->code, "'{}' has been published before", name);
    if (answer->code == Errc::not_found) return failure(answer->code, "there is no '{}'", name);
    return failure(answer->code, "the job has as many names as it may have");
  }
  /// A copy has not repeated what its original did. Nobody has noticed that, so the rank is replaced again,
  /// from the beginning: the copy that this one has left would come to the same end.
  [[noreturn]] void give_way(std::string_view text) {
    tell(llamanet::SayKind::warning, 0, fmt::format("its standby is of no use: {}", text));
    ask({.place = llamanet::ReplayPlace::unusable, .number = standby});
    for (;;) ::syscall(SYS_kill, ::syscall(SYS_getpid), SIGKILL);
  }
  static Status drop_value(Result<std::string> answer) {
    return answer ? Status() : Status(propagate(answer));
  }
  void tell(llamanet::SayKind kind, int code, std::string_view text) {
    if (!application_->say(kind, code, text)) driver_is_gone();
  }
  /// The job is over, and whoever ended it has said why, or cannot; unless the program itself has cut us off.
  [[noreturn]] void driver_is_gone() {
    if (const int descriptor = application_->closed_descriptor(); descriptor >= 0) {
      const std::string text = fmt::format(
          "llamada: the program has closed file descriptor {}, over which the other ranks and llamanetd "
          "reach this rank (closefrom, close_range?); a program may close only descriptors that it has "
          "opened itself.\n",
          descriptor);
      (void)!::write(STDERR_FILENO, text.data(), text.size());
    }
    end_process(1);
  }

  /// An end that a signal handler can bring about.
  struct Abort {
    const llamanet::Application& application;
    std::vector<std::byte> words;
    int code;
  };
  [[noreturn]] static void tell_and_end(void* context) {
    const Abort& abort = *static_cast<Abort*>(context);
    end_process(abort.application.say(abort.words) ? abort.code : 1);
  }

  std::unique_ptr<llamanet::Application> application_;
  std::optional<llamanet::DriverGuard> guard_;  // of a rank that is no child of its llamanetd's
  qos::Profile profile_;
  std::string job_name_;
  int world_first_;
  int world_size_;
  bool oversubscribed_ = false;
  std::optional<FarRanks> links_;  // of a job on several nodes
  bool said_used_up_ = false;
  bool repeats_as_copy_ = false;  // a standby that was woken, until it is live
  // With links: the number of the question that was seen last, and of the last one that may be answered.
  std::optional<std::uint32_t> seen_survey_;
  std::optional<std::uint32_t> shown_survey_;
};

}  // namespace

Result<std::unique_ptr<World>> attach_to_driver(const LaunchedRank& launched) {
  llamanet::ApplicationOptions options;
  options.socket_name = launched.driver;
  options.slot = static_cast<std::uint32_t>(launched.rank);
  options.token = launched.token;
  options.name = program_invocation_short_name;
  options.first_peer = static_cast<std::uint32_t>(launched.first);
  options.peer_count = static_cast<std::uint32_t>(launched.size);
  std::optional<llamanet::DriverGuard> guard;
  if (launched.is_adopted) {
    auto raised = llamanet::DriverGuard::raise(launched.driver);
    if (!raised) return propagate(raised);
    guard = std::move(*raised);
  }
  auto application = llamanet::Application::attach(options);
  if (!application) return propagate(application);
  (*application)->leave_silently();
  // Until live(). Others who look from outside, and members of its communicators, go by this word.
  const bool is_resumed = identity_value((*application)->identity(), "resumed") == "1";
  (*application)->arena().set_replaying((*application)->incarnation() > 1 || is_resumed);
  auto profile = qos::deserialize((*application)->profile());
  if (!profile) return propagate(profile);
  if (auto described = describe_endpoints((*application)->arena(), *profile); !described)
    return propagate(described);
  if (auto prepared = prepare_log(**application, *profile, launched); !prepared) return propagate(prepared);
  return std::unique_ptr<World>(std::make_unique<LlamanetWorld>(std::move(*application), std::move(*profile),
                                                                launched, std::move(guard)));
}

}  // namespace llamada::mpi
