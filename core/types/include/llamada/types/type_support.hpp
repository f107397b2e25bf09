#pragma once

#include <functional>
#include <memory>
#include <span>

#include "llamada/base/result.hpp"
#include "llamada/types/members.hpp"
#include "llamada/types/value.hpp"

namespace llamada::types {

/// A field that a path such as "pose.x", "samples[2].x" or "samples.length" leads to.
struct Field {
  std::string path;
  FieldKind kind = FieldKind::signed_integer;
  /// The enumerators of an enumeration; empty if nobody named them.
  std::vector<Enumerator> enumerators;
  /// Takes it from what TypeSupport::object_of() gave.
  std::function<Value(const void* object)> get;
};

/// 64 bits of some bytes, the same in every process and release.
std::uint64_t hash64(std::span<const std::byte> bytes);
std::uint64_t hash64(std::string_view text);
/// The hash of a key as TypeSupport::key_hash() gives it: never 0. Each key of up to 8 bytes has a hash that
/// no other key of its length has, except two that share ambiguous_short_key_hash.
std::uint64_t hash_of_key(std::span<const std::byte> key);
inline constexpr std::uint64_t ambiguous_short_key_hash = 1;

/// The fields of a type, for expressions and tools. A `sample` is what travels: of a plain type the bytes of
/// the object as it lies in memory, of any other XCDR2 behind an encapsulation header. Immutable: any thread.
class FieldSource {
 public:
  virtual ~FieldSource() = default;

  /// The C++ name with its namespaces, "world::Reading".
  virtual const std::string& name() const = 0;
  /// The object that a sample holds: in place where the sample is plain and aligned (then it lives as long as
  /// the sample), else of its own. Errors: parse_error.
  virtual Result<std::shared_ptr<const void>> object_of(std::span<const std::byte> sample) const = 0;
  /// Members behind dots; elements of sequences and arrays by their index from 0; `.length` of sequences,
  /// arrays and maps. Errors: not_found, with the fields there are; unsupported (the path leads to a
  /// sequence, array, map, union or struct, or has too many steps).
  virtual Result<Field> field(std::string_view path) const = 0;

  bool has_field(std::string_view path) const { return field(path).has_value(); }
  Result<Value> value_of(std::span<const std::byte> sample, std::string_view path) const;
};

/// The knowledge of a type that the untyped layers need. Immutable: any thread.
class TypeSupport : public FieldSource {
 public:
  /// The type, and those it is made of, as in IDL; for plain types also where each member lies.
  virtual const std::string& descriptor() const = 0;
  /// Two ends may exchange samples if these are equal. Covers of FINAL types the whole descriptor, of others
  /// the name, the extensibility and the key members.
  virtual std::uint64_t descriptor_hash() const = 0;
  virtual Extensibility extensibility() const = 0;
  virtual bool is_keyed() const = 0;
  /// Travels without serialisation, always plain_size() bytes long.
  virtual bool is_plain() const = 0;
  /// 0 unless plain.
  virtual std::size_t plain_size() const = 0;

  /// The key members of a sample, in a form that is equal when they are. Errors: parse_error.
  virtual Result<std::vector<std::byte>> key_of(std::span<const std::byte> sample) const = 0;
  /// A sample with the members of key_of() and defaults else. Errors: parse_error.
  virtual Result<std::vector<std::byte>> sample_of_key(std::span<const std::byte> key) const = 0;

  /// The hash that names the instance with this key (key_of()), never 0.
  virtual std::uint64_t hash_of(std::span<const std::byte> key) const { return hash_of_key(key); }
  /// True if two keys of this type can have this hash: the caller has to compare the keys themselves.
  virtual bool is_hash_ambiguous(std::uint64_t) const { return is_keyed(); }

  /// hash_of() key_of(); 0 for types without a key.
  Result<std::uint64_t> key_hash(std::span<const std::byte> sample) const;
  Result<bool> same_key(std::span<const std::byte> a, std::span<const std::byte> b) const;
};

}  // namespace llamada::types
