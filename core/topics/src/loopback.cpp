#include "llamada/topics/loopback.hpp"

#include <sys/mman.h>

#include <condition_variable>
#include <mutex>
#include <vector>

namespace llamada::topics {
namespace {

/// Zeroed memory, taken as it is touched.
class Memory {
 public:
  explicit Memory(std::uint64_t size_bytes) : size_bytes_(size_bytes) {
    void* mapped = ::mmap(nullptr, size_bytes, PROT_READ | PROT_WRITE,
                          MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (mapped != MAP_FAILED) base_ = static_cast<std::byte*>(mapped);
  }
  Memory(const Memory&) = delete;
  Memory& operator=(const Memory&) = delete;
  ~Memory() {
    if (base_ != nullptr) ::munmap(base_, size_bytes_);
  }
  explicit operator bool() const { return base_ != nullptr; }
  std::span<std::byte> bytes() const { return {base_, size_bytes_}; }

 private:
  std::byte* base_ = nullptr;
  std::uint64_t size_bytes_;
};

struct Seat {
  std::shared_ptr<Memory> memory;  // shared by all who have it "mapped": the last to let go unmaps it
  std::uint32_t id = 0;
  std::uint64_t wakes = 0;  // how often its application has been woken
};

}  // namespace

struct Loopback::Domain {
  std::mutex mutex;  // for all below
  std::condition_variable changed;
  std::vector<Seat> slots;
  std::uint32_t last_id = 0;
  std::uint64_t generation = 0;
  std::uint64_t arena_bytes = 0;

  void wake_everybody() {
    for (Seat& slot : slots) ++slot.wakes;
    changed.notify_all();
  }
};

class Loopback::Application final : public Transport {
 public:
  Application(Domain& domain, std::uint32_t slot, std::shared_ptr<Memory> memory,
              std::unique_ptr<log::ArenaWriter> arena)
      : domain_(domain), slot_(slot), memory_(std::move(memory)), arena_(std::move(arena)) {
    refresh();
  }

  ~Application() override {
    std::lock_guard lock(domain_.mutex);
    domain_.slots[slot_].memory = nullptr;
    domain_.slots[slot_].id = 0;
    ++domain_.generation;
    domain_.wake_everybody();
  }

  log::ArenaWriter& arena() override { return *arena_; }
  std::uint32_t slot() const override { return slot_; }
  std::uint32_t slot_count() const override { return static_cast<std::uint32_t>(peers_.size()); }

  Peer peer(std::uint32_t slot) const override {
    if (slot >= peers_.size() || peers_[slot].memory == nullptr) return {};
    const auto bytes = peers_[slot].memory->bytes();
    return {{bytes.data(), bytes.size()}, peers_[slot].id};
  }

  Result<bool> poll() override { return refresh(); }
  void release_replaced() override { replaced_.clear(); }
  std::uint64_t roster_changes() const override {
    std::lock_guard lock(domain_.mutex);
    return domain_.generation;
  }

  void wake(std::uint32_t slot) override {
    std::lock_guard lock(domain_.mutex);
    ++domain_.slots[slot].wakes;
    domain_.changed.notify_all();
  }

  void wake_all() override {
    std::lock_guard lock(domain_.mutex);
    domain_.wake_everybody();
  }

  Status wait(const std::function<bool()>& look_again, std::chrono::nanoseconds at_most) override {
    std::unique_lock lock(domain_.mutex);
    const std::uint64_t seen = domain_.slots[slot_].wakes;
    lock.unlock();
    if (look_again()) return {};
    lock.lock();
    domain_.changed.wait_for(lock, at_most, [&] { return domain_.slots[slot_].wakes != seen; });
    return {};
  }

 private:
  bool refresh() {
    std::lock_guard lock(domain_.mutex);
    if (seen_generation_ == domain_.generation) return false;
    seen_generation_ = domain_.generation;
    for (Seat& peer : peers_)
      if (peer.memory != nullptr) replaced_.push_back(peer.memory);
    peers_ = domain_.slots;
    return true;
  }

  Domain& domain_;
  std::uint32_t slot_;
  std::shared_ptr<Memory> memory_;
  std::unique_ptr<log::ArenaWriter> arena_;
  std::vector<Seat> peers_;
  std::vector<std::shared_ptr<Memory>> replaced_;
  std::uint64_t seen_generation_ = UINT64_MAX;
};

Loopback::Loopback(std::uint64_t arena_bytes) : domain_(std::make_unique<Domain>()) {
  domain_->arena_bytes = arena_bytes;
}

Loopback::~Loopback() = default;

Result<std::unique_ptr<Transport>> Loopback::attach(log::ArenaOptions options) {
  auto memory = std::make_shared<Memory>(domain_->arena_bytes);
  if (!*memory)
    return failure(Errc::out_of_resources, "no memory for an arena of {} bytes", domain_->arena_bytes);
  auto arena = log::ArenaWriter::create(memory->bytes(), std::move(options));
  if (!arena) return propagate(arena);
  std::uint32_t slot = 0;
  {
    std::lock_guard lock(domain_->mutex);
    while (slot < domain_->slots.size() && domain_->slots[slot].id != 0) ++slot;
    if (slot == domain_->slots.size()) domain_->slots.emplace_back();
    domain_->slots[slot].memory = memory;
    domain_->slots[slot].id = ++domain_->last_id;
    ++domain_->generation;
    domain_->wake_everybody();
  }
  return std::unique_ptr<Transport>(new Application(*domain_, slot, std::move(memory), std::move(*arena)));
}

}  // namespace llamada::topics
