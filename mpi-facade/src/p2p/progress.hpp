#pragma once

#include <memory>
#include <vector>

#include "p2p/direct_copies.hpp"
#include "p2p/incoming.hpp"
#include "p2p/outgoing.hpp"
#include "p2p/receiving.hpp"
#include "p2p/request.hpp"
#include "p2p/task.hpp"
#include "world/progress_hook.hpp"

namespace llamada::mpi {

/// Everything of a rank that goes on while it waits: what has come, large and queued sends, copies from
/// memory to memory, tasks, and the hook. It decides about none of it.
///
/// Threads: the engine's.
class Progress {
 public:
  /// All are borrowed; `hook` may be null.
  struct Parts {
    Incoming& incoming;
    Outgoing& outgoing;
    DirectCopies& direct;
    Receiving& receiving;
    RequestTable& requests;
    ProgressHook* hook = nullptr;
  };
  explicit Progress(const Parts& parts)
      : incoming_(parts.incoming),
        outgoing_(parts.outgoing),
        direct_(parts.direct),
        receiving_(parts.receiving),
        requests_(parts.requests),
        hook_(parts.hook) {}

  /// Takes what has come on all streams and goes on with the rest. True when something was done.
  bool go_on();
  /// go_on() for the one stream that a call waits for. True when something was taken from it.
  bool go_on_with(int from, Stream& stream);
  /// The hook alone: between two looks at one stream. Without a hook that is one branch.
  bool carry() {
    if (!hook_) [[likely]]
      return false;
    return hook_->carry();
  }
  /// While this lives the rank waits in a call.
  class InWait {
   public:
    explicit InWait(Progress& progress) : hook_(progress.hook_) {
      if (hook_) [[unlikely]]
        hook_->set_waiting(true);
    }
    ~InWait() {
      if (hook_) [[unlikely]]
        hook_->set_waiting(false);
    }
    InWait(const InWait&) = delete;
    InWait& operator=(const InWait&) = delete;

   private:
    ProgressHook* hook_;
  };
  /// What a rank that is about to sleep asks: whether there is more for it to do. Only go_on() in vain says
  /// that what was there before is done. What waited for room has been tried again.
  bool anything_new();
  bool has_tasks() const { return !tasks_.empty(); }
  /// Whether a task is being stepped just now.
  bool is_stepping() const { return stepping_; }

  /// Begins a task: gives it a handle, steps it once now and then from go_on(), until it is complete.
  Request& start_task(std::unique_ptr<Task> task);
  /// An inactive persistent request, which begin_task() begins.
  Request& add_persistent_task(std::unique_ptr<Task> task);
  void begin_task(Request& request);

 private:
  Request& add_task(std::unique_ptr<Task> task);
  bool step_tasks();

  Incoming& incoming_;
  Outgoing& outgoing_;
  DirectCopies& direct_;
  Receiving& receiving_;
  RequestTable& requests_;
  ProgressHook* hook_;
  std::vector<Request*> tasks_;  // active ones, in the order in which they were begun
  bool stepping_ = false;
};

}  // namespace llamada::mpi
