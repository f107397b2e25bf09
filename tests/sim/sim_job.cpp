#include "sim_job.hpp"

#include <fmt/format.h>
#include <sys/mman.h>

#include <algorithm>
#include <optional>

#include "llamada/base/check.hpp"
#include "nodes.hpp"
#include "profiles.hpp"
#include "sim_rank.hpp"
#include "world/remote_logs.hpp"

namespace llamada::mpi::sim {
namespace {

constexpr std::size_t stack_bytes = std::size_t{256} << 10;
constexpr std::uint64_t turns_max = 400'000;
constexpr std::uint64_t turns_max_with_links = 4'000'000;
/// A rank with links sleeps no longer, so that nobody has to wake it for a datagram.
constexpr std::chrono::microseconds sleep_max_with_links{20};
constexpr std::chrono::microseconds turn_time{1};

/// What a rank that ends the job throws.
struct Ended {
  std::string text;
  bool diverged = false;
};

/// Arenas and stacks are used by one job after the other.
std::byte* memory_of(int rank) {
  static std::vector<std::byte*> memories;
  while (memories.size() <= static_cast<std::size_t>(rank)) {
    void* memory = mmap(nullptr, arena_bytes + stack_bytes, PROT_READ | PROT_WRITE,
                        MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    LLAMADA_CHECK(memory != MAP_FAILED);
    memories.push_back(static_cast<std::byte*>(memory));
  }
  return memories[static_cast<std::size_t>(rank)];
}

}  // namespace

Job::RankState::RankState() = default;
Job::RankState::~RankState() = default;

void Job::RankState::forget() {
  install_runtime(nullptr);
  if (runtime) calls = std::max(calls, runtime->calls.begun());
  if (collectives) collectives->leave();
  engine.reset();
  runtime.reset();
  collectives.reset();
  waiter.reset();
  world.reset();
  arena.reset();
}

/// A rank's link, whose owner may die whenever it sends.
class Job::SimLink final : public replication::Link {
 public:
  SimLink(Job& job, RankState& state, links::FakeLink& link) : job_(job), state_(state), link_(link) {}
  replication::LinkLimits limits() const override { return link_.limits(); }
  Status meet(replication::EndpointNumber endpoint, const replication::Address& address) override {
    return link_.meet(endpoint, address);
  }
  std::size_t send(replication::EndpointNumber to,
                   std::span<const replication::Datagram> datagrams) override {
    job_.look_for_death(state_);
    return link_.send(to, datagrams);
  }
  std::span<const std::span<const std::byte>> receive() override { return link_.receive(); }
  int descriptor() const override { return -1; }

 private:
  Job& job_;
  RankState& state_;
  links::FakeLink& link_;
};

class Job::SimWorld final : public World, RemoteRanks {
 public:
  SimWorld(Job& job, RankState& state)
      : job_(job), state_(state), small_(job, state, *state.small), bulk_(job, state, *state.bulk) {
    if (job.options_.rebuild) profile_ = fault_tolerant();
    if (!job.has_links()) return;
    std::vector<int> far;
    for (int rank = 0; rank < size(); ++rank)
      if (!is_local(rank)) far.push_back(rank);
    const replication::Identity identity{.job = job.generation_,
                                         .endpoint = static_cast<replication::EndpointNumber>(state.self),
                                         .incarnation = static_cast<std::uint16_t>(state.incarnation)};
    if (!far.empty())
      logs_.emplace(RemoteLogs::Options{.identity = identity,
                                        .ranks = std::move(far),
                                        .keeps = job.options_.rebuild,
                                        .window_bytes = job.options_.link_window_bytes,
                                        .cut = cut()},
                    static_cast<RemoteRanks&>(*this), small_, bulk_, *state.arena, job.clock_);
  }

