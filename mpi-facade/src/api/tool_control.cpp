#include <memory>

#include "api/tool_interface.hpp"

// Initialisation, enumerations and control variables (MPI 3.1, 14.3.4 to 14.3.6).

using namespace llamada::mpi;
using namespace llamada::mpi::tool_information;

namespace llamada::mpi::tool_information {

Interface& interface() {
  static Interface the_interface;
  return the_interface;
}

void give_text(const char* text, char* to, int* length) {
  if (!length) return;
  const int needed = static_cast<int>(std::strlen(text)) + 1;
  if (to && *length > 0) {
    const int copied = std::min(*length, needed) - 1;
    std::memcpy(to, text, static_cast<std::size_t>(copied));
    to[copied] = '\0';
  }
  *length = needed;
}

}  // namespace llamada::mpi::tool_information

namespace {

const Enumeration* find_enumeration(MPI_T_enum enumeration) {
  for (const ControlVariable& variable : control_variables())
    if (variable.enumeration &&
        enumeration == reinterpret_cast<MPI_T_enum>(const_cast<Enumeration*>(variable.enumeration)))
      return variable.enumeration;
  return nullptr;
}

template <typename T>
void store(void* buffer, std::uint64_t value) {
  const T narrow = static_cast<T>(value);
  std::memcpy(buffer, &narrow, sizeof narrow);
}

template <typename T>
std::uint64_t load(const void* buffer) {
  T narrow;
  std::memcpy(&narrow, buffer, sizeof narrow);
  return static_cast<std::uint64_t>(narrow);
}

const ControlVariable* find_variable(MPI_T_cvar_handle handle) {
  return interface().control_handles.contains(handle) ? handle->variable : nullptr;
}

}  // namespace

LLAMADA_MPI_FUNCTION(T_init_thread)
int PMPI_T_init_thread(int required, int* provided) {
  const Scope scope;
  ++interface().users;
  give(provided, std::clamp(required, MPI_THREAD_SINGLE, MPI_THREAD_MULTIPLE));
  return MPI_SUCCESS;
}

LLAMADA_MPI_FUNCTION(T_finalize)
int PMPI_T_finalize(void) {
  LLAMADA_TOOL_ENTER();
  --interface().users;
  return MPI_SUCCESS;
}

LLAMADA_MPI_FUNCTION(T_enum_get_info)
int PMPI_T_enum_get_info(MPI_T_enum enumeration, int* item_count, char* name, int* name_length) {
  LLAMADA_TOOL_ENTER();
  const Enumeration* found = find_enumeration(enumeration);
  if (!found) return MPI_T_ERR_INVALID_HANDLE;
  give(item_count, static_cast<int>(found->items.size()));
  give_text(found->name, name, name_length);
  return MPI_SUCCESS;
}

LLAMADA_MPI_FUNCTION(T_enum_get_item)
int PMPI_T_enum_get_item(MPI_T_enum enumeration, int index, int* value, char* name, int* name_length) {
  LLAMADA_TOOL_ENTER();
  const Enumeration* found = find_enumeration(enumeration);
  if (!found) return MPI_T_ERR_INVALID_HANDLE;
  if (!has(found->items, index)) return MPI_T_ERR_INVALID_INDEX;
  const EnumItem& item = found->items[static_cast<std::size_t>(index)];
  give(value, item.value);
  give_text(item.name, name, name_length);
  return MPI_SUCCESS;
}

LLAMADA_MPI_FUNCTION(T_cvar_get_num)
int PMPI_T_cvar_get_num(int* count) {
  LLAMADA_TOOL_ENTER();
  if (!count) return MPI_T_ERR_INVALID;
  *count = static_cast<int>(control_variables().size());
  return MPI_SUCCESS;
}

LLAMADA_MPI_FUNCTION(T_cvar_get_info)
int PMPI_T_cvar_get_info(int index, char* name, int* name_length, int* verbosity, MPI_Datatype* datatype,
                         MPI_T_enum* enumeration, char* description, int* description_length, int* bind,
                         int* scope) {
  LLAMADA_TOOL_ENTER();
  if (!has(control_variables(), index)) return MPI_T_ERR_INVALID_INDEX;
  const ControlVariable& variable = control_variables()[static_cast<std::size_t>(index)];
  give_text(variable.name, name, name_length);
  give(verbosity, variable.verbosity);
  give(datatype, variable.type);
  give(enumeration, reinterpret_cast<MPI_T_enum>(const_cast<Enumeration*>(variable.enumeration)));
  give_text(variable.description, description, description_length);
  give(bind, static_cast<int>(MPI_T_BIND_NO_OBJECT));
  give(scope, variable.scope);
  return MPI_SUCCESS;
}

LLAMADA_MPI_FUNCTION(T_cvar_get_index)
int PMPI_T_cvar_get_index(const char* name, int* index) {
  LLAMADA_TOOL_ENTER();
  return find_name(control_variables(), name, index);
}

LLAMADA_MPI_FUNCTION(T_cvar_handle_alloc)
int PMPI_T_cvar_handle_alloc(int index, void*, MPI_T_cvar_handle* handle, int* count) {
  LLAMADA_TOOL_ENTER();
  if (!has(control_variables(), index)) return MPI_T_ERR_INVALID_INDEX;
  if (!handle) return MPI_T_ERR_INVALID;
  auto made = std::make_unique<MPIR_T_cvar_handle_s>();
  made->variable = &control_variables()[static_cast<std::size_t>(index)];
  *handle = made.get();
  interface().control_handles.insert(made.release());
  give(count, 1);
  return MPI_SUCCESS;
}

LLAMADA_MPI_FUNCTION(T_cvar_handle_free)
int PMPI_T_cvar_handle_free(MPI_T_cvar_handle* handle) {
  LLAMADA_TOOL_ENTER();
  if (!handle || !find_variable(*handle)) return MPI_T_ERR_INVALID_HANDLE;
  interface().control_handles.erase(*handle);
  const std::unique_ptr<MPIR_T_cvar_handle_s> last(*handle);
  *handle = MPI_T_CVAR_HANDLE_NULL;
  return MPI_SUCCESS;
}

LLAMADA_MPI_FUNCTION(T_cvar_read)
int PMPI_T_cvar_read(MPI_T_cvar_handle handle, void* buffer) {
  LLAMADA_TOOL_ENTER();
  const ControlVariable* variable = find_variable(handle);
  if (!variable) return MPI_T_ERR_INVALID_HANDLE;
  if (!buffer) return MPI_T_ERR_INVALID;
  const std::uint64_t value = variable->read();
  switch (variable->type) {
    case MPI_INT:
      store<int>(buffer, value);
      break;
    case MPI_UNSIGNED:
      store<unsigned>(buffer, value);
      break;
    default:
      store<unsigned long long>(buffer, value);
  }
  return MPI_SUCCESS;
}

LLAMADA_MPI_FUNCTION(T_cvar_write)
int PMPI_T_cvar_write(MPI_T_cvar_handle handle, const void* buffer) {
  LLAMADA_TOOL_ENTER();
  const ControlVariable* variable = find_variable(handle);
  if (!variable) return MPI_T_ERR_INVALID_HANDLE;
  if (!variable->write) return MPI_T_ERR_CVAR_SET_NEVER;
  if (!buffer) return MPI_T_ERR_INVALID;
  return variable->write(variable->type == MPI_UNSIGNED ? load<unsigned>(buffer)
                                                        : load<unsigned long long>(buffer));
}
