#include <mpi-ext.h>

#include "llamada/mpi/fortran_attributes.h"

#include "api/object_kinds.hpp"

// MPI 3.1, 6.7, 8.1.2 and 11.2.6: attributes of communicators, datatypes and windows, with the names of MPI-1
// (15.1).
using namespace llamada::mpi;

namespace {

/// A predefined attribute of communicators, for MPI_Comm_get_attr a pointer to an int that stays where it is.
int* predefined_attribute(int keyval) {
  Runtime& state = runtime();
  switch (keyval) {
    case MPI_TAG_UB:
      return &state.attributes.tag_upper_bound;
    case MPI_HOST:
      return &state.attributes.no_host;
    case MPI_IO:
      return &state.attributes.io_rank;
    case MPI_WTIME_IS_GLOBAL:
      return &state.attributes.wtime_is_global;
    case MPI_UNIVERSE_SIZE:
      return &state.attributes.universe_size;
    case MPI_LASTUSEDCODE:
      return &state.added_errors.last_used;
    case MPI_APPNUM:
      return &state.attributes.application_number;
    case MPIX_FT:
      return &state.attributes.survivors_go_on;
    default:
      return nullptr;
  }
}

bool is_predefined(int keyval) {
  return predefined_attribute(keyval) || (keyval & ~0xf) == (MPI_WIN_BASE & ~0xf);
}

template <typename Kind>
int bad_keyval(typename Kind::Object object, int keyval) {
  const auto refuse = [&](std::string text) {
    return Kind::refuse(Kind::reports_wrong_keys ? object : nullptr, MPI_ERR_KEYVAL, std::move(text));
  };
  if (is_predefined(keyval)) return refuse("a predefined attribute cannot be changed");
  if (keyval == MPI_KEYVAL_INVALID) return refuse("the key is MPI_KEYVAL_INVALID");
  return refuse(
      fmt::format("{:#x} is no attribute key, or one that was freed", static_cast<unsigned>(keyval)));
}

template <typename Kind>
int create_keyval(MPI_Comm_copy_attr_function* copy, MPI_Comm_delete_attr_function* destroy, int* keyval,
                  void* extra_state) {
  if (int code = check_pointer(nullptr, keyval, "key")) return code;
  *keyval = runtime().keyvals.insert(make_counted<Keyval>(Kind::owner, copy, destroy, extra_state));
  return MPI_SUCCESS;
}

/// The key of a handle, if it is one for such objects and has not gone.
template <typename Kind>
Reference<Keyval> find_keyval(int keyval) {
  Keyval* found = runtime().keyvals.find(keyval);
  return Reference<Keyval>(found && found->owner() == Kind::owner && found->is_alive() ? found : nullptr);
}

/// Attributes that were set with the key live on, and so does its number until the last of them is gone.
template <typename Kind>
int free_keyval(int* keyval) {
  if (int code = check_pointer(nullptr, keyval, "key")) return code;
  const Reference<Keyval> key = find_keyval<Kind>(*keyval);
  if (!key) return bad_keyval<Kind>(nullptr, *keyval);
  key->free();
  if (!key->is_alive()) runtime().keyvals.erase(*keyval);
  *keyval = MPI_KEYVAL_INVALID;
  return MPI_SUCCESS;
}

template <typename Kind>
int failed_callback(typename Kind::Object object, int code) {
  if (code == MPI_SUCCESS) return MPI_SUCCESS;
  return Kind::refuse(object, MPI_ERR_OTHER, fmt::format("an attribute's callback returned {}", code));
}

template <typename Kind>
int set_attribute(typename Kind::Handle handle, int keyval, AttributeValue value) {
  typename Kind::Object object = nullptr;
  if (int code = Kind::find(handle, object)) return code;
  const Reference<Keyval> key = find_keyval<Kind>(keyval);
  if (!key) return bad_keyval<Kind>(object, keyval);
  return failed_callback<Kind>(object, Kind::attributes_of(object).set(handle, keyval, key, value));
}

template <typename Kind>
int get_attribute(typename Kind::Handle handle, int keyval, void* value, int* flag) {
  typename Kind::Object object = nullptr;
  if (int code = Kind::find(handle, object)) return code;
  if (int code = kinds::check_pointer<Kind>(object, value, "value")) return code;
  if (int code = kinds::check_pointer<Kind>(object, flag, "flag")) return code;
  auto& result = *static_cast<void**>(value);
  if (const auto predefined = Kind::predefined(object, keyval)) {
    *flag = predefined->is_set;
    result = predefined->value;
    return MPI_SUCCESS;
  }
  if (!find_keyval<Kind>(keyval)) return bad_keyval<Kind>(object, keyval);
  AttributeValue* found = Kind::attributes_of(object).find(keyval);
  *flag = found != nullptr;
  if (found) result = found->in_c();
  return MPI_SUCCESS;
}

template <typename Kind>
int delete_attribute(typename Kind::Handle handle, int keyval) {
  typename Kind::Object object = nullptr;
  if (int code = Kind::find(handle, object)) return code;
  if (!find_keyval<Kind>(keyval)) return bad_keyval<Kind>(object, keyval);
  return failed_callback<Kind>(object, Kind::attributes_of(object).remove(handle, keyval));
}

/// As set_attribute() and get_attribute(), for Fortran.
template <typename Kind>
int set_integer(typename Kind::Handle handle, int keyval, MPI_Aint value, llamada_fortran_width width) {
  return set_attribute<Kind>(handle, keyval,
                             width == LLAMADA_FORTRAN_INTEGER
                                 ? AttributeValue::of_integer(static_cast<int>(value))
                                 : AttributeValue::of_address(value));
}

template <typename Kind>
int get_integer(typename Kind::Handle handle, int keyval, MPI_Aint* value, int* flag) {
  typename Kind::Object object = nullptr;
  if (int code = Kind::find(handle, object)) return code;
  if (!find_keyval<Kind>(keyval)) return bad_keyval<Kind>(object, keyval);
  const AttributeValue* found = Kind::attributes_of(object).find(keyval);
  *flag = found != nullptr;
  if (found) *value = found->in_fortran();
  return MPI_SUCCESS;
}

}  // namespace