  int rank() const override { return state_.self; }
  int size() const override { return job_.options_.size; }
  std::uint32_t incarnation() const override { return state_.incarnation; }
  const qos::Profile& profile() const override { return profile_; }
  std::string_view identity() const override { return state_.identity; }
  const std::atomic<std::uint64_t>* cut() const override { return &job_.cut_of(state_.self); }
  log::ArenaWriter& arena() override { return *state_.arena; }
  bool is_local(int rank) const override { return node_of(rank) == node_of(state_.self); }
  int node_of(int rank) const override {
    const int together = job_.has_links() ? job_.options_.ranks_per_linked_node : ranks_per_node();
    return together == 0 ? 0 : rank / together;
  }
  int local_size() const override { return count_local(); }
  log::PeerArena peer(int rank) override {
    LLAMADA_CHECK(is_local(rank));
    return arena_of(rank);
  }
  Source source(int rank, log::LogKey key) override {
    if (!is_by_link(rank)) return World::source(rank, key);
    auto found = logs_->source(rank, key);
    if (!found) throw Ended{found.error().text()};
    return *found;
  }
  log::PeerArena cursors_of(int rank) override {
    return is_by_link(rank) ? log::PeerArena() : World::cursors_of(rank);
  }
  void publish_to(log::LogWriter& log, log::LogKey key, std::span<const int> ranks) override {
    for (const int rank : ranks)
      if (is_by_link(rank))
        if (auto published = logs_->publish_to(log, key, rank); !published)
          throw Ended{published.error().text()};
  }
  ProgressHook* link() override { return logs_ ? &*logs_ : nullptr; }
  bool awaits_inputs() override { return logs_ && logs_->awaits_inputs(); }
  bool has_delivered() override { return !logs_ || logs_->has_delivered(); }
  void wake(int rank) override {
    // Behind a commit: whoever dies here has not woken anybody.
    job_.look_for_death(state_);
    if (is_by_link(rank)) return logs_->push(rank);
    job_.wake(rank);
  }
  void wake_all() override {
    for (int rank = 0; rank < size(); ++rank)
      if (!is_by_link(rank)) job_.wake(rank);
  }
  void sleep(const std::function<bool()>& look_again) override {
    const std::chrono::nanoseconds most =
        logs_ ? std::min<std::chrono::nanoseconds>(sleep_max_with_links, logs_->prepare_sleep())
              : job_.options_.sleep_max;
    if (!look_again()) state_.state = RankState::State::sleeping;
    state_.sleeps_until = job_.clock_.monotonic() + most;
    job_.give_up_turn(state_);
  }
  bool oversubscribed() const override { return true; }
  bool is_protected() const override { return job_.protected_; }
  [[noreturn]] void aborted(int, std::string_view text) override { throw Ended{std::string(text)}; }
  [[noreturn]] void diverged(std::string_view text) override { throw Ended{std::string(text), true}; }
  void log_used_up() override { throw Ended{"the memory for logs is used up"}; }
  void unprotected(std::string_view why) override { throw Ended{std::string(why)}; }
  void warning(std::string_view) override {}
  void live() override { state_.arena->set_replaying(false); }

 protected:
  log::PeerArena arena_of(int rank) override {
    return {job_.ranks_[static_cast<std::size_t>(rank)]->memory, arena_bytes};
  }

 private:
  /// Whether that rank is reached by a link only.
  bool is_by_link(int rank) const { return logs_ && !is_local(rank); }
  // RemoteRanks
  replication::PeerState state_of(int rank) const override {
    const RankState& other = *job_.ranks_[static_cast<std::size_t>(rank)];
    return {.incarnation = static_cast<std::uint16_t>(std::max(other.incarnation, 1U)),
            .is_lost = other.state == RankState::State::dead,
            .small = other.small->address(),
            .bulk = other.bulk->address()};
  }
  std::uint64_t changes() const override { return job_.changes_; }
  void records_are_gone(const std::string& how) override { throw Ended{how}; }

