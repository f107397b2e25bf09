#include "llamada/mpi/fortran_attributes.h"
#include "rma/api_common.hpp"
#include "runtime/arguments.hpp"

// MPI 3.1, 6.7, 8.1.2 and 11.2.6: attributes of communicators, datatypes and windows, with the names of MPI-1
// (15.1).
using namespace llamada::mpi;

namespace {

/// The predefined attributes, for MPI_Comm_get_attr a pointer to an int that stays where it is.
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
    default:
      return nullptr;
  }
}

bool is_predefined(int keyval) {
  return predefined_attribute(keyval) || (keyval & ~0xf) == (MPI_WIN_BASE & ~0xf);
}

int bad_keyval(Communicator* communicator, int keyval) {
  if (is_predefined(keyval)) {
    return report(communicator, MPI_ERR_KEYVAL, "a predefined attribute cannot be changed");
  }
  return report(communicator, MPI_ERR_KEYVAL,
                keyval == MPI_KEYVAL_INVALID ? std::string("the key is MPI_KEYVAL_INVALID")
                                             : fmt::format("{:#x} is no attribute key, or one that was freed",
                                                           static_cast<unsigned>(keyval)));
}

using Owner = Keyval::Owner;

int create_keyval(Owner owner, MPI_Comm_copy_attr_function* copy, MPI_Comm_delete_attr_function* destroy,
                  int* keyval, void* extra_state) {
  if (int code = check_pointer(nullptr, keyval, "key")) return code;
  *keyval = runtime().keyvals.insert(make_counted<Keyval>(owner, copy, destroy, extra_state));
  return MPI_SUCCESS;
}

/// The key of a handle, if it is one for such objects and has not gone.
Reference<Keyval> find_keyval(Owner owner, int keyval) {
  Keyval* found = runtime().keyvals.find(keyval);
  return Reference<Keyval>(found && found->owner() == owner && found->is_alive() ? found : nullptr);
}

/// Attributes that were set with the key live on, and so does its number until the last of them is gone.
int free_keyval(Owner owner, int* keyval) {
  if (int code = check_pointer(nullptr, keyval, "key")) return code;
  const Reference<Keyval> key = find_keyval(owner, *keyval);
  if (!key) return bad_keyval(nullptr, *keyval);
  key->free();
  if (!key->is_alive()) runtime().keyvals.erase(*keyval);
  *keyval = MPI_KEYVAL_INVALID;
  return MPI_SUCCESS;
}

int failed_callback(Communicator* communicator, int code) {
  if (code == MPI_SUCCESS) return MPI_SUCCESS;
  return report(communicator, MPI_ERR_OTHER, fmt::format("an attribute's callback returned {}", code));
}

/// A communicator or a datatype as what has attributes. Errors go to the communicator.
struct Holder {
  Owner owner = Owner::communicator;
  int handle = 0;
  Communicator* communicator = nullptr;
  Attributes* attributes = nullptr;
};

int find_holder(MPI_Comm comm, Holder& holder) {
  if (int code = find_communicator(comm, holder.communicator)) return code;
  holder.handle = comm;
  holder.attributes = &holder.communicator->attributes();
  return MPI_SUCCESS;
}

int find_type_holder(MPI_Datatype datatype, Holder& holder) {
  Datatype* type = nullptr;
  if (int code = find_datatype(nullptr, datatype, type)) return code;
  holder = {Owner::datatype, datatype, nullptr, &type->attributes()};
  return MPI_SUCCESS;
}

int set_attribute(const Holder& holder, int keyval, AttributeValue value) {
  const Reference<Keyval> key = find_keyval(holder.owner, keyval);
  if (!key) return bad_keyval(holder.communicator, keyval);
  return failed_callback(holder.communicator, holder.attributes->set(holder.handle, keyval, key, value));
}

int get_attribute(const Holder& holder, int keyval, void* value, int* flag) {
  if (int code = check_pointer(holder.communicator, value, "value")) return code;
  if (int code = check_pointer(holder.communicator, flag, "flag")) return code;
  auto& result = *static_cast<void**>(value);
  if (int* predefined = predefined_attribute(keyval); predefined && holder.owner == Owner::communicator) {
    *flag = keyval != MPI_UNIVERSE_SIZE || runtime().attributes.universe_size > 0;
    result = predefined;
    return MPI_SUCCESS;
  }
  if (!find_keyval(holder.owner, keyval)) return bad_keyval(holder.communicator, keyval);
  AttributeValue* found = holder.attributes->find(keyval);
  *flag = found != nullptr;
  if (found) result = found->in_c();
  return MPI_SUCCESS;
}

/// The same for Fortran.
int get_integer(const Holder& holder, int keyval, MPI_Aint* value, int* flag) {
  if (!find_keyval(holder.owner, keyval)) return bad_keyval(holder.communicator, keyval);
  const AttributeValue* found = holder.attributes->find(keyval);
  *flag = found != nullptr;
  if (found) *value = found->in_fortran();
  return MPI_SUCCESS;
}

