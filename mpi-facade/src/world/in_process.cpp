#include "world/in_process.hpp"

#include <fmt/core.h>
#include <poll.h>
#include <sys/eventfd.h>
#include <sys/mman.h>
#include <unistd.h>

#include <cstdio>

#include "llamada/base/check.hpp"
#include "world/last_output.hpp"
#include "world/remote_logs.hpp"

namespace llamada::mpi {

/// A rank's links to those on other nodes, with its logs there.
class InProcessJob::Links final : RemoteRanks {
 public:
  Links(const InProcessJob& job, int rank, std::vector<int> far, log::ArenaWriter& arena)
      : job_(job),
        small_(job.options_.links->make(rank, JobLinks::Lane::small)),
        bulk_(job.options_.links->make(rank, JobLinks::Lane::bulk)),
        logs_({.identity = identity_of(rank), .ranks = std::move(far)}, *this, *small_, *bulk_, arena,
              job.clock()) {}

  RemoteLogs& logs() { return logs_; }

 private:
  replication::Identity identity_of(int rank) const {
    return {.endpoint = static_cast<replication::EndpointNumber>(rank), .incarnation = incarnation_of(rank)};
  }
  std::uint16_t incarnation_of(int rank) const {
    const std::uint32_t incarnation = job_.rank(rank).incarnation.load(std::memory_order_relaxed);
    return static_cast<std::uint16_t>(std::max(incarnation, 1U));
  }
  replication::PeerState state_of(int rank) const override {
    return {.incarnation = incarnation_of(rank),
            .is_done = job_.rank(rank).is_done.load(std::memory_order_relaxed),
            .small = job_.options_.links->address(rank, JobLinks::Lane::small),
            .bulk = job_.options_.links->address(rank, JobLinks::Lane::bulk)};
  }
  // Pairs with the release in note_change().
  std::uint64_t changes() const override { return job_.changes_.load(std::memory_order_acquire); }
  void records_are_gone(const std::string& how) override {
    throw RankEnded{RankEnded::Kind::aborted, 1, how};
  }

  const InProcessJob& job_;
  std::unique_ptr<replication::Link> small_;
  std::unique_ptr<replication::Link> bulk_;
  RemoteLogs logs_;
};

class InProcessWorld final : public World {
 public:
  InProcessWorld(InProcessJob& job, int rank, std::unique_ptr<log::ArenaWriter> arena)
      : job_(job), rank_(rank), arena_(std::move(arena)) {
    std::vector<int> far;
    for (int other = 0; other < size(); ++other)
      if (!is_local(other)) far.push_back(other);
    const bool has_links = job.has_links() && !far.empty();
    if (job.options_.meets_when_named) far.clear();
    if (has_links) links_.emplace(job, rank, std::move(far), *arena_);
  }
  ~InProcessWorld() override {
    job_.rank(rank_).is_done.store(true, std::memory_order_relaxed);
    job_.note_change();
  }

  int rank() const override { return rank_; }
  int size() const override { return job_.options_.size; }
  std::uint32_t incarnation() const override {
    return job_.rank(rank_).incarnation.load(std::memory_order_relaxed);
  }
  const qos::Profile& profile() const override { return job_.options_.profile; }
  std::string_view identity() const override {
    return job_.options_.identity ? std::string_view(*job_.options_.identity) : std::string_view();
  }
  const std::atomic<std::uint64_t>* cut() const override { return job_.options_.cut; }
  void await_stable() override {
    if (job_.options_.await_stable) job_.options_.await_stable();
  }

  log::ArenaWriter& arena() override { return *arena_; }
  bool is_local(int world_rank) const override { return node_of(world_rank) == node_of(rank_); }
  int node_of(int world_rank) const override { return job_.node_of(world_rank); }
  int local_size() const override { return count_local(); }
  log::PeerArena peer(int world_rank) override {
    LLAMADA_CHECK(is_local(world_rank));
    return job_.arena_of(world_rank);
  }
  Source source(int world_rank, log::LogKey key) override {
    if (!is_by_link(world_rank)) return World::source(world_rank, key);
    auto found = links_->logs().source(world_rank, key);
    if (!found) aborted(1, found.error().text());
    return *found;
  }
  log::PeerArena cursors_of(int world_rank) override {
    return is_by_link(world_rank) ? log::PeerArena() : World::cursors_of(world_rank);
  }
  void publish_to(log::LogWriter& log, log::LogKey key, std::span<const int> world_ranks) override {
    for (const int other : world_ranks) {
      if (!is_by_link(other)) continue;
      if (auto published = links_->logs().publish_to(log, key, other); !published)
        aborted(1, published.error().text());
    }
  }
  ProgressHook* link() override { return links_ ? &links_->logs() : nullptr; }
  bool is_lost(int world_rank) override {
    return job_.rank(world_rank).is_lost.load(std::memory_order_relaxed);
  }
  // Pairs with the release in note_change().
  std::uint64_t roster_changes() override { return job_.changes_.load(std::memory_order_acquire); }
  void part(int world_rank) override {
    if (is_by_link(world_rank)) links_->logs().part(world_rank);
  }
  bool has_delivered() override { return !links_ || links_->logs().has_delivered(); }