  Job& job_;
  RankState& state_;
  qos::Profile profile_;
  SimLink small_;
  SimLink bulk_;
  std::optional<RemoteLogs> logs_;
};

void Rank::pause() const {
  auto& state = *job.ranks_[static_cast<std::size_t>(self)];
  job.look_for_death(state);
  if (job.random_.chance(1, 3)) job.give_up_turn(state);
}

World& Rank::world() const { return *job.ranks_[static_cast<std::size_t>(self)]->world; }

bool Rank::coin() const { return job.ranks_[static_cast<std::size_t>(self)]->incarnation == 1; }

Job::Job(JobOptions options, std::function<void(Rank&)> program)
    : options_(options),
      program_(std::move(program)),
      random_(options.seed),
      network_(options.seed, options.faults) {
  for (int rank = 0; rank < options.size; ++rank) {
    ranks_.push_back(std::make_unique<RankState>());
    ranks_.back()->job = this;
    ranks_.back()->self = rank;
    ranks_.back()->memory = memory_of(rank);
    madvise(ranks_.back()->memory, arena_bytes, MADV_DONTNEED);
    ranks_.back()->small = network_.make_link({.datagram_bytes_max = 1472});
    ranks_.back()->bulk = network_.make_link({.datagram_bytes_max = 1472, .train_max = 8});
  }
  const std::uint64_t span = 20 + random_.below(400);
  for (int kill = 0; kill < options.kills; ++kill) kill_turns_.push_back(random_.below(span));
  std::sort(kill_turns_.begin(), kill_turns_.end());
  if (options.outages == 0) return;
  for (int outage = 0; outage < options.outages; ++outage) outage_turns_.push_back(random_.below(2 * span));
  std::sort(outage_turns_.begin(), outage_turns_.end());
  begin_cuts();
  for (auto& rank : ranks_) rank->reader.emplace(log::PeerArena{rank->memory, arena_bytes}, journal_key);
}

Job::~Job() {
  // What is still in the middle of its program is unwound.
  is_unwound_ = true;
  for (auto& rank : ranks_) {
    if (rank->started && rank->state != RankState::State::done) {
      rank->to_die = true;
      rank->state = RankState::State::ready;
      install_runtime(rank->runtime.get());
      swapcontext(&scheduler_, &rank->context);
    }
    rank->forget();
  }
}

void Job::start(RankState& rank) {
  log::ArenaOptions arena;
  arena.incarnation = ++rank.incarnation;
  rank.identity = generation_ > 0 ? "resumed=1\n" : "";
  if (rank.incarnation > 1) rank.identity += fmt::format("calls={}\n", rank.calls);
  auto opened = log::ArenaWriter::open({rank.memory, arena_bytes}, arena);
  LLAMADA_CHECK(opened.has_value());
  rank.arena = std::move(*opened);
  rank.arena->set_replaying(rank.incarnation > 1 || generation_ > 0);
  rank.world = std::make_unique<SimWorld>(*this, rank);
  rank.history.sent.assign(ranks_.size(), {});
  rank.history.received.assign(ranks_.size(), {});
  rank.state = RankState::State::ready;
  rank.to_die = false;
  rank.has_finished = false;
  rank.started = true;
  note_change();
  getcontext(&rank.context);
  rank.context.uc_stack.ss_sp = rank.memory + arena_bytes;
  rank.context.uc_stack.ss_size = stack_bytes;
  rank.context.uc_link = nullptr;
  const auto address = reinterpret_cast<std::uintptr_t>(&rank);
  makecontext(&rank.context, reinterpret_cast<void (*)()>(&Job::enter), 2,
              static_cast<unsigned>(address >> 32), static_cast<unsigned>(address));
}

void Job::enter(unsigned high, unsigned low) {
  auto& rank = *reinterpret_cast<RankState*>(static_cast<std::uintptr_t>(high) << 32 | low);
  rank.job->live(rank);
  for (;;) swapcontext(&rank.context, &rank.job->scheduler_);
}

void Job::live(RankState& rank) {
  try {
    rank.runtime = std::make_unique<Runtime>();
    rank.runtime->world = rank.world.get();
    rank.runtime->end_job = [](int, std::string_view text) { throw Ended{std::string(text)}; };
    rank.runtime->add_world(rank.self, options_.size, 1, 2);
    install_runtime(rank.runtime.get());
    Engine::Options options;
    options.eager_bytes_max = options_.eager_bytes_max;
    options.log_bytes_max = options_.log_bytes_max;
    options.yields_before_sleep = 0;
    options.hook = rank.world->link();
    auto engine = Engine::create(*rank.world, clock_, options);
    if (!engine) throw Ended{engine.error().text()};
    rank.engine = std::move(*engine);
    rank.runtime->engine = rank.engine.get();
    rank.runtime->stage.initialized = true;
    make_collectives(rank);
    rank.engine->set_past({[&rank] { return rank.collectives->left_over(); }, {}});
    rank.engine->follow(rank.runtime->calls);
    Rank view{*this, rank.self, options_.size, {MPI_COMM_WORLD}, rank.history};
    const auto* world = rank.runtime->comm_world();
    for (std::uint32_t context = 10; context < 12; ++context)
      view.communicators.push_back(rank.runtime->add_communicator(*world, context, world->group())->handle());
    program_(view);
    rank.engine->finish();
    rank.engine->finish_replay();
    if (has_links()) stay_for_others(rank);
    rank.state = RankState::State::done;
  } catch (const Death&) {
    rank.state = RankState::State::dead;
    rank.has_finished = false;
    note_change();
  } catch (const std::string& wrong) {
    rank.state = RankState::State::dead;
    failure_ = wrong;
  } catch (const Ended& ended) {
    rank.state = RankState::State::dead;
    has_diverged_ = ended.diverged;
    failure_ = fmt::format("rank {} (incarnation {}): {}", rank.self, rank.incarnation, ended.text);
  }
}

/// Others may still need what this rank has sent.
void Job::stay_for_others(RankState& rank) {
  rank.has_finished = true;
  rank.engine->wait_until([this] {
    is_over_ |= std::ranges::all_of(ranks_, [](const auto& other) { return other->has_finished; });
    return is_over_;
  });
}

void Job::note_change() {
  ++changes_;
  for (int rank = 0; rank < options_.size; ++rank) wake(rank);
}

void Job::make_collectives(RankState& rank) {
  coll::Collectives::Options options;
  options.keep_all = options_.rebuild;
  if (options_.rebuild && rank.incarnation > 1)
    options.may_contribute = [&rank] { return rank.engine->may_tell_new(); };
  options.describe_call = [&rank] { return rank.engine->describe_rank(); };
  rank.waiter = std::make_unique<EngineWaiter>(*rank.engine);
  rank.collectives =
      std::make_unique<coll::Collectives>(*rank.world, *rank.waiter, clock_, std::move(options));
  rank.runtime->collectives = rank.collectives.get();
  rank.engine->on_progress([&rank] { rank.collectives->skip_stale(); });
}

void Job::give_up_turn(RankState& rank) {
  swapcontext(&rank.context, &scheduler_);
  look_for_death(rank);
}

void Job::look_for_death(RankState& rank) {
  if (!rank.to_die || (is_over_ && !is_unwound_)) return;
  rank.to_die = false;
  throw Death{};
}

void Job::wake(int index) {
  auto& rank = *ranks_[static_cast<std::size_t>(index)];
  if (rank.state == RankState::State::sleeping) rank.state = RankState::State::ready;
}

void Job::kill_when_due() {
  while (!kill_turns_.empty() && turn_ >= kill_turns_.front()) {
    kill_turns_.erase(kill_turns_.begin());
    if (!protected_ || is_over_) continue;
    auto& victim = *ranks_[random_.below(ranks_.size())];
    if (!victim.started || victim.state == RankState::State::dead) continue;
    if (victim.state == RankState::State::done) victim.state = RankState::State::dead;
    victim.to_die = true;
    if (victim.state == RankState::State::sleeping) victim.state = RankState::State::ready;
    // One that dies often dies again soon.
    if (random_.chance(1, 3)) kill_turns_.insert(kill_turns_.begin(), turn_ + random_.below(30));
    std::sort(kill_turns_.begin(), kill_turns_.end());
    if (kill_turns_.size() > 20) kill_turns_.resize(20);
  }
}

std::vector<Job::RankState*> Job::able_ranks() const {
  std::vector<RankState*> able;
  for (const auto& rank : ranks_) {
    if (rank->state == RankState::State::ready || rank->state == RankState::State::dead)
      able.push_back(rank.get());
  }
  return able;
}

/// Those that have slept for as long as they may wake; the first of all when nobody else can go on.
void Job::end_sleeps() {
  if (options_.sleep_max.count() == 0 && !has_links()) return;
  std::vector<RankState*> sleepers;
  for (const auto& rank : ranks_)
    if (rank->state == RankState::State::sleeping) sleepers.push_back(rank.get());
  if (sleepers.empty()) return;
  if (able_ranks().empty()) {
    const auto* first = *std::min_element(sleepers.begin(), sleepers.end(), [](auto* one, auto* other) {
      return one->sleeps_until < other->sleeps_until;
    });
    clock_.pass(std::max(first->sleeps_until - clock_.monotonic(), std::chrono::nanoseconds(0)));
  }
  for (RankState* rank : sleepers)
    if (clock_.monotonic() >= rank->sleeps_until) wake(rank->self);
}

bool Job::step() {
  ++turn_;
  clock_.pass(turn_time);
  network_.advance(clock_.monotonic());
  if (options_.unprotect_at != 0 && turn_ >= options_.unprotect_at) protected_ = false;
  kill_when_due();
  cut_when_due();
  end_all_when_due();
  end_sleeps();
  const std::vector<RankState*> able = able_ranks();
  if (able.empty()) return false;
  RankState& rank = *able[random_.below(able.size())];
  if (rank.state == RankState::State::dead) {
    ++deaths_;
    if (rank.arena->header().replaying.load() != 0) ++deaths_in_replay_;
    rank.forget();
    // The driver wakes everybody when it has seen a death.
    for (int other = 0; other < options_.size; ++other) wake(other);
    start(rank);
    return true;
  }
  if (!rank.started) start(rank);
  install_runtime(rank.runtime.get());
  swapcontext(&scheduler_, &rank.context);
  return true;
}

std::string Job::run() {
  for (auto& rank : ranks_) start(*rank);
  auto all_done = [&] {
    return std::all_of(ranks_.begin(), ranks_.end(),
                       [](const auto& rank) { return rank->state == RankState::State::done; });
  };
  while (failure_.empty() && !all_done()) {
    if (turn_ > (has_links() ? turns_max_with_links : turns_max))
      return fmt::format("no end after {} turns", turn_ - 1);
    if (!step()) return "everybody sleeps and nobody is woken";
  }
  return failure_;
}

std::uint64_t Job::counted(log::Counter counter) const {
  std::uint64_t sum = 0;
  for (const auto& rank : ranks_)
    if (rank->arena) sum += rank->arena->counted(counter);
  return sum;
}

const History& Job::history(int rank) const { return ranks_[static_cast<std::size_t>(rank)]->history; }

}  // namespace llamada::mpi::sim
