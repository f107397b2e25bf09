#pragma once

#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "llamada/types/type_support.hpp"

// Types that a program knows at run time only: what TypeSupport::descriptor() of another program says.
namespace llamada::types {

/// A longer descriptor is not taken, and does not travel in discovery.
constexpr std::size_t descriptor_bytes_max = 65536;

struct DynamicType;

struct DynamicMember {
  std::string name;
  std::string declaration;  ///< As the descriptor has it without the name: "@key sequence<Leaf, 5>".
  const DynamicType* type = nullptr;
  bool is_key = false;
  std::uint32_t id = 0;    ///< Of a MUTABLE struct.
  std::size_t offset = 0;  ///< Of a plain struct: where the member lies in memory, in bytes.
};

/// One type of a descriptor.
struct DynamicType {
  enum class Kind : std::uint8_t {
    nothing,  ///< std::monostate, an alternative of a union
    boolean,
    character,
    octet,
    signed_integer,
    unsigned_integer,
    floating,
    enumeration,
    bitmask,
    text,
    sequence,
    array,
    map,
    optional,
    union_,
    structure,
  };

  Kind kind = Kind::nothing;
  std::string name;            ///< As the descriptor has it.
  std::size_t size_bytes = 0;  ///< In memory; 0: not plain.
  std::uint32_t bound = 0;     ///< Of a string, sequence or map; 0: none.
  std::size_t count = 0;       ///< Of an array's elements.
  Extensibility extensibility = Extensibility::final;
  std::vector<Enumerator> enumerators;    ///< Of an enumeration, or the bits of a bitmask.
  std::vector<DynamicMember> members;     ///< Of a struct.
  std::vector<const DynamicType*> parts;  ///< The element; a map's key and element; a union's alternatives.
  bool is_complete = false;               ///< Its declaration has been read.

  bool is_primitive() const { return kind >= Kind::boolean && kind <= Kind::floating; }
  bool is_scalar() const { return kind >= Kind::boolean && kind <= Kind::text; }
  /// Collections of these have no DHEADER.
  bool is_headless() const { return kind == Kind::array ? parts[0]->is_headless() : is_primitive(); }
};

/// The types that a descriptor describes. Immutable: any thread.
class DynamicDescription final : public FieldSource {
 public:
  /// The text may come from anybody: it is bounded, and types contain themselves in sequences and maps only.
  /// Errors: parse_error, with the place.
  static Result<std::shared_ptr<const DynamicDescription>> parse(std::string_view descriptor);

  const std::string& name() const override { return type().name; }
  /// A DynamicValue with the first 65,536 elements of each collection.
  Result<std::shared_ptr<const void>> object_of(std::span<const std::byte> sample) const override;
  Result<Field> field(std::string_view path) const override;

  /// The type of the samples.
  const DynamicType& type() const { return *declared_.back(); }
  /// All structs, enumerations and bitmasks, those first that others need.
  const std::vector<DynamicType*>& declared() const { return declared_; }

 private:
  friend class DescriptorParser;
  std::vector<std::unique_ptr<DynamicType>> owned_;
  std::vector<DynamicType*> declared_;
};

/// A sentence for the first thing in which two descriptions differ, "member 'value' of world::Reading: the
/// writer has 'double', the reader 'float'"; empty if they are equal.
std::string first_difference(const DynamicDescription& writer, const DynamicDescription& reader);

}  // namespace llamada::types
