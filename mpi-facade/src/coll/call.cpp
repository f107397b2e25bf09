#include "coll/call.hpp"

#include "p2p/api_common.hpp"

namespace llamada::mpi::coll {

int Call::check_request() const {
  if (int code = check_pointer(communicator, request_, "request")) return code;
  if (info_ == MPI_INFO_NULL || runtime().infos.find(info_)) return MPI_SUCCESS;
  return report(communicator, MPI_ERR_INFO, "the info object was freed, or is none");
}

void CollectiveTask::start() {
  machine_ = make_machine();
  failure_.clear();
  is_begun_ = is_over_ = false;
  channel_.enqueue(*this);
}

bool CollectiveTask::advance() {
  if (!is_begun_) channel_.forget_misfit();
  if (!channel_.failed()) {
    if (!is_begun_) machine_->begin();
    is_begun_ = true;
    if (!machine_->advance(channel_)) return false;
    channel_.end();
  }
  failure_ = channel_.failure();
  if (failure_.empty()) finish();
  return is_over_ = true;
}

int CollectiveTask::complete(MPI_Status*) { return failure_.empty() ? MPI_SUCCESS : MPI_ERR_ARG; }

int CollectiveTask::report(int code) {
  if (failure_.empty()) return Task::report(code);
  return mpi::report(communicator_.get(), Error(Errc::invalid_argument, failure_));
}

int begin(Call& call, std::unique_ptr<CollectiveTask> task) {
  if (call.is_persistent()) return make_persistent_task(std::move(task), call.request());
  task->start();
  return begin_task(std::move(task), call.request());
}

namespace {

class Nothing final : public Task {
 public:
  explicit Nothing(Communicator& communicator) : communicator_(&communicator) {}
  bool step() override { return true; }
  Communicator* communicator() const override { return communicator_.get(); }

 private:
  Reference<Communicator> communicator_;
};

}  // namespace

int nothing_to_do(Call& call) {
  if (call.is_blocking()) return MPI_SUCCESS;
  auto nothing = std::make_unique<Nothing>(*call.communicator);
  if (call.is_persistent()) return make_persistent_task(std::move(nothing), call.request());
  return begin_task(std::move(nothing), call.request());
}

}  // namespace llamada::mpi::coll
