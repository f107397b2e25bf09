#include <algorithm>

#include "runtime/arguments.hpp"

// How a datatype was made (MPI 3.1, 4.1.13; with large counts: MPI 4.0, 5.1.13).
using namespace llamada::mpi;

namespace {

/// What a function without large counts says of a type that was made with them.
int check_counts(const TypeRecipe& recipe) {
  if (!recipe.is_large) return MPI_SUCCESS;
  return report(
      nullptr, MPI_ERR_TYPE,
      "the datatype was made with large counts: MPI_Type_get_envelope_c and MPI_Type_get_contents_c "
      "know how");
}

int check_room(MPI_Count room, std::size_t needed) {
  if (room >= static_cast<MPI_Count>(needed)) return MPI_SUCCESS;
  return report(nullptr, MPI_ERR_ARG, "an array is too short for the contents of the datatype");
}

struct Room {
  MPI_Count integers, addresses, counts, datatypes;
};

/// The lists that have something in them may not be null; the datatypes get handles that are to be freed.
int give_contents(const TypeRecipe& recipe, const Room& room, int* integers, MPI_Aint* addresses,
                  MPI_Count* counts, MPI_Datatype* datatypes) {
  if (recipe.combiner == MPI_COMBINER_NAMED)
    return report(nullptr, MPI_ERR_TYPE, "a predefined datatype has no contents");
  if (int code = check_room(room.integers, recipe.integers().size())) return code;
  if (int code = check_room(room.addresses, recipe.addresses().size())) return code;
  if (int code = check_room(room.counts, recipe.counts().size())) return code;
  if (int code = check_room(room.datatypes, recipe.types.size())) return code;
  std::ranges::copy(recipe.integers(), integers);
  std::ranges::copy(recipe.addresses(), addresses);
  std::ranges::copy(recipe.counts(), counts);
  for (const Reference<Datatype>& inner : recipe.types)
    *datatypes++ = inner->is_predefined() ? inner->handle() : runtime().datatypes.insert(inner);
  return MPI_SUCCESS;
}

}  // namespace

LLAMADA_MPI_FUNCTION(Type_get_envelope)
int PMPI_Type_get_envelope(MPI_Datatype datatype, int* integer_count, int* address_count, int* datatype_count,
                           int* combiner) {
  LLAMADA_MPI_ENTER(Type_get_envelope);
  Datatype* type = nullptr;
  if (int code = find_datatype(nullptr, datatype, type)) return code;
  for (const int* result : {integer_count, address_count, datatype_count, combiner}) {
    if (int code = check_pointer(nullptr, result, "result")) return code;
  }
  const TypeRecipe& recipe = type->recipe();
  if (int code = check_counts(recipe)) return code;
  *integer_count = static_cast<int>(recipe.integers().size());
  *address_count = static_cast<int>(recipe.addresses().size());
  *datatype_count = static_cast<int>(recipe.types.size());
  *combiner = recipe.combiner;
  return MPI_SUCCESS;
}

LLAMADA_MPI_FUNCTION(Type_get_envelope_c)
int PMPI_Type_get_envelope_c(MPI_Datatype datatype, MPI_Count* integer_count, MPI_Count* address_count,
                             MPI_Count* large_count_count, MPI_Count* datatype_count, int* combiner) {
  LLAMADA_MPI_ENTER(Type_get_envelope_c);
  Datatype* type = nullptr;
  if (int code = find_datatype(nullptr, datatype, type)) return code;
  for (const MPI_Count* result : {integer_count, address_count, large_count_count, datatype_count}) {
    if (int code = check_pointer(nullptr, result, "result")) return code;
  }
  if (int code = check_pointer(nullptr, combiner, "combiner")) return code;
  const TypeRecipe& recipe = type->recipe();
  *integer_count = static_cast<MPI_Count>(recipe.integers().size());
  *address_count = static_cast<MPI_Count>(recipe.addresses().size());
  *large_count_count = static_cast<MPI_Count>(recipe.counts().size());
  *datatype_count = static_cast<MPI_Count>(recipe.types.size());
  *combiner = recipe.combiner;
  return MPI_SUCCESS;
}

LLAMADA_MPI_FUNCTION(Type_get_contents)
int PMPI_Type_get_contents(MPI_Datatype datatype, int integer_count_max, int address_count_max,
                           int datatype_count_max, int integers[], MPI_Aint addresses[],
                           MPI_Datatype datatypes[]) {
  LLAMADA_MPI_ENTER(Type_get_contents);
  Datatype* type = nullptr;
  if (int code = find_datatype(nullptr, datatype, type)) return code;
  if (int code = check_counts(type->recipe())) return code;
  return give_contents(type->recipe(), {integer_count_max, address_count_max, 0, datatype_count_max},
                       integers, addresses, nullptr, datatypes);
}

LLAMADA_MPI_FUNCTION(Type_get_contents_c)
int PMPI_Type_get_contents_c(MPI_Datatype datatype, MPI_Count integer_count_max, MPI_Count address_count_max,
                             MPI_Count large_count_count_max, MPI_Count datatype_count_max, int integers[],
                             MPI_Aint addresses[], MPI_Count large_counts[], MPI_Datatype datatypes[]) {
  LLAMADA_MPI_ENTER(Type_get_contents_c);
  Datatype* type = nullptr;
  if (int code = find_datatype(nullptr, datatype, type)) return code;
  return give_contents(type->recipe(),
                       {integer_count_max, address_count_max, large_count_count_max, datatype_count_max},
                       integers, addresses, large_counts, datatypes);
}