  void wake(int world_rank) override {
    if (is_by_link(world_rank)) return links_->logs().push(world_rank);
    auto& peer = job_.rank(world_rank);
    if (world_rank == rank_ && !peer.sleeping.load(std::memory_order_relaxed)) return;
    job_.wake(peer);
  }
  void wake_all() override {
    for (int other = 0; other < size(); ++other) wake(other);
  }

  void sleep(const std::function<bool()>& look_again) override {
    auto& self = job_.rank(rank_);
    std::uint64_t before;
    const Sleeping sleeping(self.sleeping);
    {
      std::lock_guard lock(self.mutex);
      before = self.wakes;
    }
    const auto links_sleep_max = links_ ? links_->logs().prepare_sleep() : replication::never;
    if (look_again()) return;
    if (links_) return nap(self, std::min(job_.options_.sleep_max, links_sleep_max));
    std::unique_lock lock(self.mutex);
    self.woken.wait_for(lock, job_.options_.sleep_max, [&] { return self.wakes != before; });
  }
  std::uint32_t survey() override { return job_.survey_.load(std::memory_order_acquire); }
  bool oversubscribed() const override { return size() > 1; }

  Result<SharedSegment> shared_segment(std::uint64_t name, std::size_t bytes) override {
    return job_.share(rank_, name, bytes);
  }

  bool is_protected() const override { return job_.protected_.load(std::memory_order_relaxed); }

  [[noreturn]] void aborted(int code, std::string_view text) override {
    end({RankEnded::Kind::aborted, code, std::string(text)});
  }
  [[noreturn]] void diverged(std::string_view text) override {
    end({RankEnded::Kind::diverged, 1, std::string(text)});
  }
  void log_used_up() override { job_.unprotect(); }
  void unprotected(std::string_view) override { job_.unprotect(); }
  void warning(std::string_view text) override { fmt::print(stderr, "{}\n", text); }
  void live() override { arena_->set_replaying(false); }

 protected:
  log::PeerArena arena_of(int world_rank) override { return job_.arena_of(world_rank); }

 private:
  /// Who wakes its own rank has the lock that the sleeper has had, so relaxed.
  class Sleeping {
   public:
    explicit Sleeping(std::atomic<bool>& flag) : flag_(flag) { flag_.store(true, std::memory_order_relaxed); }
    ~Sleeping() { flag_.store(false, std::memory_order_relaxed); }

   private:
    std::atomic<bool>& flag_;
  };

  /// Whether that rank is reached by a link only.
  bool is_by_link(int world_rank) const { return links_ && !is_local(world_rank); }
  void nap(InProcessJob::Rank& self, std::chrono::nanoseconds at_most) {
    const auto [small, bulk] = links_->logs().descriptors();
    std::array<pollfd, 3> wait{{{self.event.get(), POLLIN, 0}, {small, POLLIN, 0}, {bulk, POLLIN, 0}}};
    const std::int64_t ns = at_most.count();
    const timespec limit{static_cast<time_t>(ns / 1'000'000'000), static_cast<long>(ns % 1'000'000'000)};
    (void)::ppoll(wait.data(), wait.size(), &limit, nullptr);
    std::uint64_t count = 0;
    (void)!::read(self.event.get(), &count, sizeof(count));
  }

  [[noreturn]] void end(const RankEnded& ended) {
    if (!job_.options_.ends_process) throw ended;
    if (ended.kind == RankEnded::Kind::aborted) {
      int code = ended.code;
      write_last_output([](void* context) { _exit(*static_cast<int*>(context)); }, &code);
    }
    fmt::print(stderr, "{}\n", ended.text);
    std::fflush(stderr);
    _exit(ended.code);
  }

  InProcessJob& job_;
  int rank_;
  std::unique_ptr<log::ArenaWriter> arena_;
  std::optional<InProcessJob::Links> links_;
};

/// A rank's part in a segment of the job.
class InProcessJob::Part final : public SharedSegment::Holder {
 public:
  Part(InProcessJob& job, int rank, std::uint64_t name) : job_(job), rank_(rank), name_(name) {}
  ~Part() override { job_.let_go(rank_, name_); }

