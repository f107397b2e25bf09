#pragma once

#include <chrono>
#include <functional>
#include <utility>
#include <vector>

#include "llamada/base/clock.hpp"
#include "p2p/incoming.hpp"
#include "world/world.hpp"

namespace llamada::mpi {

/// What a rank looks after now and then: damage in the arenas that it waits for, whether the job is still
/// protected, and memory for messages that is used up.
///
/// Threads: the engine's.
class Upkeep {
 public:
  /// How long a rank whose memory is full, and whose histories are not kept, waits for others to take what
  /// they have.
  static constexpr std::chrono::seconds no_memory_patience{30};
  static constexpr std::chrono::milliseconds between_damage_looks{250};
  /// A rank that waits for room tries again more often than this (World::sleep()).
  static constexpr std::chrono::seconds between_tries_max{1};

  /// All but `keeps` are borrowed. `keeps`: histories are kept.
  Upkeep(World& world, const Clock& clock, Incoming& incoming, bool keeps)
      : world_(world), clock_(clock), incoming_(incoming), keeps_(keeps) {}

  /// Whether histories are kept.
  bool keeps() const { return keeps_; }
  /// True once, when histories are kept no longer because the job is not protected any more.
  bool ends_keeping();

  /// `hook` is called by each look_around().
  void add_hook(std::function<void()> hook) { hooks_.push_back(std::move(hook)); }
  /// For a rank that has waited in vain for a while. Ends the job where an arena is damaged: a wild pointer
  /// of a rank may have written over what others wait for.
  void look_around();

  /// There was no room for a message, for this reason. Tells the world where histories are kept; else ends
  /// the job once that has been so for too long. What is tried again must say so each time.
  void no_memory(const Error& error);

 private:
  void look_for_damage();

  World& world_;
  const Clock& clock_;
  Incoming& incoming_;
  std::vector<std::function<void()>> hooks_;
  bool keeps_;
  bool used_up_ = false;  // the world has been told
  std::chrono::nanoseconds no_memory_since_ = std::chrono::nanoseconds::min() / 2;
  std::chrono::nanoseconds no_memory_last_ = no_memory_since_;
  std::chrono::nanoseconds next_damage_look_{0};
};

}  // namespace llamada::mpi