std::optional<kinds::Predefined> kinds::Communicators::predefined(Object, int keyval) {
  int* value = predefined_attribute(keyval);
  if (!value) return std::nullopt;
  return Predefined{keyval != MPI_UNIVERSE_SIZE || runtime().attributes.universe_size > 0, value};
}

int MPIR_Dup_fn(MPI_Comm, int, void*, void* value, void* new_value, int* flag) {
  *static_cast<void**>(new_value) = value;
  *flag = 1;
  return MPI_SUCCESS;
}

LLAMADA_MPI_FUNCTION(Comm_create_keyval)
int PMPI_Comm_create_keyval(MPI_Comm_copy_attr_function* copy, MPI_Comm_delete_attr_function* destroy,
                            int* keyval, void* extra_state) {
  LLAMADA_MPI_ENTER(Comm_create_keyval);
  return create_keyval<kinds::Communicators>(copy, destroy, keyval, extra_state);
}

LLAMADA_MPI_FUNCTION(Comm_free_keyval)
int PMPI_Comm_free_keyval(int* keyval) {
  LLAMADA_MPI_ENTER(Comm_free_keyval);
  return free_keyval<kinds::Communicators>(keyval);
}

LLAMADA_MPI_FUNCTION(Comm_set_attr)
int PMPI_Comm_set_attr(MPI_Comm comm, int keyval, void* value) {
  LLAMADA_MPI_ENTER(Comm_set_attr);
  return set_attribute<kinds::Communicators>(comm, keyval, AttributeValue::of_pointer(value));
}

LLAMADA_MPI_FUNCTION(Comm_get_attr)
int PMPI_Comm_get_attr(MPI_Comm comm, int keyval, void* value, int* flag) {
  LLAMADA_MPI_ENTER(Comm_get_attr);
  return get_attribute<kinds::Communicators>(comm, keyval, value, flag);
}

LLAMADA_MPI_FUNCTION(Comm_delete_attr)
int PMPI_Comm_delete_attr(MPI_Comm comm, int keyval) {
  LLAMADA_MPI_ENTER(Comm_delete_attr);
  return delete_attribute<kinds::Communicators>(comm, keyval);
}

LLAMADA_MPI_FUNCTION(Keyval_create)
int PMPI_Keyval_create(MPI_Copy_function* copy, MPI_Delete_function* destroy, int* keyval,
                       void* extra_state) {
  LLAMADA_MPI_ENTER(Keyval_create);
  return create_keyval<kinds::Communicators>(copy, destroy, keyval, extra_state);
}

LLAMADA_MPI_FUNCTION(Keyval_free)
int PMPI_Keyval_free(int* keyval) {
  LLAMADA_MPI_ENTER(Keyval_free);
  return free_keyval<kinds::Communicators>(keyval);
}

LLAMADA_MPI_FUNCTION(Attr_put)
int PMPI_Attr_put(MPI_Comm comm, int keyval, void* value) {
  LLAMADA_MPI_ENTER(Attr_put);
  return set_attribute<kinds::Communicators>(comm, keyval, AttributeValue::of_pointer(value));
}

LLAMADA_MPI_FUNCTION(Attr_get)
int PMPI_Attr_get(MPI_Comm comm, int keyval, void* value, int* flag) {
  LLAMADA_MPI_ENTER(Attr_get);
  return get_attribute<kinds::Communicators>(comm, keyval, value, flag);
}

LLAMADA_MPI_FUNCTION(Attr_delete)
int PMPI_Attr_delete(MPI_Comm comm, int keyval) {
  LLAMADA_MPI_ENTER(Attr_delete);
  return delete_attribute<kinds::Communicators>(comm, keyval);
}

