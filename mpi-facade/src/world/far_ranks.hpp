#pragma once

#include <fmt/core.h>

#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "llamada/base/clock.hpp"
#include "llamada/llamanet/application.hpp"
#include "world/llamanet.hpp"
#include "world/remote_logs.hpp"

namespace llamada::mpi {

/// The ranks of other nodes, and this rank's logs there.
class FarRanks final : RemoteRanks {
 public:
  /// `world` is told what concerns the job; `first` and `size` are this process's own MPI_COMM_WORLD. `left`:
  /// in a copy that takes over.
  FarRanks(llamanet::Application& application, World& world, int first, int size, bool keeps,
           RemoteLogs::Left left = {})
      : application_(application),
        world_(world),
        logs_({.identity = identity_in(application),
               .ranks = far_from(application, first, size),
               .keeps = keeps,
               .cut = world.cut(),
               .left = std::move(left)},
              *this, application.small_link(), application.bulk_link(), application.arena(), clock_) {}

  RemoteLogs& logs() { return logs_; }
  bool is_far(int rank) const { return !application_.roster().is_local(static_cast<std::uint32_t>(rank)); }
  /// Ranks on nodes that share the own one's cores.
  int machine_size() const {
    const int size = world_.size();
    if (size == counted_) return machine_size_;
    const auto& nodes = book().nodes;
    const std::uint64_t own = nodes[book().own_node].machine;
    machine_size_ = 0;
    for (int rank = 0; rank < size; ++rank) {
      const auto node = static_cast<std::size_t>(node_of(rank));
      if (node == book().own_node || (own != 0 && nodes[node].machine == own)) ++machine_size_;
    }
    counted_ = size;
    return machine_size_;
  }
  int node_of(int rank) const {
    const auto& slot = application_.roster().page_slot(static_cast<std::uint32_t>(rank));
    return static_cast<int>(slot.node.load(std::memory_order_relaxed));
  }

 private:
  static replication::Identity identity_in(const llamanet::Application& application) {
    const llamanet::NodeBook& book = *application.book();
    return {.job = static_cast<std::uint32_t>(book.job_number),
            .endpoint = application.slot(),
            .incarnation = static_cast<std::uint16_t>(application.incarnation()),
            .key = book.key};
  }
  static std::vector<int> far_from(const llamanet::Application& application, int first, int size) {
    std::vector<int> far;
    for (int slot = first; slot < first + size; ++slot)
      if (!application.roster().is_local(static_cast<std::uint32_t>(slot))) far.push_back(slot);
    return far;
  }
  const llamanet::NodeBook& book() const { return *application_.book(); }
  /// A rank that was spawned since this process has read the book is in the next one.
  llamanet::BookEntry entry_of(std::uint32_t slot) const {
    const auto is_known = [&] { return slot < book().entries.size() && book().entries[slot].is_known(); };
    if (!is_known())
      if (auto read = application_.refresh_book(); !read)
        world_.aborted(1, fmt::format("the book of the job's nodes cannot be read: {}", read.error().text()));
    return is_known() ? book().entries[slot] : llamanet::BookEntry{};
  }
  replication::PeerState state_of(int rank) const override {
    const auto slot = static_cast<std::uint32_t>(rank);
    // Acquire: the incarnation is at least as new as the state.
    const llamanet::SlotState state = application_.roster().slot_state(slot);
    const llamanet::BookEntry entry = entry_of(slot);  // before book(): it may take the next one
    return llamanet::peer_state(
        book(), entry, state,
        application_.roster().page_slot(slot).incarnation.load(std::memory_order_relaxed));
  }
  std::uint64_t changes() const override { return application_.roster().generation(); }
  void copies_need_memory() override {
    if (world_.is_protected()) world_.log_used_up();
  }
  void records_are_gone(const std::string& how) override {
    world_.aborted(1, fmt::format("rank {} cannot go on: {}", world_.rank(), how));
  }
  bool is_node_lost(int rank) const override {
    return application_.roster().slot_state(static_cast<std::uint32_t>(rank)) ==
           llamanet::SlotState::lost_with_node;
  }
  std::optional<Driver> driver_of(int rank) const override {
    if (is_node_lost(rank)) return std::nullopt;
    const auto node = static_cast<std::uint32_t>(node_of(rank));
    const llamanet::BookNode& of = book().nodes[node];
    return Driver{replication::driver_endpoint(node), book().small_of(of), of.bulk};
  }

  llamanet::Application& application_;
  World& world_;
  mutable int machine_size_ = 0, counted_ = 0;  // among how many ranks
  SystemClock clock_;
  RemoteLogs logs_;
};

}  // namespace llamada::mpi
