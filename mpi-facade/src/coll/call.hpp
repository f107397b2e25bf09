#pragma once

#include <mpi.h>

#include <memory>
#include <optional>
#include <vector>

#include "coll/awaits_collective.hpp"
#include "coll/collectives.hpp"
#include "p2p/task.hpp"
#include "runtime/arguments.hpp"

// How a program calls a collective: blocking (MPI 3.1, 5), nonblocking (5.12) or persistent (MPI 4.0, 6.13).
// All three are checked alike and carried out by the same machines.

namespace llamada::mpi::coll {

/// One call, and what its request, if it has one, must keep: the program may free datatypes and operations
/// after the call.
class Call {
 public:
  // Not defaulted: all of it would be made zero first.
  Call() {}
  static Call nonblocking(MPI_Request* request) { return Call(request, false); }
  /// The hints are ignored: none is known.
  static Call persistent(MPI_Info info, MPI_Request* request) {
    Call call(request, true);
    call.info_ = info;
    return call;
  }

  Communicator* communicator = nullptr;

  bool is_blocking() const { return is_blocking_; }
  bool is_persistent() const { return is_persistent_; }
  MPI_Request* request() const { return request_; }

  int find_communicator(MPI_Comm comm) {
    if (int code = mpi::find_communicator(comm, communicator)) return code;
    if (runtime().collectives->is_anything_lost()) [[unlikely]]
      if (int code = check_usable()) return code;
    return is_blocking_ ? MPI_SUCCESS : check_request();
  }
  int find_type(MPI_Datatype datatype, Datatype*& type) {
    if (int code = find_committed(communicator, datatype, type)) return code;
    keep(type);
    return MPI_SUCCESS;
  }
  int find_operation(MPI_Op op, const Datatype& type, Operation*& operation) {
    if (int code = mpi::find_operation(communicator, op, type, operation)) return code;
    keep(operation);
    return MPI_SUCCESS;
  }
  std::vector<Reference<Counted>> take_kept() { return kept_ ? std::move(*kept_) : Kept(); }

 private:
  Call(MPI_Request* request, bool persistent)
      : request_(request), is_blocking_(false), is_persistent_(persistent) {}
  int check_request() const;
  int check_usable() const;
  // Of a blocking call, too, where another thread may free them meanwhile.
  void keep(Counted* object) {
    if (!is_blocking_ || runtime().lock) [[unlikely]]
      keep_long(object);
  }
  void keep_long(Counted* object);

  MPI_Request* request_ = nullptr;
  MPI_Info info_ = MPI_INFO_NULL;
  bool is_blocking_ = true;
  bool is_persistent_ = false;
  using Kept = std::vector<Reference<Counted>>;
  std::unique_ptr<Kept> kept_;  // null while there is nothing
};

/// A nonblocking or persistent collective: waits in its communicator's channel for its turn.
class CollectiveTask : public Task, private Pending {
 public:
  /// `own`: what keeps the channel, if it is not the communicator's.
  CollectiveTask(Channel& channel, Communicator& communicator, std::vector<Reference<Counted>> kept,
                 std::unique_ptr<CommunicatorExtension> own = nullptr)
      : own_(std::move(own)), channel_(channel), communicator_(&communicator), kept_(std::move(kept)) {
    channel_.turns().add_task();
  }
  ~CollectiveTask() override {
    channel_.turns().withdraw(*this);
    channel_.turns().remove_task();
    if (own_ && is_freed_ && is_told_) runtime().collectives->spare_persistent({std::move(own_), &channel_});
  }

  bool step() override {
    if (!is_over_) channel_.turns().advance();
    return is_over_;
  }
  void start() override;
  int complete(MPI_Status* status) override;
  int report(int code) override;
  void describe(waits::Report& report) const override { AwaitsCollective(channel_).describe(report); }
  int free() override {
    is_freed_ = true;
    return MPI_SUCCESS;
  }
  Communicator* communicator() const override { return communicator_.get(); }

 protected:
  Channel& channel() { return channel_; }

 private:
  virtual std::unique_ptr<Machine> make_machine() = 0;
  /// The machine is done.
  virtual void finish() {}
  bool advance() override;

