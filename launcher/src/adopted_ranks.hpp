#pragma once

#include <functional>
#include <map>
#include <string>

#include "event_loop.hpp"
#include "llamada/launcher/adoption.hpp"

namespace llamada::launcher {

/// The processes of ranks that another launcher has started: no children of ours, so that their ends are seen
/// by pidfds, and how they ended is not.
///
/// Threads: one. Handlers of the event loop call the actions.
class AdoptedRanks {
 public:
  struct Actions {
    std::function<void(std::uint32_t slot)> ended;  ///< of a process that has not been let go
    std::function<void()> manager_ended;
  };
  /// Watches the processes from now on.
  AdoptedRanks(EventLoop& loop, Adoption adoption, Actions actions);
  ~AdoptedRanks();
  AdoptedRanks(const AdoptedRanks&) = delete;
  AdoptedRanks& operator=(const AdoptedRanks&) = delete;

  bool has(std::uint32_t slot) const { return adoption_.processes.contains(slot); }
  std::uint32_t first() const { return adoption_.processes.begin()->first; }
  pid_t process_of(std::uint32_t slot) const { return adoption_.processes.at(slot); }
  /// It is the other launcher's alone from now on.
  void let_go(std::uint32_t slot);

  /// To a process that has not been let go; else nothing happens.
  void signal(std::uint32_t slot, int number) const;
  void signal_all(int number) const;

  /// One line for the first rank of the node.
  void report(const std::string& line) const;

 private:
  void watch(std::uint32_t slot, pid_t pid);
  void watch_manager();

  EventLoop& loop_;
  Adoption adoption_;
  Actions actions_;
  std::map<std::uint32_t, FileDescriptor> watched_;  ///< pidfds, by slot
};

}  // namespace llamada::launcher
