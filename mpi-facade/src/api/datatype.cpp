#include <cstring>

#include "runtime/arguments.hpp"
#include "runtime/strings.hpp"

// MPI 3.1, 4.1: datatypes as they are; their constructors are in type_constructors.cpp.
using namespace llamada::mpi;

namespace {

template <typename Count>
int give_size(MPI_Datatype datatype, Count* size) {
  Datatype* type = nullptr;
  if (int code = find_datatype(nullptr, datatype, type)) return code;
  if (int code = check_pointer(nullptr, size, "size")) return code;
  *size = if_it_fits<Count>(static_cast<MPI_Count>(type->size()));
  return MPI_SUCCESS;
}

}  // namespace

LLAMADA_MPI_FUNCTION(Type_commit)
int PMPI_Type_commit(MPI_Datatype* datatype) {
  LLAMADA_MPI_ENTER(Type_commit);
  if (int code = check_pointer(nullptr, datatype, "datatype")) return code;
  Datatype* type = nullptr;
  if (int code = find_datatype(nullptr, *datatype, type)) return code;
  type->commit();
  return MPI_SUCCESS;
}

LLAMADA_MPI_FUNCTION(Type_free)
int PMPI_Type_free(MPI_Datatype* datatype) {
  LLAMADA_MPI_ENTER(Type_free);
  if (int code = check_pointer(nullptr, datatype, "datatype")) return code;
  Datatype* type = nullptr;
  if (int code = find_datatype(nullptr, *datatype, type)) return code;
  if (type->is_predefined()) return report(nullptr, MPI_ERR_TYPE, "a predefined datatype cannot be freed");
  if (int code = type->attributes().remove_all(*datatype)) return call_error_handler(nullptr, code);
  runtime().datatypes.erase(*datatype);
  *datatype = MPI_DATATYPE_NULL;
  return MPI_SUCCESS;
}

LLAMADA_MPI_FUNCTION(Type_size)
int PMPI_Type_size(MPI_Datatype datatype, int* size) {
  LLAMADA_MPI_ENTER(Type_size);
  return give_size(datatype, size);
}

LLAMADA_MPI_FUNCTION(Type_size_x)
int PMPI_Type_size_x(MPI_Datatype datatype, MPI_Count* size) {
  LLAMADA_MPI_ENTER(Type_size_x);
  return give_size(datatype, size);
}

LLAMADA_MPI_FUNCTION(Type_size_c)
int PMPI_Type_size_c(MPI_Datatype datatype, MPI_Count* size) {
  LLAMADA_MPI_ENTER(Type_size_c);
  return give_size(datatype, size);
}

namespace {

template <typename Integer>
int give_bounds(MPI_Datatype datatype, Integer* lower_bound, Integer* extent, bool true_bounds) {
  Datatype* type = nullptr;
  if (int code = find_datatype(nullptr, datatype, type)) return code;
  if (int code = check_pointer(nullptr, lower_bound, "lower bound")) return code;
  if (int code = check_pointer(nullptr, extent, "extent")) return code;
  *lower_bound = true_bounds ? type->true_lower_bound() : type->lower_bound();
  *extent = true_bounds ? type->true_extent() : type->extent();
  return MPI_SUCCESS;
}

}  // namespace

LLAMADA_MPI_FUNCTION(Type_get_extent)
int PMPI_Type_get_extent(MPI_Datatype datatype, MPI_Aint* lower_bound, MPI_Aint* extent) {
  LLAMADA_MPI_ENTER(Type_get_extent);
  return give_bounds(datatype, lower_bound, extent, false);
}

LLAMADA_MPI_FUNCTION(Type_get_extent_x)
int PMPI_Type_get_extent_x(MPI_Datatype datatype, MPI_Count* lower_bound, MPI_Count* extent) {
  LLAMADA_MPI_ENTER(Type_get_extent_x);
  return give_bounds(datatype, lower_bound, extent, false);
}

LLAMADA_MPI_FUNCTION(Type_get_extent_c)
int PMPI_Type_get_extent_c(MPI_Datatype datatype, MPI_Count* lower_bound, MPI_Count* extent) {
  LLAMADA_MPI_ENTER(Type_get_extent_c);
  return give_bounds(datatype, lower_bound, extent, false);
}

LLAMADA_MPI_FUNCTION(Type_get_true_extent_c)
int PMPI_Type_get_true_extent_c(MPI_Datatype datatype, MPI_Count* true_lower_bound, MPI_Count* true_extent) {
  LLAMADA_MPI_ENTER(Type_get_true_extent_c);
  return give_bounds(datatype, true_lower_bound, true_extent, true);
}

LLAMADA_MPI_FUNCTION(Type_get_true_extent)
int PMPI_Type_get_true_extent(MPI_Datatype datatype, MPI_Aint* true_lower_bound, MPI_Aint* true_extent) {
  LLAMADA_MPI_ENTER(Type_get_true_extent);
  return give_bounds(datatype, true_lower_bound, true_extent, true);
}

