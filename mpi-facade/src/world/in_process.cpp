#include "world/in_process.hpp"

#include <fmt/core.h>
#include <sys/mman.h>
#include <unistd.h>

#include <cstdio>

#include "llamada/base/check.hpp"
#include "world/last_output.hpp"

namespace llamada::mpi {

class InProcessWorld final : public World {
 public:
  InProcessWorld(InProcessJob& job, int rank, std::unique_ptr<log::ArenaWriter> arena)
      : job_(job), rank_(rank), arena_(std::move(arena)) {}

  int rank() const override { return rank_; }
  int size() const override { return job_.options_.size; }
  std::uint32_t incarnation() const override { return job_.ranks_[rank_]->incarnation; }
  const qos::Profile& profile() const override { return job_.options_.profile; }

  log::ArenaWriter& arena() override { return *arena_; }
  bool is_local(int world_rank) const override { return node_of(world_rank) == node_of(rank_); }
  int node_of(int world_rank) const override { return job_.node_of(world_rank); }
  int local_size() const override { return count_local(); }
  log::PeerArena peer(int world_rank) override {
    LLAMADA_CHECK(is_local(world_rank));
    return job_.arena_of(world_rank);
  }
  void wake(int world_rank) override {
    auto& peer = *job_.ranks_[world_rank];
    if (world_rank == rank_ && !peer.sleeping.load(std::memory_order_relaxed)) return;
    {
      std::lock_guard lock(peer.mutex);
      ++peer.wakes;
    }
    peer.woken.notify_one();
  }
  void wake_all() override {
    for (int other = 0; other < size(); ++other) wake(other);
  }

  void sleep(const std::function<bool()>& look_again) override {
    auto& self = *job_.ranks_[rank_];
    std::uint64_t before;
    const Sleeping sleeping(self.sleeping);
    {
      std::lock_guard lock(self.mutex);
      before = self.wakes;
    }
    if (look_again()) return;
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
  for (const auto& rank : ranks_) {
    {
      std::lock_guard lock(rank->mutex);
      ++rank->wakes;
    }
    rank->woken.notify_one();
  }
  return number;
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
  }
  return job;
}

Result<std::unique_ptr<World>> InProcessJob::attach(int rank) {
  auto& entry = *ranks_[rank];
  log::ArenaOptions options;
  options.incarnation = ++entry.incarnation;
  options.pid = static_cast<std::uint32_t>(getpid());
  auto arena = log::ArenaWriter::open({entry.memory, options_.arena_bytes}, options);
  if (!arena) return propagate(arena);
  std::unique_ptr<World> world = std::make_unique<InProcessWorld>(*this, rank, std::move(*arena));
  world->arena().set_state(log::ArenaState::attached);
  world->arena().set_replaying(entry.incarnation > 1);
  return world;
}

}  // namespace llamada::mpi
