#include "p2p/api_common.hpp"
#include "threads/shared_waiting.hpp"

// Generalized requests (MPI 3.1, 12.2): operations of the program that complete as MPI's own do.

using namespace llamada::mpi;

namespace {

/// Its callbacks run outside of the library's lock. Status and errors are theirs.
class GeneralizedRequest final : public Task {
 public:
  GeneralizedRequest(MPI_Grequest_query_function* query, MPI_Grequest_free_function* free,
                     MPI_Grequest_cancel_function* cancel, void* extra_state)
      : query_(query), free_(free), cancel_(cancel), extra_state_(extra_state) {}

  void set_complete() { complete_ = true; }

  bool step() override { return complete_; }
  int complete(MPI_Status* status) override {
    const OutsideForCallback outside;
    return query_(extra_state_, status);
  }
  int cancel(bool complete) override {
    const OutsideForCallback outside;
    return cancel_(extra_state_, complete);
  }
  int free() override {
    const OutsideForCallback outside;
    return free_(extra_state_);
  }
  /// MPI_Grequest_complete may come after MPI_Request_free.
  bool keeps_handle() const override { return true; }

 private:
  MPI_Grequest_query_function* query_;
  MPI_Grequest_free_function* free_;
  MPI_Grequest_cancel_function* cancel_;
  void* extra_state_;
  bool complete_ = false;
};

}  // namespace

LLAMADA_MPI_FUNCTION(Grequest_start)
int PMPI_Grequest_start(MPI_Grequest_query_function* query_function,
                        MPI_Grequest_free_function* free_function,
                        MPI_Grequest_cancel_function* cancel_function, void* extra_state,
                        MPI_Request* request) {
  LLAMADA_MPI_ENTER(Grequest_start);
  if (!query_function || !free_function || !cancel_function)
    return report(nullptr, MPI_ERR_ARG, "a callback is null");
  return begin_task(
      std::make_unique<GeneralizedRequest>(query_function, free_function, cancel_function, extra_state),
      request);
}

LLAMADA_MPI_FUNCTION(Grequest_complete)
int PMPI_Grequest_complete(MPI_Request handle) {
  LLAMADA_MPI_ENTER(Grequest_complete);
  Request* request = nullptr;
  if (int code = find_request(handle, request)) return code;
  auto* task = request && request->kind == Request::Kind::task
                   ? dynamic_cast<GeneralizedRequest*>(request->kept->task.get())
                   : nullptr;
  if (!task || request->complete)
    return report(nullptr, MPI_ERR_REQUEST, "the request is no generalized request that is not yet complete");
  task->set_complete();
  engine().progress();
  return MPI_SUCCESS;
}