 private:
  InProcessJob& job_;
  int rank_;
  std::uint64_t name_;
};

Result<SharedSegment> InProcessJob::share(int rank, std::uint64_t name, std::size_t bytes) {
  if (bytes == 0) return failure(Errc::invalid_argument, "shared memory of no bytes");
  std::lock_guard lock(segments_mutex_);
  auto& segment = segments_[name];
  if (segment.memory == nullptr) {
    void* memory =
        mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (memory == MAP_FAILED) {
      segments_.erase(name);
      return failure(Errc::out_of_resources, "{} bytes of shared memory were refused", bytes);
    }
    segment.memory = static_cast<std::byte*>(memory);
    segment.bytes = bytes;
  }
  if (segment.bytes != bytes)
    return failure(Errc::invalid_argument, "shared memory {:#x} has {} bytes, and {} were asked for", name,
                   segment.bytes, bytes);
  segment.holders.insert(rank);
  return SharedSegment({segment.memory, bytes}, std::make_unique<Part>(*this, rank, name));
}

void InProcessJob::let_go(int rank, std::uint64_t name) {
  std::lock_guard lock(segments_mutex_);
  auto found = segments_.find(name);
  if (found == segments_.end()) return;
  found->second.holders.erase(rank);
  if (!found->second.holders.empty()) return;
  munmap(found->second.memory, found->second.bytes);
  segments_.erase(found);
}

std::uint32_t InProcessJob::raise_survey() {
  const std::uint32_t number = survey_.fetch_add(1, std::memory_order_release) + 1;
  for (const auto& rank : ranks_) wake(*rank);
  return number;
}

void InProcessJob::wake(Rank& rank) {
  {
    std::lock_guard lock(rank.mutex);
    ++rank.wakes;
  }
  rank.woken.notify_one();
  const std::uint64_t once = 1;
  if (rank.event) (void)!::write(rank.event.get(), &once, sizeof(once));
}

bool InProcessJob::has_links() const {
  return options_.links && !qos::rank_protection(options_.profile).keeps_messages;
}

void InProcessJob::lose(int number) {
  rank(number).is_lost.store(true, std::memory_order_relaxed);
  note_change();
  for (auto& other : ranks_) wake(*other);
}

void InProcessJob::note_change() {
  changes_.fetch_add(1, std::memory_order_release);
  if (!has_links()) return;
  for (const auto& rank : ranks_) wake(*rank);
}

std::size_t InProcessJob::segment_count() {
  std::lock_guard lock(segments_mutex_);
  return segments_.size();
}

InProcessJob::InProcessJob(Options options) : options_(std::move(options)) {
  for (int rank = 0; rank < options_.size; ++rank) ranks_.push_back(std::make_unique<Rank>());
}

InProcessJob::~InProcessJob() {
  for (auto& [name, segment] : segments_) munmap(segment.memory, segment.bytes);
  for (auto& rank : ranks_)
    if (rank->memory != nullptr) munmap(rank->memory, options_.arena_bytes);
}

Result<std::unique_ptr<InProcessJob>> InProcessJob::create(Options options) {
  std::unique_ptr<InProcessJob> job(new InProcessJob(std::move(options)));
  for (auto& rank : job->ranks_) {
    void* memory = mmap(nullptr, job->options_.arena_bytes, PROT_READ | PROT_WRITE,
                        MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (memory == MAP_FAILED) return system_failure("mmap of an arena");
    rank->memory = static_cast<std::byte*>(memory);
    if (!job->has_links()) continue;
    rank->event = FileDescriptor(eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK));
    if (!rank->event) return system_failure("eventfd of a rank");
  }
  return job;
}

Result<std::unique_ptr<World>> InProcessJob::attach(int rank) {
  Rank& entry = this->rank(rank);
  log::ArenaOptions options;
  options.incarnation = entry.incarnation.load(std::memory_order_relaxed) + 1;
  entry.incarnation.store(options.incarnation, std::memory_order_relaxed);
  entry.is_done.store(false, std::memory_order_relaxed);
  note_change();
  options.pid = static_cast<std::uint32_t>(getpid());
  auto arena = log::ArenaWriter::open({entry.memory, options_.arena_bytes}, options);
  if (!arena) return propagate(arena);
  std::unique_ptr<World> world = std::make_unique<InProcessWorld>(*this, rank, std::move(*arena));
  world->arena().set_state(log::ArenaState::attached);
  world->arena().set_replaying(options.incarnation > 1);
  return world;
}

}  // namespace llamada::mpi
