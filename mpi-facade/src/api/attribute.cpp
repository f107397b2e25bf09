#include "api/arguments.hpp"

// MPI 3.1, 6.7 and 8.1.2: attributes of communicators, with the names of MPI-1 (15.1).
using namespace llamada::mpi;

namespace {

/// The predefined attributes, for MPI_Comm_get_attr a pointer to an int that stays where it is.
int* predefined_attribute(int keyval) {
  Runtime& state = runtime();
  switch (keyval) {
    case MPI_TAG_UB:
      return &state.tag_upper_bound;
    case MPI_HOST:
      return &state.no_host;
    case MPI_IO:
      return &state.io_rank;
    case MPI_WTIME_IS_GLOBAL:
      return &state.wtime_is_global;
    case MPI_UNIVERSE_SIZE:
      return &state.universe_size;
    case MPI_LASTUSEDCODE:
      return &state.added_errors.last_used;
    case MPI_APPNUM:
      return &state.application_number;
    default:
      return nullptr;
  }
}

int bad_keyval(Communicator* communicator, int keyval) {
  if (predefined_attribute(keyval)) {
    return report(communicator, MPI_ERR_KEYVAL, "a predefined attribute cannot be changed");
  }
  return report(communicator, MPI_ERR_KEYVAL,
                keyval == MPI_KEYVAL_INVALID ? std::string("the key is MPI_KEYVAL_INVALID")
                                             : fmt::format("{:#x} is no attribute key, or one that was freed",
                                                           static_cast<unsigned>(keyval)));
}

int create_keyval(MPI_Comm_copy_attr_function* copy, MPI_Comm_delete_attr_function* destroy, int* keyval,
                  void* extra_state) {
  if (int code = check_pointer(nullptr, keyval, "key")) return code;
  *keyval = runtime().keyvals.insert(make_counted<Keyval>(copy, destroy, extra_state));
  return MPI_SUCCESS;
}

/// The number of a freed key is never used again, for attributes that were set with it live on.
int free_keyval(int* keyval) {
  if (int code = check_pointer(nullptr, keyval, "key")) return code;
  if (!runtime().keyvals.find(*keyval)) return bad_keyval(nullptr, *keyval);
  runtime().keyvals.retire(*keyval);
  *keyval = MPI_KEYVAL_INVALID;
  return MPI_SUCCESS;
}

int failed_callback(Communicator* communicator, int code) {
  if (code == MPI_SUCCESS) return MPI_SUCCESS;
  return report(communicator, MPI_ERR_OTHER, fmt::format("an attribute's callback returned {}", code));
}

int set_attribute(MPI_Comm comm, int keyval, void* value) {
  Communicator* communicator = nullptr;
  if (int code = find_communicator(comm, communicator)) return code;
  const Reference<Keyval> key(runtime().keyvals.find(keyval));
  if (!key) return bad_keyval(communicator, keyval);
  return failed_callback(communicator, communicator->attributes().set(comm, keyval, key, value));
}

int get_attribute(MPI_Comm comm, int keyval, void* value, int* flag) {
  Communicator* communicator = nullptr;
  if (int code = find_communicator(comm, communicator)) return code;
  if (int code = check_pointer(communicator, value, "value")) return code;
  if (int code = check_pointer(communicator, flag, "flag")) return code;
  auto& result = *static_cast<void**>(value);
  if (int* predefined = predefined_attribute(keyval)) {
    *flag = 1;
    result = predefined;
    return MPI_SUCCESS;
  }
  if (!runtime().keyvals.find(keyval)) return bad_keyval(communicator, keyval);
  const std::optional<void*> found = communicator->attributes().get(keyval);
  *flag = found.has_value();
  if (found) result = *found;
  return MPI_SUCCESS;
}

int delete_attribute(MPI_Comm comm, int keyval) {
  Communicator* communicator = nullptr;
  if (int code = find_communicator(comm, communicator)) return code;
  if (!runtime().keyvals.find(keyval)) return bad_keyval(communicator, keyval);
  return failed_callback(communicator, communicator->attributes().remove(comm, keyval));
}

}  // namespace

int MPIR_Dup_fn(MPI_Comm, int, void*, void* value, void* new_value, int* flag) {
  *static_cast<void**>(new_value) = value;
  *flag = 1;
  return MPI_SUCCESS;
}

LLAMADA_MPI_FUNCTION(Comm_create_keyval)
int PMPI_Comm_create_keyval(MPI_Comm_copy_attr_function* copy, MPI_Comm_delete_attr_function* destroy,
                            int* keyval, void* extra_state) {
  LLAMADA_MPI_ENTER(Comm_create_keyval);
  return create_keyval(copy, destroy, keyval, extra_state);
}

LLAMADA_MPI_FUNCTION(Keyval_create)
int PMPI_Keyval_create(MPI_Copy_function* copy, MPI_Delete_function* destroy, int* keyval,
                       void* extra_state) {
  LLAMADA_MPI_ENTER(Keyval_create);
  return create_keyval(copy, destroy, keyval, extra_state);
}

LLAMADA_MPI_FUNCTION(Comm_free_keyval)
int PMPI_Comm_free_keyval(int* keyval) {
  LLAMADA_MPI_ENTER(Comm_free_keyval);
  return free_keyval(keyval);
}

LLAMADA_MPI_FUNCTION(Keyval_free)
int PMPI_Keyval_free(int* keyval) {
  LLAMADA_MPI_ENTER(Keyval_free);
  return free_keyval(keyval);
}

LLAMADA_MPI_FUNCTION(Comm_set_attr)
int PMPI_Comm_set_attr(MPI_Comm comm, int keyval, void* value) {
  LLAMADA_MPI_ENTER(Comm_set_attr);
  return set_attribute(comm, keyval, value);
}

LLAMADA_MPI_FUNCTION(Attr_put)
int PMPI_Attr_put(MPI_Comm comm, int keyval, void* value) {
  LLAMADA_MPI_ENTER(Attr_put);
  return set_attribute(comm, keyval, value);
}

LLAMADA_MPI_FUNCTION(Comm_get_attr)
int PMPI_Comm_get_attr(MPI_Comm comm, int keyval, void* value, int* flag) {
  LLAMADA_MPI_ENTER(Comm_get_attr);
  return get_attribute(comm, keyval, value, flag);
}

LLAMADA_MPI_FUNCTION(Attr_get)
int PMPI_Attr_get(MPI_Comm comm, int keyval, void* value, int* flag) {
  LLAMADA_MPI_ENTER(Attr_get);
  return get_attribute(comm, keyval, value, flag);
}

LLAMADA_MPI_FUNCTION(Comm_delete_attr)
int PMPI_Comm_delete_attr(MPI_Comm comm, int keyval) {
  LLAMADA_MPI_ENTER(Comm_delete_attr);
  return delete_attribute(comm, keyval);
}

LLAMADA_MPI_FUNCTION(Attr_delete)
int PMPI_Attr_delete(MPI_Comm comm, int keyval) {
  LLAMADA_MPI_ENTER(Attr_delete);
  return delete_attribute(comm, keyval);
}
