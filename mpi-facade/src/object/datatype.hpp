#pragma once

#include <mpi.h>

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "object/attribute.hpp"
#include "object/reference.hpp"

namespace llamada::mpi {

/// `count` blocks of `length` bytes, the first at `offset` from the buffer's address, each `stride` bytes
/// after the one before. In the packed stream of one element they begin at `packed`.
struct Run {
  std::ptrdiff_t offset = 0;
  std::size_t length = 0;
  std::size_t count = 1;
  std::ptrdiff_t stride = 0;
  std::size_t packed = 0;

  std::size_t bytes() const { return length * count; }
};

/// The basic elements of a type in their order, as repetitions: for MPI_Get_elements.
struct Signature {
  struct Item {
    std::shared_ptr<const Signature> inner;  ///< Null: one basic element of `bytes` bytes.
    std::size_t bytes = 0;
    std::size_t count = 0;
    MPI_Datatype basic = MPI_DATATYPE_NULL;  ///< Which basic type; of none when there is an inner signature.
  };
  std::vector<Item> items;
  std::size_t bytes = 0;
  std::size_t elements = 0;

  /// How many basic elements are in the first `byte_count` bytes (at most one round of the signature); -1
  /// when these do not end with an element.
  std::ptrdiff_t elements_in(std::size_t byte_count) const;
};

/// What MPI_Type_get_envelope and MPI_Type_get_contents give back: how a type was made.
struct TypeRecipe;

/// inout[i] = in[i] op inout[i] for `count` elements.
using ElementOperation = void (*)(const void* in, void* inout, std::size_t count);
/// What the predefined operations do with elements of one type, by the low bits of their handles; null where
/// they do nothing (MPI 3.1, 5.9.2 and 5.9.4).
struct ElementOperations {
  ElementOperation by_operation[16];
};
/// Of the datatype that mpi.h names so, null if they take none of its elements (operation.cpp).
const ElementOperations* element_operations(MPI_Datatype datatype);

/// A datatype of MPI (MPI 3.1, chapter 4): where the bytes of an element lie, and how they were described.
/// Immutable but for its name, attributes and commit().
///
/// A *packed stream* of `count` elements is their bytes in type-map order without gaps, `count * size()`
/// bytes.
class Datatype : public Counted {
 public:
  struct Layout {
    std::size_t size = 0;  ///< Bytes of data in an element.
    std::ptrdiff_t lower_bound = 0;
    std::ptrdiff_t upper_bound = 0;
    bool has_lower_marker = false;  ///< The bound was set by MPI_LB or a resize, and is inherited.
    bool has_upper_marker = false;
    std::ptrdiff_t true_lower_bound = 0;
    std::ptrdiff_t true_upper_bound = 0;
    std::size_t alignment = 1;
    std::vector<Run> runs;
    std::shared_ptr<const Signature> signature;
  };

  Datatype(Layout layout, std::unique_ptr<const TypeRecipe> recipe);
  ~Datatype() override;

  std::size_t size() const { return layout_.size; }
  std::ptrdiff_t extent() const { return layout_.upper_bound - layout_.lower_bound; }
  std::ptrdiff_t lower_bound() const { return layout_.lower_bound; }
  std::ptrdiff_t upper_bound() const { return layout_.upper_bound; }
  std::ptrdiff_t true_lower_bound() const { return layout_.true_lower_bound; }
  std::ptrdiff_t true_extent() const { return layout_.true_upper_bound - layout_.true_lower_bound; }
  const Layout& layout() const { return layout_; }
  const Signature& signature() const { return *layout_.signature; }

  /// Whether any number of elements is one piece of memory without gaps, which begins at data(base).
  bool is_contiguous() const { return contiguous_; }
  /// Where the first byte of contiguous data lies.
  const std::byte* data(const void* base) const {
    return static_cast<const std::byte*>(base) + layout_.true_lower_bound;
  }
  std::byte* data(void* base) const { return static_cast<std::byte*>(base) + layout_.true_lower_bound; }

  /// The bytes that a buffer of `count` elements reaches over, from `span_begin` bytes behind its address:
  /// for temporary buffers. 0 for no elements.
  std::size_t span_bytes(std::size_t count) const;
  std::ptrdiff_t span_begin(std::size_t count) const;

  /// Copies bytes [first_byte, first_byte + out.size()) of the packed stream of `count` elements at `base` to
  /// `out`. The range must lie within the stream.
  void pack(const void* base, std::size_t count, std::size_t first_byte, std::span<std::byte> out) const;
  /// The other way: `in` is that range, and goes to the elements at `base`.
  void unpack(std::span<const std::byte> in, std::size_t first_byte, void* base, std::size_t count) const;

  /// The program's handle, for user-defined operations; a predefined one, or the first that it was given.
  MPI_Datatype handle() const { return handle_; }
  void set_handle(MPI_Datatype handle) { handle_ = handle; }
  bool is_predefined() const { return predefined_; }
  /// One that mpi.h names must have its handle.
  void set_predefined();
  /// What predefined operations do with its elements: null if nothing, as with all that is not predefined.
  const ElementOperations* operations() const { return operations_; }
  /// A predefined one whose elements lie one behind the other from the buffer's address on.
  bool is_plain() const { return plain_; }
  bool is_committed() const { return committed_; }
  void commit() { committed_ = true; }

  const std::string& name() const { return name_; }
  void set_name(std::string name) { name_ = std::move(name); }
  Attributes& attributes() { return attributes_; }
  const TypeRecipe& recipe() const { return *recipe_; }

 private:
  MPI_Datatype operation_handle() const;

  // First, to lie beside the size.
  bool contiguous_ = false;
  bool plain_ = false;
  bool predefined_ = false;
  bool committed_ = false;
  Layout layout_;
  const ElementOperations* operations_ = nullptr;
  std::unique_ptr<const TypeRecipe> recipe_;
  MPI_Datatype handle_ = MPI_DATATYPE_NULL;
  std::string name_;
  Attributes attributes_;
};

/// How a datatype was made (MPI 3.1, 4.1.13; MPI 4.0, 5.1.13).
struct TypeRecipe {
  int combiner = MPI_COMBINER_NAMED;
  /// What the constructor was given, in the order of its arguments. Addresses are the last ones in each of
  /// them.
  std::vector<MPI_Count> numbers = {};
  std::vector<Reference<Datatype>> types = {};
  std::size_t address_count = 0;
  /// The constructor has large counts: MPI_Type_create_struct_c and its like.
  bool is_large = false;

  /// The three lists that MPI_Type_get_contents_c gives.
  std::span<const MPI_Count> integers() const {
    return std::span(numbers).first(is_large ? 0 : numbers.size() - address_count);
  }
  std::span<const MPI_Count> addresses() const { return std::span(numbers).last(address_count); }
  std::span<const MPI_Count> counts() const {
    return std::span(numbers).first(is_large ? numbers.size() : 0);
  }
};

}  // namespace llamada::mpi