  std::unique_ptr<CommunicatorExtension> own_;
  Channel& channel_;
  Reference<Communicator> communicator_;
  std::vector<Reference<Counted>> kept_;
  std::unique_ptr<Machine> machine_;
  std::optional<Error> failure_;  // how the members' calls did not fit
  bool is_begun_ = false;
  bool is_over_ = false;
  bool is_told_ = true;  // the program, of the end of what it has started
  bool is_freed_ = false;
};

/// One whose machine is what `make(channel)` gives; what `make` has captured outlives the machine.
template <typename Make>
class MadeTask final : public CollectiveTask {
 public:
  MadeTask(Channel& channel, Communicator& communicator, std::vector<Reference<Counted>> kept, Make make,
           std::unique_ptr<CommunicatorExtension> own = nullptr)
      : CollectiveTask(channel, communicator, std::move(kept), std::move(own)), make_(std::move(make)) {}

 private:
  std::unique_ptr<Machine> make_machine() override {
    using M = decltype(make_(channel()));
    return std::unique_ptr<Machine>(new M(make_(channel())));
  }

  const Make make_;
};

/// Starts a task, or gives a persistent one its request.
int begin(Call& call, std::unique_ptr<CollectiveTask> task);

/// The barrier with which a blocking collective begins where the job's profile wants one.
Status meet_first(Channel& channel, Waiter& waiter);

/// Carries out a checked call by the machine that `make(channel)` gives: one that is over when this returns,
/// or a request.
template <typename Make>
[[gnu::noinline]] int carry_out(Call& call, Make make) {
  auto& collectives = *runtime().collectives;
  if (call.is_persistent()) {
    auto own = collectives.persistent_channel(*call.communicator);
    if (!own) return report(call.communicator, own.error());
    return begin(call, std::make_unique<MadeTask<Make>>(*own->channel, *call.communicator, call.take_kept(),
                                                        std::move(make), std::move(own->holder)));
  }
  auto channel = collectives.channel(*call.communicator);
  if (!channel) return report(call.communicator, channel.error());
  if (!call.is_blocking())
    return begin(call, std::make_unique<MadeTask<Make>>(**channel, *call.communicator, call.take_kept(),
                                                        std::move(make)));
  if (collectives.begins_with_barrier())
    if (const Status met = meet_first(**channel, collectives.waiter()); !met)
      return report(call.communicator, met.error());
  const Make& description = make;
  auto machine = description(**channel);
  const Status status = run(**channel, collectives.waiter(), machine);
  return status ? MPI_SUCCESS : report(call.communicator, status.error());
}

}  // namespace llamada::mpi::coll

#define LLAMADA_COLLECTIVE_LIST(...) __VA_ARGS__

/// The blocking, the nonblocking and the persistent function of a collective: what `check(call, arguments)`
/// does. The blocking one is one piece of code, but for what is marked noinline: few instructions for what is
/// small.
#define LLAMADA_COLLECTIVE(name, nonblocking_name, check, parameters, ...)                          \
  LLAMADA_MPI_FUNCTION(name)                                                                        \
  [[gnu::flatten]] int PMPI_##name(LLAMADA_COLLECTIVE_LIST parameters) {                            \
    LLAMADA_MPI_ENTER(name);                                                                        \
    ::llamada::mpi::coll::Call call;                                                                \
    return check(call, __VA_ARGS__);                                                                \
  }                                                                                                 \
  LLAMADA_MPI_FUNCTION(nonblocking_name)                                                            \
  int PMPI_##nonblocking_name(LLAMADA_COLLECTIVE_LIST parameters, MPI_Request* request) {           \
    LLAMADA_MPI_ENTER(nonblocking_name);                                                            \
    auto call = ::llamada::mpi::coll::Call::nonblocking(request);                                   \
    return check(call, __VA_ARGS__);                                                                \
  }                                                                                                 \
  LLAMADA_MPI_FUNCTION(name##_init)                                                                 \
  int PMPI_##name##_init(LLAMADA_COLLECTIVE_LIST parameters, MPI_Info info, MPI_Request* request) { \
    LLAMADA_MPI_ENTER(name##_init);                                                                 \
    auto call = ::llamada::mpi::coll::Call::persistent(info, request);                              \
    return check(call, __VA_ARGS__);                                                                \
  }