AttributeValue of_fortran(MPI_Aint value, llamada_fortran_width width) {
  return width == LLAMADA_FORTRAN_INTEGER ? AttributeValue::of_integer(static_cast<int>(value))
                                          : AttributeValue::of_address(value);
}

int delete_attribute(const Holder& holder, int keyval) {
  if (!find_keyval(holder.owner, keyval)) return bad_keyval(holder.communicator, keyval);
  return failed_callback(holder.communicator, holder.attributes->remove(holder.handle, keyval));
}

int set_attribute(MPI_Comm comm, int keyval, AttributeValue value) {
  Holder holder;
  if (int code = find_holder(comm, holder)) return code;
  return set_attribute(holder, keyval, value);
}

int get_attribute(MPI_Comm comm, int keyval, void* value, int* flag) {
  Holder holder;
  if (int code = find_holder(comm, holder)) return code;
  return get_attribute(holder, keyval, value, flag);
}

int delete_attribute(MPI_Comm comm, int keyval) {
  Holder holder;
  if (int code = find_holder(comm, holder)) return code;
  return delete_attribute(holder, keyval);
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
  return create_keyval(Owner::communicator, copy, destroy, keyval, extra_state);
}

LLAMADA_MPI_FUNCTION(Keyval_create)
int PMPI_Keyval_create(MPI_Copy_function* copy, MPI_Delete_function* destroy, int* keyval,
                       void* extra_state) {
  LLAMADA_MPI_ENTER(Keyval_create);
  return create_keyval(Owner::communicator, copy, destroy, keyval, extra_state);
}

LLAMADA_MPI_FUNCTION(Comm_free_keyval)
int PMPI_Comm_free_keyval(int* keyval) {
  LLAMADA_MPI_ENTER(Comm_free_keyval);
  return free_keyval(Owner::communicator, keyval);
}

LLAMADA_MPI_FUNCTION(Keyval_free)
int PMPI_Keyval_free(int* keyval) {
  LLAMADA_MPI_ENTER(Keyval_free);
  return free_keyval(Owner::communicator, keyval);
}

LLAMADA_MPI_FUNCTION(Comm_set_attr)
int PMPI_Comm_set_attr(MPI_Comm comm, int keyval, void* value) {
  LLAMADA_MPI_ENTER(Comm_set_attr);
  return set_attribute(comm, keyval, AttributeValue::of_pointer(value));
}

