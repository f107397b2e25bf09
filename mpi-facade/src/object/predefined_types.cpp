#include <cstddef>
#include <utility>

#include "llamada/base/rounding.hpp"
#include "object/type_builder.hpp"

namespace llamada::mpi {
namespace {

struct Basic {
  MPI_Datatype handle;
  std::size_t alignment;
  const char* name;
};

#define LLAMADA_BASIC(name, alignment) \
  { MPI_##name, alignment, "MPI_" #name }
constexpr Basic basics[] = {
    LLAMADA_BASIC(CHAR, 1),
    LLAMADA_BASIC(UNSIGNED_CHAR, 1),
    LLAMADA_BASIC(SHORT, 2),
    LLAMADA_BASIC(UNSIGNED_SHORT, 2),
    LLAMADA_BASIC(INT, 4),
    LLAMADA_BASIC(UNSIGNED, 4),
    LLAMADA_BASIC(LONG, 8),
    LLAMADA_BASIC(UNSIGNED_LONG, 8),
    LLAMADA_BASIC(LONG_LONG_INT, 8),
    LLAMADA_BASIC(FLOAT, 4),
    LLAMADA_BASIC(DOUBLE, 8),
    LLAMADA_BASIC(LONG_DOUBLE, 16),
    LLAMADA_BASIC(BYTE, 1),
    LLAMADA_BASIC(WCHAR, 4),
    LLAMADA_BASIC(PACKED, 1),
    LLAMADA_BASIC(SIGNED_CHAR, 1),
    LLAMADA_BASIC(UNSIGNED_LONG_LONG, 8),
    LLAMADA_BASIC(INT8_T, 1),
    LLAMADA_BASIC(INT16_T, 2),
    LLAMADA_BASIC(INT32_T, 4),
    LLAMADA_BASIC(INT64_T, 8),
    LLAMADA_BASIC(UINT8_T, 1),
    LLAMADA_BASIC(UINT16_T, 2),
    LLAMADA_BASIC(UINT32_T, 4),
    LLAMADA_BASIC(UINT64_T, 8),
    LLAMADA_BASIC(C_BOOL, 1),
    {MPI_C_COMPLEX, 4, "MPI_C_COMPLEX"},  // also MPI_C_FLOAT_COMPLEX
    LLAMADA_BASIC(C_DOUBLE_COMPLEX, 8),
    LLAMADA_BASIC(C_LONG_DOUBLE_COMPLEX, 16),
    LLAMADA_BASIC(AINT, 8),
    LLAMADA_BASIC(OFFSET, 8),
    LLAMADA_BASIC(COUNT, 8),
    {MPIX_C_FLOAT16, 2, "MPIX_C_FLOAT16"},
    LLAMADA_BASIC(CXX_BOOL, 1),
    LLAMADA_BASIC(CXX_FLOAT_COMPLEX, 4),
    LLAMADA_BASIC(CXX_DOUBLE_COMPLEX, 8),
    LLAMADA_BASIC(CXX_LONG_DOUBLE_COMPLEX, 16),
    LLAMADA_BASIC(CHARACTER, 1),
    LLAMADA_BASIC(INTEGER, 4),
    LLAMADA_BASIC(REAL, 4),
    LLAMADA_BASIC(LOGICAL, 4),
    LLAMADA_BASIC(COMPLEX, 4),
    LLAMADA_BASIC(DOUBLE_PRECISION, 8),
    LLAMADA_BASIC(DOUBLE_COMPLEX, 8),
    LLAMADA_BASIC(REAL4, 4),
    LLAMADA_BASIC(COMPLEX8, 4),
    LLAMADA_BASIC(REAL8, 8),
    LLAMADA_BASIC(COMPLEX16, 8),
    LLAMADA_BASIC(REAL16, 16),
    LLAMADA_BASIC(COMPLEX32, 16),
    LLAMADA_BASIC(INTEGER1, 1),
    LLAMADA_BASIC(INTEGER2, 2),
    LLAMADA_BASIC(INTEGER4, 4),
    LLAMADA_BASIC(INTEGER8, 8),
};
#undef LLAMADA_BASIC

/// A pair of a value and an index, as the C struct of both has it (MPI 3.1, 5.9.4).
struct Pair {
  MPI_Datatype handle;
  MPI_Datatype value;
  MPI_Datatype index;
  const char* name;
};

/// In the order of their handles' indices.
constexpr Pair direct_pairs[] = {
    {MPI_FLOAT_INT, MPI_FLOAT, MPI_INT, "MPI_FLOAT_INT"},
    {MPI_DOUBLE_INT, MPI_DOUBLE, MPI_INT, "MPI_DOUBLE_INT"},
    {MPI_LONG_INT, MPI_LONG, MPI_INT, "MPI_LONG_INT"},
    {MPI_SHORT_INT, MPI_SHORT, MPI_INT, "MPI_SHORT_INT"},
    {MPI_LONG_DOUBLE_INT, MPI_LONG_DOUBLE, MPI_INT, "MPI_LONG_DOUBLE_INT"},
};
constexpr Pair builtin_pairs[] = {
    {MPI_2INT, MPI_INT, MPI_INT, "MPI_2INT"},
    {MPI_2INTEGER, MPI_INTEGER, MPI_INTEGER, "MPI_2INTEGER"},
    {MPI_2REAL, MPI_REAL, MPI_REAL, "MPI_2REAL"},
    {MPI_2DOUBLE_PRECISION, MPI_DOUBLE_PRECISION, MPI_DOUBLE_PRECISION, "MPI_2DOUBLE_PRECISION"},
};

using Table = HandleTable<Datatype, ObjectKind::datatype>;

Reference<Datatype> predefined(Datatype::Layout layout, MPI_Datatype handle, const char* name) {
  auto type = make_counted<Datatype>(std::move(layout), std::make_unique<const TypeRecipe>());
  type->set_handle(handle);
  type->set_predefined();
  type->set_name(name);
  return type;
}

Datatype::Layout basic_layout(MPI_Datatype handle, std::size_t alignment) {
  const auto size = static_cast<std::size_t>(handle >> 8 & 0xff);
  Datatype::Layout layout;
  layout.size = size;
  layout.upper_bound = layout.true_upper_bound = static_cast<std::ptrdiff_t>(size);
  layout.alignment = alignment;
  layout.runs = {{0, size}};
  layout.signature = std::make_shared<const Signature>(Signature{{{nullptr, size, 1, handle}}, size, 1});
  return layout;
}

Datatype::Layout marker_layout(bool lower) {
  Datatype::Layout layout;
  layout.has_lower_marker = lower;
  layout.has_upper_marker = !lower;
  layout.signature = std::make_shared<const Signature>();
  return layout;
}

Reference<Datatype> make_pair(const Table& table, const Pair& pair) {
  const Datatype& value = *table.find(pair.value);
  const Datatype& index = *table.find(pair.index);
  const auto alignment = static_cast<std::ptrdiff_t>(index.layout().alignment);
  LayoutBuilder builder;
  builder.place(value, 0, 1);
  builder.place(index, rounded_up(value.extent(), alignment), 1);
  builder.pad_to_alignment();
  return predefined(builder.finish(), pair.handle, pair.name);
}

}  // namespace

void add_predefined_types(Table& table) {
  for (const Basic& basic : basics) {
    table.set_builtin(basic.handle,
                      predefined(basic_layout(basic.handle, basic.alignment), basic.handle, basic.name));
  }
  table.set_builtin(MPI_LB, predefined(marker_layout(true), MPI_LB, "MPI_LB"));
  table.set_builtin(MPI_UB, predefined(marker_layout(false), MPI_UB, "MPI_UB"));
  for (const Pair& pair : builtin_pairs) table.set_builtin(pair.handle, make_pair(table, pair));
  for (const Pair& pair : direct_pairs) table.insert(make_pair(table, pair));
}

}  // namespace llamada::mpi
