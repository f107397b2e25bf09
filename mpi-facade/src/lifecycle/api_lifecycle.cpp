#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>

#include "lifecycle/init.hpp"
#include "process/process.hpp"
#include "runtime/arguments.hpp"
#include "runtime/protection.hpp"
#include "world/world.hpp"

// Startup and shutdown (MPI 3.1, 8.7; threads: 12.4).

namespace {

using namespace llamada::mpi;

int init(CallId id, int required, int* provided) {
  if (const Runtime* known = runtime_if_any(); known && known->stage.initialized)
    fatal(fmt::format("{}: MPI was initialised before", call_name(id)));
  const int level = std::clamp(required, MPI_THREAD_SINGLE, MPI_THREAD_MULTIPLE);
  initialize(level);
  const CallId outer = runtime().calls.enter(id);
  // What threads do between each other is not recorded.
  if (level == MPI_THREAD_MULTIPLE) give_up_protection("MPI_THREAD_MULTIPLE");
  if (provided != nullptr) *provided = level;
  runtime().calls.leave(outer);
  runtime().stage.plain = !runtime().lock;
  runtime().stage.initialized = true;
  return MPI_SUCCESS;
}

}  // namespace

extern "C" {

LLAMADA_MPI_FUNCTION(Init)
int PMPI_Init(int*, char***) { return init(CallId::Init, MPI_THREAD_SINGLE, nullptr); }

LLAMADA_MPI_FUNCTION(Init_thread)
int PMPI_Init_thread(int*, char***, int required, int* provided) {
  return init(CallId::Init_thread, required, provided);
}

LLAMADA_MPI_FUNCTION(Initialized)
int PMPI_Initialized(int* flag) {
  *flag = runtime_seen_by_any_thread() != nullptr;
  return MPI_SUCCESS;
}

LLAMADA_MPI_FUNCTION(Finalize)
int PMPI_Finalize(void) {
  LLAMADA_MPI_ENTER(Finalize);
  finalize();
  runtime().stage.plain = false;
  runtime().stage.finalized = true;
  if (runtime().is_open()) runtime().stage.plain = !runtime().lock;
  return MPI_SUCCESS;
}

LLAMADA_MPI_FUNCTION(Finalized)
int PMPI_Finalized(int* flag) {
  const Runtime* self = runtime_seen_by_any_thread();
  *flag = self != nullptr && self->stage.finalized.load(std::memory_order_acquire);
  return MPI_SUCCESS;
}

LLAMADA_MPI_FUNCTION(Abort)
int PMPI_Abort(MPI_Comm, int errorcode) {
  LLAMADA_MPI_ENTER(Abort);
  runtime().world->aborted(errorcode, fmt::format("MPI_Abort was called with code {}", errorcode));
  return MPI_ERR_OTHER;  // Not reached.
}

// Any thread may ask these two at any level, also while another one is in a call.
LLAMADA_MPI_FUNCTION(Query_thread)
int PMPI_Query_thread(int* provided) {
  if (!runtime_seen_by_any_thread()) called_outside(CallId::Query_thread);
  if (int code = check_pointer(nullptr, provided, "provided")) return code;
  *provided = runtime().threads.level;
  return MPI_SUCCESS;
}

LLAMADA_MPI_FUNCTION(Is_thread_main)
int PMPI_Is_thread_main(int* flag) {
  if (!runtime_seen_by_any_thread()) called_outside(CallId::Is_thread_main);
  if (int code = check_pointer(nullptr, flag, "flag")) return code;
  *flag = syscall(SYS_gettid) == runtime().threads.main;
  return MPI_SUCCESS;
}

}  // extern "C"
