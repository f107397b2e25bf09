#include <llamada-checkpoint.h>

#include "checkpoint/course.hpp"
#include "p2p/api_common.hpp"
#include "runtime/entry.hpp"

// The functions of llamada-checkpoint.h. Their errors are for the caller: a job of days does not end because
// a checkpoint could not be taken.

using namespace llamada::mpi;

namespace {

bool has_all_ranks(const Communicator& communicator) {
  return !communicator.is_inter() && communicator.size() == runtime().world_size;
}

}  // namespace

extern "C" {

int LLAMADA_Checkpoint_register(void* memory, size_t bytes) {
  LLAMADA_MPI_ENTER(L_Checkpoint_register);
  if (memory == nullptr && bytes > 0) return MPI_ERR_ARG;
  return checkpoint::course().add({static_cast<std::byte*>(memory), bytes}) ? MPI_SUCCESS : MPI_ERR_OTHER;
}

int LLAMADA_Checkpoint(MPI_Comm comm, int* restarted) {
  LLAMADA_MPI_ENTER(L_Checkpoint);
  const Communicator* const communicator = runtime().communicators.find(comm);
  if (communicator == nullptr || !has_all_ranks(*communicator)) return MPI_ERR_COMM;
  if (restarted == nullptr) return MPI_ERR_ARG;
  *restarted = 0;
  const auto taken = checkpoint::course().take();
  if (!taken || !taken->is_taken) return MPI_ERR_OTHER;
  *restarted = taken->is_restarted ? 1 : 0;
  return MPI_SUCCESS;
}

}  // extern "C"
