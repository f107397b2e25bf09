#include <memory>

#include "api/tool_interface.hpp"

// Performance variables (MPI 3.1, 14.3.7). A handle of a counter counts while it is started; a level, size or
// state is what it is now, always.

using namespace llamada::mpi;
using namespace llamada::mpi::tool_information;

MPIR_T_pvar_handle_s* const MPI_T_PVAR_ALL_HANDLES =
    reinterpret_cast<MPIR_T_pvar_handle_s*>(static_cast<std::uintptr_t>(-1));

namespace {

bool is_session(MPI_T_pvar_session session) { return interface().sessions.contains(session); }

/// MPI_SUCCESS when the session has the handle.
int check_handle(MPI_T_pvar_session session, MPI_T_pvar_handle handle) {
  if (!is_session(session)) return MPI_T_ERR_INVALID_SESSION;
  return session->handles.contains(handle) ? MPI_SUCCESS : MPI_T_ERR_INVALID_HANDLE;
}

std::uint64_t value_of(const MPIR_T_pvar_handle_s& handle) {
  if (!handle.variable->is_counter()) return handle.variable->read();
  return handle.counted + (handle.running ? handle.variable->read() - handle.started_at : 0);
}

void set_value(MPIR_T_pvar_handle_s& handle, std::uint64_t value) {
  handle.counted = value;
  handle.started_at = handle.variable->read();
}

int start(MPIR_T_pvar_handle_s& handle) {
  if (!handle.variable->is_counter()) return MPI_T_ERR_PVAR_NO_STARTSTOP;
  if (!handle.running) handle.started_at = handle.variable->read();
  handle.running = true;
  return MPI_SUCCESS;
}

int stop(MPIR_T_pvar_handle_s& handle) {
  if (!handle.variable->is_counter()) return MPI_T_ERR_PVAR_NO_STARTSTOP;
  handle.counted = value_of(handle);
  handle.running = false;
  return MPI_SUCCESS;
}

int reset(MPIR_T_pvar_handle_s& handle) {
  if (!handle.variable->is_counter()) return MPI_T_ERR_PVAR_NO_WRITE;
  set_value(handle, 0);
  return MPI_SUCCESS;
}

/// One handle, or all for which `action` has a meaning: the others are passed over.
int apply(MPI_T_pvar_session session, MPI_T_pvar_handle handle, int (*action)(MPIR_T_pvar_handle_s&)) {
  if (handle != MPI_T_PVAR_ALL_HANDLES) {
    if (const int code = check_handle(session, handle)) return code;
    return action(*handle);
  }
  if (!is_session(session)) return MPI_T_ERR_INVALID_SESSION;
  for (MPI_T_pvar_handle each : session->handles)
    if (each->variable->is_counter()) action(*each);
  return MPI_SUCCESS;
}

int read(MPI_T_pvar_session session, MPI_T_pvar_handle handle, void* buffer) {
  if (const int code = check_handle(session, handle)) return code;
  if (!buffer) return MPI_T_ERR_INVALID;
  const unsigned long long value = value_of(*handle);
  std::memcpy(buffer, &value, sizeof value);
  return MPI_SUCCESS;
}

void free_handle(MPI_T_pvar_handle handle) { const std::unique_ptr<MPIR_T_pvar_handle_s> last(handle); }

}  // namespace

LLAMADA_MPI_FUNCTION(T_pvar_get_num)
int PMPI_T_pvar_get_num(int* count) {
  LLAMADA_TOOL_ENTER();
  if (!count) return MPI_T_ERR_INVALID;
  *count = static_cast<int>(performance_variables().size());
  return MPI_SUCCESS;
}

LLAMADA_MPI_FUNCTION(T_pvar_get_info)
int PMPI_T_pvar_get_info(int index, char* name, int* name_length, int* verbosity, int* variable_class,
                         MPI_Datatype* datatype, MPI_T_enum* enumeration, char* description,
                         int* description_length, int* bind, int* is_readonly, int* is_continuous,
                         int* is_atomic) {
  LLAMADA_TOOL_ENTER();
  if (!has(performance_variables(), index)) return MPI_T_ERR_INVALID_INDEX;
  const PerformanceVariable& variable = performance_variables()[static_cast<std::size_t>(index)];
  give_text(variable.name, name, name_length);
  give(verbosity, variable.verbosity);
  give(variable_class, variable.variable_class);
  give(datatype, static_cast<MPI_Datatype>(MPI_UNSIGNED_LONG_LONG));
  give(enumeration, MPI_T_ENUM_NULL);
  give_text(variable.description, description, description_length);
  give(bind, static_cast<int>(MPI_T_BIND_NO_OBJECT));
  give(is_readonly, static_cast<int>(!variable.is_counter()));
  give(is_continuous, static_cast<int>(!variable.is_counter()));
  give(is_atomic, 0);
  return MPI_SUCCESS;
}

