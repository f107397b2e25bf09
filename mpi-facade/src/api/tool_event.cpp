#include "api/tool_interface.hpp"

// Events and their sources (MPI 4.0, 15.3.8): there are none, so no index, instance or registration is valid.

using namespace llamada::mpi;
using namespace llamada::mpi::tool_information;

LLAMADA_MPI_FUNCTION(T_source_get_num)
int PMPI_T_source_get_num(int* count) {
  LLAMADA_TOOL_ENTER();
  if (!count) return MPI_T_ERR_INVALID;
  *count = 0;
  return MPI_SUCCESS;
}

LLAMADA_MPI_FUNCTION(T_event_get_num)
int PMPI_T_event_get_num(int* count) {
  LLAMADA_TOOL_ENTER();
  if (!count) return MPI_T_ERR_INVALID;
  *count = 0;
  return MPI_SUCCESS;
}

#define LLAMADA_NO_EVENT(name, parameters, code) \
  LLAMADA_MPI_FUNCTION(name)                     \
  int PMPI_##name parameters {                   \
    LLAMADA_TOOL_ENTER();                        \
    return code;                                 \
  }

LLAMADA_NO_EVENT(T_source_get_info,
                 (int, char*, int*, char*, int*, MPI_T_source_order*, MPI_Count*, MPI_Count*, MPI_Info*),
                 MPI_T_ERR_INVALID_INDEX)
LLAMADA_NO_EVENT(T_source_get_timestamp, (int, MPI_Count*), MPI_T_ERR_INVALID_INDEX)
LLAMADA_NO_EVENT(T_event_get_info,
                 (int, char*, int*, int*, MPI_Datatype[], MPI_Aint[], int*, MPI_T_enum*, MPI_Info*, char*,
                  int*, int*),
                 MPI_T_ERR_INVALID_INDEX)
LLAMADA_NO_EVENT(T_event_get_index, (const char*, int*), MPI_T_ERR_INVALID_NAME)
LLAMADA_NO_EVENT(T_event_handle_alloc, (int, void*, MPI_Info, MPI_T_event_registration*),
                 MPI_T_ERR_INVALID_INDEX)
LLAMADA_NO_EVENT(T_event_handle_set_info, (MPI_T_event_registration, MPI_Info), MPI_T_ERR_INVALID_HANDLE)
LLAMADA_NO_EVENT(T_event_handle_get_info, (MPI_T_event_registration, MPI_Info*), MPI_T_ERR_INVALID_HANDLE)
LLAMADA_NO_EVENT(T_event_handle_free, (MPI_T_event_registration, void*, MPI_T_event_free_cb_function*),
                 MPI_T_ERR_INVALID_HANDLE)
LLAMADA_NO_EVENT(T_event_register_callback,
                 (MPI_T_event_registration, MPI_T_cb_safety, MPI_Info, void*, MPI_T_event_cb_function*),
                 MPI_T_ERR_INVALID_HANDLE)
LLAMADA_NO_EVENT(T_event_callback_set_info, (MPI_T_event_registration, MPI_T_cb_safety, MPI_Info),
                 MPI_T_ERR_INVALID_HANDLE)
LLAMADA_NO_EVENT(T_event_callback_get_info, (MPI_T_event_registration, MPI_T_cb_safety, MPI_Info*),
                 MPI_T_ERR_INVALID_HANDLE)
LLAMADA_NO_EVENT(T_event_set_dropped_handler, (MPI_T_event_registration, MPI_T_event_dropped_cb_function*),
                 MPI_T_ERR_INVALID_HANDLE)
LLAMADA_NO_EVENT(T_event_read, (MPI_T_event_instance, int, void*), MPI_T_ERR_INVALID_HANDLE)
LLAMADA_NO_EVENT(T_event_copy, (MPI_T_event_instance, void*), MPI_T_ERR_INVALID_HANDLE)
LLAMADA_NO_EVENT(T_event_get_timestamp, (MPI_T_event_instance, MPI_Count*), MPI_T_ERR_INVALID_HANDLE)
LLAMADA_NO_EVENT(T_event_get_source, (MPI_T_event_instance, int*), MPI_T_ERR_INVALID_HANDLE)
