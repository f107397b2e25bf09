#pragma once

#include <chrono>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

#include "llamada/base/result.hpp"
#include "llamada/qos/profile.hpp"
#include "llamada/topics/log.hpp"

namespace llamada::mpi {

/// What the facade needs of the world outside the rank: its own arena, its peers', waiting, and somebody to
/// tell. world/llamanet.cpp implements it over llamaNET (the only file of the facade that sees it); tests
/// implement it in one process (world/in_process.hpp), with a thread, or a step of a simulator, for each
/// rank.
///
/// Threads: the thread that called MPI_Init.
class World {
 public:
  virtual ~World() = default;

  virtual int rank() const = 0;
  virtual int size() const = 0;
  /// 1 for the first process of this rank, one more for each replacement.
  virtual std::uint32_t incarnation() const = 0;
  virtual const qos::Profile& profile() const = 0;

  /// What the launcher gave this incarnation: lines "key=value" (the first incarnation's pid, where it is to
  /// die for a test).
  virtual std::string_view identity() const { return {}; }

  /// The arena of this rank (to create and adopt logs in).
  virtual topics::ArenaWriter& arena() = 0;
  /// The arena of a rank, mapped read-only; present from the start, whether the rank has attached yet or not,
  /// and the same for all incarnations.
  virtual topics::PeerArena peer(int world_rank) = 0;

  /// Wakes `world_rank` if it sleeps. Cheap when it does not: one load. Call after each commit it may be
  /// waiting for.
  virtual void wake(int world_rank) = 0;
  virtual void wake_all() = 0;

  /// Sleeps until somebody wakes this rank, but at most 100 ms. `look_again` is called after the sleeping
  /// flag has been made visible; when it returns true there is no sleep. Ends the process when the driver is
  /// gone.
  virtual void sleep(const std::function<bool()>& look_again) = 0;
  /// Whether ranks outnumber the cores they may run on: then waiting yields at once instead of spinning.
  virtual bool oversubscribed() const = 0;

  /// False once the job's histories are no longer kept (log_bytes_per_node used up, on_unprotected CONTINUE).
  virtual bool is_protected() const = 0;

  /// Tells the driver. `aborted`, `diverged` do not return: the process ends when the driver has been told.
  [[noreturn]] virtual void aborted(int code, std::string_view text) = 0;
  [[noreturn]] virtual void diverged(std::string_view text) = 0;
  virtual void log_used_up() = 0;
  virtual void warning(std::string_view text) = 0;
  /// The replay is over.
  virtual void live() = 0;
};

}  // namespace llamada::mpi