LLAMADA_MPI_FUNCTION(T_pvar_get_index)
int PMPI_T_pvar_get_index(const char* name, int variable_class, int* index) {
  LLAMADA_TOOL_ENTER();
  int found = 0;
  if (!index) return MPI_T_ERR_INVALID;
  if (const int code = find_name(performance_variables(), name, &found)) return code;
  if (performance_variables()[static_cast<std::size_t>(found)].variable_class != variable_class)
    return MPI_T_ERR_INVALID_NAME;
  *index = found;
  return MPI_SUCCESS;
}

LLAMADA_MPI_FUNCTION(T_pvar_session_create)
int PMPI_T_pvar_session_create(MPI_T_pvar_session* session) {
  LLAMADA_TOOL_ENTER();
  if (!session) return MPI_T_ERR_INVALID;
  *session = std::make_unique<MPIR_T_pvar_session_s>().release();
  interface().sessions.insert(*session);
  return MPI_SUCCESS;
}

LLAMADA_MPI_FUNCTION(T_pvar_session_free)
int PMPI_T_pvar_session_free(MPI_T_pvar_session* session) {
  LLAMADA_TOOL_ENTER();
  if (!session || !is_session(*session)) return MPI_T_ERR_INVALID_SESSION;
  interface().sessions.erase(*session);
  const std::unique_ptr<MPIR_T_pvar_session_s> last(*session);
  for (MPI_T_pvar_handle handle : last->handles) free_handle(handle);
  *session = MPI_T_PVAR_SESSION_NULL;
  return MPI_SUCCESS;
}

LLAMADA_MPI_FUNCTION(T_pvar_handle_alloc)
int PMPI_T_pvar_handle_alloc(MPI_T_pvar_session session, int index, void*, MPI_T_pvar_handle* handle,
                             int* count) {
  LLAMADA_TOOL_ENTER();
  if (!is_session(session)) return MPI_T_ERR_INVALID_SESSION;
  if (!has(performance_variables(), index)) return MPI_T_ERR_INVALID_INDEX;
  if (!handle) return MPI_T_ERR_INVALID;
  auto made = std::make_unique<MPIR_T_pvar_handle_s>();
  *made = {&performance_variables()[static_cast<std::size_t>(index)], session, false, 0, 0};
  *handle = made.get();
  session->handles.insert(made.release());
  give(count, 1);
  return MPI_SUCCESS;
}

LLAMADA_MPI_FUNCTION(T_pvar_handle_free)
int PMPI_T_pvar_handle_free(MPI_T_pvar_session session, MPI_T_pvar_handle* handle) {
  LLAMADA_TOOL_ENTER();
  if (!handle) return MPI_T_ERR_INVALID_HANDLE;
  if (const int code = check_handle(session, *handle)) return code;
  session->handles.erase(*handle);
  free_handle(*handle);
  *handle = MPI_T_PVAR_HANDLE_NULL;
  return MPI_SUCCESS;
}

LLAMADA_MPI_FUNCTION(T_pvar_start)
int PMPI_T_pvar_start(MPI_T_pvar_session session, MPI_T_pvar_handle handle) {
  LLAMADA_TOOL_ENTER();
  return apply(session, handle, start);
}

LLAMADA_MPI_FUNCTION(T_pvar_stop)
int PMPI_T_pvar_stop(MPI_T_pvar_session session, MPI_T_pvar_handle handle) {
  LLAMADA_TOOL_ENTER();
  return apply(session, handle, stop);
}

LLAMADA_MPI_FUNCTION(T_pvar_read)
int PMPI_T_pvar_read(MPI_T_pvar_session session, MPI_T_pvar_handle handle, void* buffer) {
  LLAMADA_TOOL_ENTER();
  return read(session, handle, buffer);
}

LLAMADA_MPI_FUNCTION(T_pvar_write)
int PMPI_T_pvar_write(MPI_T_pvar_session session, MPI_T_pvar_handle handle, const void* buffer) {
  LLAMADA_TOOL_ENTER();
  if (const int code = check_handle(session, handle)) return code;
  if (!handle->variable->is_counter()) return MPI_T_ERR_PVAR_NO_WRITE;
  if (!buffer) return MPI_T_ERR_INVALID;
  unsigned long long value;
  std::memcpy(&value, buffer, sizeof value);
  set_value(*handle, value);
  return MPI_SUCCESS;
}

LLAMADA_MPI_FUNCTION(T_pvar_reset)
int PMPI_T_pvar_reset(MPI_T_pvar_session session, MPI_T_pvar_handle handle) {
  LLAMADA_TOOL_ENTER();
  return apply(session, handle, reset);
}

// Only for variables that are atomic (14.3.7).
LLAMADA_MPI_FUNCTION(T_pvar_readreset)
int PMPI_T_pvar_readreset(MPI_T_pvar_session session, MPI_T_pvar_handle handle, void*) {
  LLAMADA_TOOL_ENTER();
  if (const int code = check_handle(session, handle)) return code;
  return MPI_T_ERR_PVAR_NO_ATOMIC;
}
