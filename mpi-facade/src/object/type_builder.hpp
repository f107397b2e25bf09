#pragma once

#include <mpi.h>

#include <memory>
#include <span>

#include "llamada/base/result.hpp"
#include "object/datatype.hpp"
#include "object/handle.hpp"

namespace llamada::mpi {

/// Puts a layout together from blocks of other types. Adjacent bytes become one run, and blocks of equal
/// length at equal distances become one run with a stride, so that a vector of any count takes constant
/// memory.
class LayoutBuilder {
 public:
  /// `count` elements of `inner`, each an extent after the one before, the first `displacement` bytes from
  /// the start.
  void place(const Datatype& inner, std::ptrdiff_t displacement, std::size_t count);
  /// `count` times `block_length` elements of `inner`, each block `stride` bytes after the one before.
  void place_blocks(const Datatype& inner, std::size_t block_length, std::ptrdiff_t stride,
                    std::size_t count);
  /// Pads the upper bound as a C compiler pads a struct (4.1.6's epsilon), unless a marker sets it.
  void pad_to_alignment();
  /// Something was not placed: the type would reach farther than 2^61 bytes, or need more than 2^30 runs.
  bool is_too_large() const { return is_too_large_; }
  Datatype::Layout finish();

 private:
  bool check_reach(const Datatype& inner, std::ptrdiff_t displacement, std::ptrdiff_t last,
                   std::size_t count);
  void add_run(Run run);
  void add_bounds(const Datatype& inner, std::ptrdiff_t displacement, std::ptrdiff_t last);
  void add_signature(const Datatype& inner, std::size_t count);

  Datatype::Layout layout_;
  Signature signature_;
  bool has_bounds_ = false;
  bool has_data_ = false;
  bool is_too_large_ = false;
};

/// How many bytes a displacement counts: an extent of the old type, or one byte in the constructors that
/// begin with h.
std::ptrdiff_t displacement_unit(int combiner, const Datatype& old_type);

/// The constructors of MPI 3.1, 4.1.2, 4.1.3 and 4.1.7. Arguments have been checked: counts are not negative.
/// The recipe is what MPI_Type_get_contents gives back. All give null when the type is too large for
/// LayoutBuilder.
Reference<Datatype> make_contiguous(MPI_Count count, Datatype& old_type);
Reference<Datatype> make_contiguous(MPI_Count count, Datatype& old_type, TypeRecipe recipe);
/// `stride_bytes` between the starts of blocks.
Reference<Datatype> make_vector(MPI_Count count, MPI_Count block_length, std::ptrdiff_t stride_bytes,
                                Datatype& old_type, TypeRecipe recipe);
/// `displacements` in bytes; one block length for all, or one for each.
Reference<Datatype> make_indexed(std::span<const MPI_Count> block_lengths,
                                 std::span<const MPI_Aint> displacements, Datatype& old_type,
                                 TypeRecipe recipe);
/// Adds the types to the recipe.
Reference<Datatype> make_struct(std::span<const MPI_Count> block_lengths,
                                std::span<const MPI_Aint> displacements, std::span<Datatype* const> types,
                                TypeRecipe recipe);
Reference<Datatype> make_resized(Datatype& old_type, MPI_Aint lower_bound, MPI_Aint extent);
Reference<Datatype> make_resized(Datatype& old_type, MPI_Aint lower_bound, MPI_Aint extent,
                                 TypeRecipe recipe);
Reference<Datatype> make_duplicate(Datatype& old_type);
/// `order` is MPI_ORDER_C or MPI_ORDER_FORTRAN.
Reference<Datatype> make_subarray(std::span<const int> sizes, std::span<const int> subsizes,
                                  std::span<const int> starts, int order, Datatype& old_type);

/// The arguments of MPI_Type_create_darray (4.1.4).
struct DistributedArray {
  int size;  ///< of the grid of processes, which is in row-major order
  int rank;
  std::span<const int> sizes;
  std::span<const int> distributions;
  std::span<const int> arguments;
  std::span<const int> process_counts;
  int order;  ///< MPI_ORDER_C or MPI_ORDER_FORTRAN

  /// invalid_argument, with which one does not fit and why.
  Status check() const;
  /// The elements of a dimension that belong to the process at `coordinate`: blocks of so many, from one on.
  struct Blocks {
    int length;
    int first;
    int stride;
  };
  Blocks blocks(std::size_t dimension, int coordinate) const;
};
Reference<Datatype> make_darray(const DistributedArray& array, Datatype& old_type);

/// Makes the types that mpi.h names.
void add_predefined_types(HandleTable<Datatype, ObjectKind::datatype>& table);

}  // namespace llamada::mpi
