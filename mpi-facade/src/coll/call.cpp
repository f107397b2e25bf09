#include "coll/call.hpp"

#include "coll/movement.hpp"
#include "p2p/api_common.hpp"

namespace llamada::mpi::coll {

int Call::check_usable() const {
  const Status usable = runtime().collectives->check_usable(*communicator);
  return usable ? MPI_SUCCESS : report(communicator, usable.error());
}

int Call::check_request() const {
  if (int code = check_pointer(communicator, request_, "request")) return code;
  if (info_ == MPI_INFO_NULL || runtime().infos.find(info_)) return MPI_SUCCESS;
  return report(communicator, MPI_ERR_INFO, "the info object was freed, or is none");
}

void Call::keep_long(Counted* object) {
  if (!kept_) kept_ = std::make_unique<Kept>();
  kept_->emplace_back(object);
}

void CollectiveTask::start() {
  machine_ = make_machine();
  failure_.reset();
  is_begun_ = is_over_ = is_told_ = false;
  channel_.turns().enqueue(*this);
}

bool CollectiveTask::advance() {
  if (!is_begun_) channel_.fitting().forget_misfit();
  if (!channel_.failed()) {
    if (!is_begun_) machine_->begin();
    is_begun_ = true;
    if (!machine_->advance(channel_)) return false;
    channel_.end();
  }
  if (const Status status = outcome(channel_))
    finish();
  else
    failure_ = status.error();
  return is_over_ = true;
}

int CollectiveTask::complete(MPI_Status*) {
  is_told_ = true;
  if (!failure_) return MPI_SUCCESS;
  return error_class_for(failure_->code());
}

int CollectiveTask::report(int code) {
  if (!failure_) return Task::report(code);
  return mpi::report(communicator_.get(), *failure_);
}

Status meet_first(Channel& channel, Waiter& waiter) {
  Barrier barrier(channel);
  return run(channel, waiter, barrier);
}

int begin(Call& call, std::unique_ptr<CollectiveTask> task) {
  if (call.is_persistent()) return make_persistent_task(std::move(task), call.request());
  task->start();
  return begin_task(std::move(task), call.request());
}

}  // namespace llamada::mpi::coll