LLAMADA_MPI_FUNCTION(Type_create_keyval)
int PMPI_Type_create_keyval(MPI_Type_copy_attr_function* copy, MPI_Type_delete_attr_function* destroy,
                            int* keyval, void* extra_state) {
  LLAMADA_MPI_ENTER(Type_create_keyval);
  return create_keyval<kinds::Datatypes>(copy, destroy, keyval, extra_state);
}

LLAMADA_MPI_FUNCTION(Type_free_keyval)
int PMPI_Type_free_keyval(int* keyval) {
  LLAMADA_MPI_ENTER(Type_free_keyval);
  return free_keyval<kinds::Datatypes>(keyval);
}

LLAMADA_MPI_FUNCTION(Type_set_attr)
int PMPI_Type_set_attr(MPI_Datatype datatype, int keyval, void* value) {
  LLAMADA_MPI_ENTER(Type_set_attr);
  return set_attribute<kinds::Datatypes>(datatype, keyval, AttributeValue::of_pointer(value));
}

LLAMADA_MPI_FUNCTION(Type_get_attr)
int PMPI_Type_get_attr(MPI_Datatype datatype, int keyval, void* value, int* flag) {
  LLAMADA_MPI_ENTER(Type_get_attr);
  return get_attribute<kinds::Datatypes>(datatype, keyval, value, flag);
}

LLAMADA_MPI_FUNCTION(Type_delete_attr)
int PMPI_Type_delete_attr(MPI_Datatype datatype, int keyval) {
  LLAMADA_MPI_ENTER(Type_delete_attr);
  return delete_attribute<kinds::Datatypes>(datatype, keyval);
}

LLAMADA_MPI_FUNCTION(Win_create_keyval)
int PMPI_Win_create_keyval(MPI_Win_copy_attr_function* copy, MPI_Win_delete_attr_function* destroy,
                           int* keyval, void* extra_state) {
  LLAMADA_MPI_ENTER(Win_create_keyval);
  return create_keyval<kinds::Windows>(copy, destroy, keyval, extra_state);
}

LLAMADA_MPI_FUNCTION(Win_free_keyval)
int PMPI_Win_free_keyval(int* keyval) {
  LLAMADA_MPI_ENTER(Win_free_keyval);
  return free_keyval<kinds::Windows>(keyval);
}

LLAMADA_MPI_FUNCTION(Win_set_attr)
int PMPI_Win_set_attr(MPI_Win win, int keyval, void* value) {
  LLAMADA_MPI_ENTER(Win_set_attr);
  return set_attribute<kinds::Windows>(win, keyval, AttributeValue::of_pointer(value));
}

LLAMADA_MPI_FUNCTION(Win_get_attr)
int PMPI_Win_get_attr(MPI_Win win, int keyval, void* value, int* flag) {
  LLAMADA_MPI_ENTER(Win_get_attr);
  return get_attribute<kinds::Windows>(win, keyval, value, flag);
}

LLAMADA_MPI_FUNCTION(Win_delete_attr)
int PMPI_Win_delete_attr(MPI_Win win, int keyval) {
  LLAMADA_MPI_ENTER(Win_delete_attr);
  return delete_attribute<kinds::Windows>(win, keyval);
}

// What libmpifort calls (17.2.7).

void llamada_keyval_of_fortran(int keyval) {
  LLAMADA_MPI_ENTER(Comm_create_keyval);
  if (Keyval* key = runtime().keyvals.find(keyval)) key->set_fortran();
}

int llamada_comm_set_attribute(MPI_Comm comm, int keyval, MPI_Aint value, llamada_fortran_width width) {
  LLAMADA_MPI_ENTER(Comm_set_attr);
  return set_integer<kinds::Communicators>(comm, keyval, value, width);
}

int llamada_comm_get_attribute(MPI_Comm comm, int keyval, MPI_Aint* value, int* flag) {
  LLAMADA_MPI_ENTER(Comm_get_attr);
  return get_integer<kinds::Communicators>(comm, keyval, value, flag);
}

int llamada_type_set_attribute(MPI_Datatype datatype, int keyval, MPI_Aint value,
                               llamada_fortran_width width) {
  LLAMADA_MPI_ENTER(Type_set_attr);
  return set_integer<kinds::Datatypes>(datatype, keyval, value, width);
}

int llamada_type_get_attribute(MPI_Datatype datatype, int keyval, MPI_Aint* value, int* flag) {
  LLAMADA_MPI_ENTER(Type_get_attr);
  return get_integer<kinds::Datatypes>(datatype, keyval, value, flag);
}

int llamada_win_set_attribute(MPI_Win win, int keyval, MPI_Aint value, llamada_fortran_width width) {
  LLAMADA_MPI_ENTER(Win_set_attr);
  return set_integer<kinds::Windows>(win, keyval, value, width);
}

int llamada_win_get_attribute(MPI_Win win, int keyval, MPI_Aint* value, int* flag) {
  LLAMADA_MPI_ENTER(Win_get_attr);
  return get_integer<kinds::Windows>(win, keyval, value, flag);
}
