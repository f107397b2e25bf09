#include <algorithm>

#include "llamada/base/rounding.hpp"
#include "object/type_builder.hpp"

namespace llamada::mpi {
namespace {

Status check_dimension(const DistributedArray& array, std::size_t dimension) {
  const int size = array.sizes[dimension], processes = array.process_counts[dimension];
  const int argument = array.arguments[dimension];
  if (size < 1 || processes < 1)
    return failure(Errc::invalid_argument, "dimension {}: {} elements for {} processes", dimension, size,
                   processes);
  const bool by_default = argument == MPI_DISTRIBUTE_DFLT_DARG;
  switch (array.distributions[dimension]) {
    case MPI_DISTRIBUTE_NONE:
      if (processes != 1)
        return failure(Errc::invalid_argument, "dimension {} is not distributed, but among {} processes",
                       dimension, processes);
      return {};
    case MPI_DISTRIBUTE_BLOCK:
      if (!by_default && (argument < 1 || static_cast<long long>(argument) * processes < size))
        return failure(Errc::invalid_argument, "dimension {}: {} blocks of {} do not hold {} elements",
                       dimension, processes, argument, size);
      return {};
    case MPI_DISTRIBUTE_CYCLIC:
      if (!by_default && argument < 1)
        return failure(Errc::invalid_argument, "dimension {}: blocks of {} elements", dimension, argument);
      return {};
    default:
      return failure(Errc::invalid_argument, "dimension {}: {} is no distribution", dimension,
                     array.distributions[dimension]);
  }
}

/// Where the process is in the grid, in row-major order whatever the order of the array.
std::vector<int> coordinates_of(const DistributedArray& array) {
  std::vector<int> result(array.sizes.size());
  int rest = array.rank;
  for (std::size_t index = result.size(); index-- > 0;) {
    result[index] = rest % array.process_counts[index];
    rest /= array.process_counts[index];
  }
  return result;
}

TypeRecipe recipe_of(const DistributedArray& array, Datatype& old_type) {
  TypeRecipe recipe{MPI_COMBINER_DARRAY,
                    {array.size, array.rank, static_cast<MPI_Count>(array.sizes.size())},
                    {Reference<Datatype>(&old_type)}};
  for (auto list : {array.sizes, array.distributions, array.arguments, array.process_counts})
    recipe.numbers.insert(recipe.numbers.end(), list.begin(), list.end());
  recipe.numbers.push_back(array.order);
  return recipe;
}

}  // namespace

Status DistributedArray::check() const {
  if (order != MPI_ORDER_C && order != MPI_ORDER_FORTRAN)
    return failure(Errc::invalid_argument, "the order {} is neither MPI_ORDER_C nor MPI_ORDER_FORTRAN",
                   order);
  long long processes = 1;
  for (std::size_t dimension = 0; dimension < sizes.size(); ++dimension) {
    if (auto status = check_dimension(*this, dimension); !status) return status;
    processes = std::min<long long>(processes * process_counts[dimension], 1LL << 31);
  }
  if (processes != size)
    return failure(Errc::invalid_argument, "the grid has {} processes, not {}", processes, size);
  if (rank < 0 || rank >= size)
    return failure(Errc::invalid_argument, "the rank {} is not in a grid of {}", rank, size);
  return {};
}

DistributedArray::Blocks DistributedArray::blocks(std::size_t dimension, int coordinate) const {
  const int elements = sizes[dimension], processes = process_counts[dimension];
  const bool by_default = arguments[dimension] == MPI_DISTRIBUTE_DFLT_DARG;
  int length = elements;
  if (distributions[dimension] == MPI_DISTRIBUTE_BLOCK)
    length = by_default ? divided_up(elements, processes) : arguments[dimension];
  if (distributions[dimension] == MPI_DISTRIBUTE_CYCLIC) length = by_default ? 1 : arguments[dimension];
  return {length, coordinate * length, processes * length};
}

Reference<Datatype> make_darray(const DistributedArray& array, Datatype& old_type) {
  const std::vector<int> coordinates = coordinates_of(array);
  const std::size_t dimension_count = array.sizes.size();
  // From the dimension whose elements are neighbours outwards, as in make_subarray.
  Reference<Datatype> level(&old_type);
  std::ptrdiff_t step = old_type.extent();
  for (std::size_t index = 0; index < dimension_count; ++index) {
    const std::size_t dimension = array.order == MPI_ORDER_C ? dimension_count - 1 - index : index;
    const auto blocks = array.blocks(dimension, coordinates[dimension]);
    const int size = array.sizes[dimension];
    LayoutBuilder row;
    for (long long first = blocks.first; first < size; first += blocks.stride)
      for (long long element = first; element < std::min<long long>(first + blocks.length, size); ++element)
        row.place(*level, step * element, 1);
    if (row.is_too_large() || __builtin_mul_overflow(step, size, &step)) return {};
    level = make_counted<Datatype>(row.finish(), std::make_unique<const TypeRecipe>());
  }
  LayoutBuilder whole;
  whole.place(*level, 0, 1);
  Datatype::Layout layout = whole.finish();
  layout.lower_bound = 0;
  layout.upper_bound = step;
  layout.has_lower_marker = layout.has_upper_marker = true;
  return make_counted<Datatype>(std::move(layout),
                                std::make_unique<const TypeRecipe>(recipe_of(array, old_type)));
}

}  // namespace llamada::mpi
