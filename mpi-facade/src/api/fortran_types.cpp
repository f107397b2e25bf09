#include <map>
#include <span>
#include <tuple>

#include "object/type_builder.hpp"
#include "runtime/arguments.hpp"

// MPI 3.1, 17.1.9: types by the precision and range that Fortran's selected_real_kind and selected_int_kind
// take, for the kinds that gfortran has.
using namespace llamada::mpi;

namespace {

struct RealKind {
  int precision, range;
  MPI_Datatype real, complex;
};
/// gfortran's kinds 4, 8, 10 and 16. Kind 10 is C's long double.
constexpr RealKind real_kinds[] = {{6, 37, MPI_REAL4, MPI_COMPLEX8},
                                   {15, 307, MPI_REAL8, MPI_COMPLEX16},
                                   {18, 4931, MPI_LONG_DOUBLE, MPI_C_LONG_DOUBLE_COMPLEX},
                                   {33, 4931, MPI_REAL16, MPI_COMPLEX32}};

struct IntegerKind {
  int range;
  MPI_Datatype type;
};
constexpr IntegerKind integer_kinds[] = {
    {2, MPI_INTEGER1}, {4, MPI_INTEGER2}, {9, MPI_INTEGER4}, {18, MPI_INTEGER8}};

/// Kind and arguments of a type; the same ones give the same handle.
using Key = std::tuple<int, int, int>;

MPI_Datatype find_or_make(int combiner, std::span<const int> arguments, MPI_Datatype basic) {
  // Predefined types, which nobody can free: kept as long as the process.
  static auto& made = *std::make_unique<std::map<Key, MPI_Datatype>>().release();
  const auto [entry, is_new] = made.try_emplace({combiner, arguments.front(), arguments.back()});
  if (!is_new) return entry->second;
  Datatype& type = *runtime().datatypes.find(basic);
  auto copy = make_counted<Datatype>(
      Datatype::Layout(type.layout()),
      std::make_unique<const TypeRecipe>(TypeRecipe{combiner, {arguments.begin(), arguments.end()}}));
  Datatype& predefined = *copy;
  predefined.set_predefined();
  entry->second = runtime().datatypes.insert(std::move(copy));
  predefined.set_handle(entry->second);
  return entry->second;
}

/// MPI_UNDEFINED asks for nothing.
bool reaches(int has, int wanted) { return wanted == MPI_UNDEFINED || wanted <= has; }

int create_real(int combiner, int precision, int range, MPI_Datatype* new_type) {
  if (int code = check_pointer(nullptr, new_type, "new datatype")) return code;
  if (precision == MPI_UNDEFINED && range == MPI_UNDEFINED)
    return report(nullptr, MPI_ERR_ARG, "neither precision nor range is given");
  for (const RealKind& kind : real_kinds) {
    if (!reaches(kind.precision, precision) || !reaches(kind.range, range)) continue;
    const int arguments[] = {precision, range};
    *new_type =
        find_or_make(combiner, arguments, combiner == MPI_COMBINER_F90_REAL ? kind.real : kind.complex);
    return MPI_SUCCESS;
  }
  return report(
      nullptr, MPI_ERR_ARG,
      fmt::format("no real kind has {} decimal digits and a decimal exponent of {}", precision, range));
}

}  // namespace

LLAMADA_MPI_FUNCTION(Type_create_f90_real)
int PMPI_Type_create_f90_real(int precision, int range, MPI_Datatype* new_type) {
  LLAMADA_MPI_ENTER(Type_create_f90_real);
  return create_real(MPI_COMBINER_F90_REAL, precision, range, new_type);
}

LLAMADA_MPI_FUNCTION(Type_create_f90_complex)
int PMPI_Type_create_f90_complex(int precision, int range, MPI_Datatype* new_type) {
  LLAMADA_MPI_ENTER(Type_create_f90_complex);
  return create_real(MPI_COMBINER_F90_COMPLEX, precision, range, new_type);
}

LLAMADA_MPI_FUNCTION(Type_create_f90_integer)
int PMPI_Type_create_f90_integer(int range, MPI_Datatype* new_type) {
  LLAMADA_MPI_ENTER(Type_create_f90_integer);
  if (int code = check_pointer(nullptr, new_type, "new datatype")) return code;
  for (const IntegerKind& kind : integer_kinds) {
    if (range > kind.range) continue;
    *new_type = find_or_make(MPI_COMBINER_F90_INTEGER, {&range, 1}, kind.type);
    return MPI_SUCCESS;
  }
  return report(nullptr, MPI_ERR_ARG, fmt::format("no integer kind has {} decimal digits", range));
}