LLAMADA_MPI_FUNCTION(Attr_put)
int PMPI_Attr_put(MPI_Comm comm, int keyval, void* value) {
  LLAMADA_MPI_ENTER(Attr_put);
  return set_attribute(comm, keyval, AttributeValue::of_pointer(value));
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

LLAMADA_MPI_FUNCTION(Type_create_keyval)
int PMPI_Type_create_keyval(MPI_Type_copy_attr_function* copy, MPI_Type_delete_attr_function* destroy,
                            int* keyval, void* extra_state) {
  LLAMADA_MPI_ENTER(Type_create_keyval);
  return create_keyval(Owner::datatype, copy, destroy, keyval, extra_state);
}

LLAMADA_MPI_FUNCTION(Type_free_keyval)
int PMPI_Type_free_keyval(int* keyval) {
  LLAMADA_MPI_ENTER(Type_free_keyval);
  return free_keyval(Owner::datatype, keyval);
}

LLAMADA_MPI_FUNCTION(Type_set_attr)
int PMPI_Type_set_attr(MPI_Datatype datatype, int keyval, void* value) {
  LLAMADA_MPI_ENTER(Type_set_attr);
  Holder holder;
  if (int code = find_type_holder(datatype, holder)) return code;
  return set_attribute(holder, keyval, AttributeValue::of_pointer(value));
}

LLAMADA_MPI_FUNCTION(Type_get_attr)
int PMPI_Type_get_attr(MPI_Datatype datatype, int keyval, void* value, int* flag) {
  LLAMADA_MPI_ENTER(Type_get_attr);
  Holder holder;
  if (int code = find_type_holder(datatype, holder)) return code;
  return get_attribute(holder, keyval, value, flag);
}

LLAMADA_MPI_FUNCTION(Type_delete_attr)
int PMPI_Type_delete_attr(MPI_Datatype datatype, int keyval) {
  LLAMADA_MPI_ENTER(Type_delete_attr);
  Holder holder;
  if (int code = find_type_holder(datatype, holder)) return code;
  return delete_attribute(holder, keyval);
}

namespace {

/// The same for windows, whose error handlers hear of their callbacks' errors. A wrong key is none of the
/// window's.
int failed_win_callback(Window& window, int code) {
  if (code == MPI_SUCCESS) return MPI_SUCCESS;
  return report(window, MPI_ERR_OTHER, fmt::format("an attribute's callback returned {}", code));
}

int set_win_attribute(MPI_Win win, int keyval, AttributeValue value) {
  Window* window = nullptr;
  if (int code = rma::find_window(win, window)) return code;
  const Reference<Keyval> key = find_keyval(Owner::window, keyval);
  if (!key) return bad_keyval(nullptr, keyval);
  return failed_win_callback(*window, window->attributes().set(win, keyval, key, value));
}

}  // namespace

LLAMADA_MPI_FUNCTION(Win_create_keyval)
int PMPI_Win_create_keyval(MPI_Win_copy_attr_function* copy, MPI_Win_delete_attr_function* destroy,
                           int* keyval, void* extra_state) {
  LLAMADA_MPI_ENTER(Win_create_keyval);
  return create_keyval(Owner::window, copy, destroy, keyval, extra_state);
}

LLAMADA_MPI_FUNCTION(Win_free_keyval)
int PMPI_Win_free_keyval(int* keyval) {
  LLAMADA_MPI_ENTER(Win_free_keyval);
  return free_keyval(Owner::window, keyval);
}

LLAMADA_MPI_FUNCTION(Win_set_attr)
int PMPI_Win_set_attr(MPI_Win win, int keyval, void* value) {
  LLAMADA_MPI_ENTER(Win_set_attr);
  return set_win_attribute(win, keyval, AttributeValue::of_pointer(value));
}

LLAMADA_MPI_FUNCTION(Win_get_attr)
int PMPI_Win_get_attr(MPI_Win win, int keyval, void* value, int* flag) {
  LLAMADA_MPI_ENTER(Win_get_attr);
  Window* window = nullptr;
  if (int code = rma::find_window(win, window)) return code;
  if (int code = rma::check_pointer(*window, value, "value")) return code;
  if (int code = rma::check_pointer(*window, flag, "flag")) return code;
  auto& result = *static_cast<void**>(value);
  if (const auto predefined = window->predefined_attribute(keyval)) {
    *flag = 1;
    result = *predefined;
    return MPI_SUCCESS;
  }
  if (!find_keyval(Owner::window, keyval)) return bad_keyval(nullptr, keyval);
  AttributeValue* found = window->attributes().find(keyval);
  *flag = found != nullptr;
  if (found) result = found->in_c();
  return MPI_SUCCESS;
}

LLAMADA_MPI_FUNCTION(Win_delete_attr)
int PMPI_Win_delete_attr(MPI_Win win, int keyval) {
  LLAMADA_MPI_ENTER(Win_delete_attr);
  Window* window = nullptr;
  if (int code = rma::find_window(win, window)) return code;
  if (!find_keyval(Owner::window, keyval)) return bad_keyval(nullptr, keyval);
  return failed_win_callback(*window, window->attributes().remove(win, keyval));
}

// What libmpifort calls (17.2.7).

void llamada_keyval_of_fortran(int keyval) {
  LLAMADA_MPI_ENTER(Comm_create_keyval);
  if (Keyval* key = runtime().keyvals.find(keyval)) key->set_fortran();
}

int llamada_comm_set_attribute(MPI_Comm comm, int keyval, MPI_Aint value, llamada_fortran_width width) {
  LLAMADA_MPI_ENTER(Comm_set_attr);
  return set_attribute(comm, keyval, of_fortran(value, width));
}

int llamada_comm_get_attribute(MPI_Comm comm, int keyval, MPI_Aint* value, int* flag) {
  LLAMADA_MPI_ENTER(Comm_get_attr);
  Holder holder;
  if (int code = find_holder(comm, holder)) return code;
  return get_integer(holder, keyval, value, flag);
}

int llamada_type_set_attribute(MPI_Datatype datatype, int keyval, MPI_Aint value,
                               llamada_fortran_width width) {
  LLAMADA_MPI_ENTER(Type_set_attr);
  Holder holder;
  if (int code = find_type_holder(datatype, holder)) return code;
  return set_attribute(holder, keyval, of_fortran(value, width));
}

int llamada_type_get_attribute(MPI_Datatype datatype, int keyval, MPI_Aint* value, int* flag) {
  LLAMADA_MPI_ENTER(Type_get_attr);
  Holder holder;
  if (int code = find_type_holder(datatype, holder)) return code;
  return get_integer(holder, keyval, value, flag);
}

int llamada_win_set_attribute(MPI_Win win, int keyval, MPI_Aint value, llamada_fortran_width width) {
  LLAMADA_MPI_ENTER(Win_set_attr);
  return set_win_attribute(win, keyval, of_fortran(value, width));
}

int llamada_win_get_attribute(MPI_Win win, int keyval, MPI_Aint* value, int* flag) {
  LLAMADA_MPI_ENTER(Win_get_attr);
  Window* window = nullptr;
  if (int code = rma::find_window(win, window)) return code;
  if (!find_keyval(Owner::window, keyval)) return bad_keyval(nullptr, keyval);
  const AttributeValue* found = window->attributes().find(keyval);
  *flag = found != nullptr;
  if (found) *value = found->in_fortran();
  return MPI_SUCCESS;
}