LLAMADA_MPI_FUNCTION(Type_get_true_extent_x)
int PMPI_Type_get_true_extent_x(MPI_Datatype datatype, MPI_Count* true_lower_bound, MPI_Count* true_extent) {
  LLAMADA_MPI_ENTER(Type_get_true_extent_x);
  return give_bounds(datatype, true_lower_bound, true_extent, true);
}

namespace {

int give_bound(MPI_Datatype datatype, MPI_Aint* result, std::ptrdiff_t (Datatype::*bound)() const) {
  Datatype* type = nullptr;
  if (int code = find_datatype(nullptr, datatype, type)) return code;
  if (int code = check_pointer(nullptr, result, "result")) return code;
  *result = (type->*bound)();
  return MPI_SUCCESS;
}

}  // namespace

LLAMADA_MPI_FUNCTION(Type_extent)
int PMPI_Type_extent(MPI_Datatype datatype, MPI_Aint* extent) {
  LLAMADA_MPI_ENTER(Type_extent);
  return give_bound(datatype, extent, &Datatype::extent);
}

LLAMADA_MPI_FUNCTION(Type_lb)
int PMPI_Type_lb(MPI_Datatype datatype, MPI_Aint* lower_bound) {
  LLAMADA_MPI_ENTER(Type_lb);
  return give_bound(datatype, lower_bound, &Datatype::lower_bound);
}

LLAMADA_MPI_FUNCTION(Type_ub)
int PMPI_Type_ub(MPI_Datatype datatype, MPI_Aint* upper_bound) {
  LLAMADA_MPI_ENTER(Type_ub);
  return give_bound(datatype, upper_bound, &Datatype::upper_bound);
}

LLAMADA_MPI_FUNCTION(Type_set_name)
int PMPI_Type_set_name(MPI_Datatype datatype, const char* name) {
  LLAMADA_MPI_ENTER(Type_set_name);
  Datatype* type = nullptr;
  if (int code = find_datatype(nullptr, datatype, type)) return code;
  if (int code = check_pointer(nullptr, name, "name")) return code;
  type->set_name(object_name(name));
  return MPI_SUCCESS;
}

LLAMADA_MPI_FUNCTION(Type_get_name)
int PMPI_Type_get_name(MPI_Datatype datatype, char* name, int* name_length) {
  LLAMADA_MPI_ENTER(Type_get_name);
  Datatype* type = nullptr;
  if (int code = find_datatype(nullptr, datatype, type)) return code;
  if (int code = check_pointer(nullptr, name, "name")) return code;
  if (int code = check_pointer(nullptr, name_length, "length")) return code;
  give_string(type->name(), name, name_length);
  return MPI_SUCCESS;
}

LLAMADA_MPI_FUNCTION(Get_address)
int PMPI_Get_address(const void* location, MPI_Aint* address) {
  LLAMADA_MPI_ENTER(Get_address);
  if (int code = check_pointer(nullptr, address, "address")) return code;
  *address = reinterpret_cast<MPI_Aint>(location);
  return MPI_SUCCESS;
}

LLAMADA_MPI_FUNCTION(Address)
int PMPI_Address(void* location, MPI_Aint* address) {
  LLAMADA_MPI_ENTER(Address);
  if (int code = check_pointer(nullptr, address, "address")) return code;
  *address = reinterpret_cast<MPI_Aint>(location);
  return MPI_SUCCESS;
}

LLAMADA_MPI_FUNCTION(Aint_add)
MPI_Aint PMPI_Aint_add(MPI_Aint base, MPI_Aint displacement) { return base + displacement; }

LLAMADA_MPI_FUNCTION(Aint_diff)
MPI_Aint PMPI_Aint_diff(MPI_Aint address, MPI_Aint base) { return address - base; }

LLAMADA_MPI_FUNCTION(Type_match_size)
int PMPI_Type_match_size(int type_class, int size, MPI_Datatype* datatype) {
  LLAMADA_MPI_ENTER(Type_match_size);
  if (int code = check_pointer(nullptr, datatype, "datatype")) return code;
  struct Entry {
    int type_class, size;
    MPI_Datatype type;
  };
  static constexpr Entry entries[] = {
      {MPI_TYPECLASS_REAL, 4, MPI_REAL4},         {MPI_TYPECLASS_REAL, 8, MPI_REAL8},
      {MPI_TYPECLASS_REAL, 16, MPI_REAL16},       {MPI_TYPECLASS_INTEGER, 1, MPI_INTEGER1},
      {MPI_TYPECLASS_INTEGER, 2, MPI_INTEGER2},   {MPI_TYPECLASS_INTEGER, 4, MPI_INTEGER4},
      {MPI_TYPECLASS_INTEGER, 8, MPI_INTEGER8},   {MPI_TYPECLASS_COMPLEX, 8, MPI_COMPLEX8},
      {MPI_TYPECLASS_COMPLEX, 16, MPI_COMPLEX16}, {MPI_TYPECLASS_COMPLEX, 32, MPI_COMPLEX32},
  };
  for (const Entry& entry : entries) {
    if (entry.type_class != type_class || entry.size != size) continue;
    *datatype = entry.type;
    return MPI_SUCCESS;
  }
  return report(nullptr, MPI_ERR_ARG, fmt::format("class {} has no type of {} bytes", type_class, size));
}
