#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

#include "llamada/log/arena_layout.hpp"

namespace llamada::llamanet {

/// What one who does not own an arena can see in its header: where its application is. A value that borrows
/// the mapping. Nothing seen here is believed in for more than display and diagnosis.
///
/// Threads: any. The owner writes meanwhile.
class ArenaView {
 public:
  ArenaView() = default;
  explicit ArenaView(const log::ArenaHeader* header) : header_(header) {}

  /// False before the owner has initialised the arena: then everything is 0.
  bool ready() const {
    return header_ != nullptr && header_->magic.load(std::memory_order_acquire) == log::arena_magic;
  }
  /// Whether the header has words that its owner does not leave there, at whatever instruction it died.
  bool is_damaged() const {
    if (header_ == nullptr) return false;
    const std::uint64_t magic = header_->magic.load(std::memory_order_acquire);
    if (magic != log::arena_magic) return magic != 0;
    return incarnation() == 0 || state() > log::ArenaState::exiting ||
           (state() == log::ArenaState::none && call_index() > 0);
  }
  log::ArenaState state() const {
    return static_cast<log::ArenaState>(header_ == nullptr ? 0
                                                           : header_->state.load(std::memory_order_acquire));
  }
  std::int32_t exit_code() const { return get(&log::ArenaHeader::exit_code); }
  std::uint32_t incarnation() const { return get(&log::ArenaHeader::incarnation); }
  bool replaying() const { return get(&log::ArenaHeader::replaying) != 0; }
  std::uint32_t pid() const { return get(&log::ArenaHeader::pid); }
  /// What belongs to the layer above; empty before the owner has initialised the arena.
  std::span<const std::byte> user_area() const {
    return ready() ? std::span<const std::byte>(header_->user) : std::span<const std::byte>();
  }
  bool sleeping() const { return get(&log::ArenaHeader::sleeping) != 0; }
  std::uint32_t call_id() const { return get(&log::ArenaHeader::call_id); }
  std::uint64_t call_index() const { return get(&log::ArenaHeader::call_index); }
  std::uint64_t pool_used() const { return get(&log::ArenaHeader::pool_used); }
  std::uint64_t pool_live() const { return get(&log::ArenaHeader::pool_live); }
  std::uint64_t counter(log::Counter counter) const {
    if (header_ == nullptr) return 0;
    return header_->counters[static_cast<std::uint32_t>(counter)].load(std::memory_order_relaxed);
  }

 private:
  // Relaxed: each word stands alone.
  template <typename Value>
  Value get(std::atomic<Value> log::ArenaHeader::*word) const {
    return header_ == nullptr ? Value{} : (header_->*word).load(std::memory_order_relaxed);
  }

  const log::ArenaHeader* header_ = nullptr;
};

}  // namespace llamada::llamanet
