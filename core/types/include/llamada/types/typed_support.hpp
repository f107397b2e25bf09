#pragma once

#include "llamada/types/deserialize.hpp"
#include "llamada/types/fields.hpp"

namespace llamada::types {

/// The bytes that travel: the value's own bytes if the type is plain, otherwise XCDR2. Errors as
/// serialize_xcdr2().
template <DescribedStruct T>
Result<std::vector<std::byte>> serialize(const T& value) {
  if constexpr (is_plain_v<T>) {
    const auto bytes = std::as_bytes(std::span(&value, 1));
    return std::vector<std::byte>(bytes.begin(), bytes.end());
  } else {
    return serialize_xcdr2(value);
  }
}

/// Fills in `value`, a default-constructed T. Errors: parse_error; `value` is then partly filled in.
template <DescribedStruct T>
Status deserialize(std::span<const std::byte> sample, T& value) {
  if constexpr (is_plain_v<T>) {
    if (sample.size() != sizeof(T)) {
      return failure(Errc::parse_error, "a sample of {} bytes where {} has {}", sample.size(), type_name<T>(),
                     sizeof(T));
    }
    std::memcpy(&value, sample.data(), sizeof(T));
    return {};
  } else {
    return deserialize_xcdr2(sample, value);
  }
}
/// deserialize() that returns the value, for types of up to 64 KiB.
template <DescribedStruct T>
Result<T> deserialize(std::span<const std::byte> sample) {
  return detail::returned<T>([&](T& value) { return deserialize(sample, value); });
}

namespace detail {
bool is_aligned(const void* place, std::size_t alignment);
}

/// TypeSupport of a type that the macro describes. A T may be larger than a stack: each lies on the heap.
template <DescribedStruct T>
class TypeSupportOf final : public TypeSupport {
 public:
  const std::string& name() const override { return type_name<T>(); }
  const std::string& descriptor() const override { return descriptor_; }
  std::uint64_t descriptor_hash() const override { return hash_; }
  Extensibility extensibility() const override { return DescriptionOf<T>::extensibility; }
  bool is_keyed() const override { return is_keyed_v<T>; }
  bool is_plain() const override { return is_plain_v<T>; }
  std::size_t plain_size() const override { return is_plain_v<T> ? sizeof(T) : 0; }

  bool is_hash_ambiguous(std::uint64_t key_hash) const override {
    return has_short_key_ ? key_hash == ambiguous_short_key_hash : is_keyed_v<T>;
  }

  Result<std::vector<std::byte>> key_of(std::span<const std::byte> sample) const override {
    auto object = object_of(sample);
    if (!object) return propagate(object);
    return serialize_key(*static_cast<const T*>(object->get()));
  }

  Result<std::vector<std::byte>> sample_of_key(std::span<const std::byte> key) const override {
    const auto value = std::make_unique<T>();
    if (auto status = deserialize_key(key, *value); !status) return propagate(status);
    return serialize(*value);
  }

  Result<std::shared_ptr<const void>> object_of(std::span<const std::byte> sample) const override {
    if constexpr (is_plain_v<T>) {
      if (sample.size() == sizeof(T) && detail::is_aligned(sample.data(), alignof(T)))
        return std::shared_ptr<const void>(std::shared_ptr<void>(), sample.data());
    }
    auto value = std::make_shared<T>();
    if (auto status = deserialize(sample, *value); !status) return propagate(status);
    return std::shared_ptr<const void>(std::move(value));
  }

  Result<Field> field(std::string_view path) const override { return detail::find_path<T>(path); }

 private:
  static bool has_short_key() {
    if constexpr (has_fixed_key_v<T>) {
      const auto key = serialize_key(*std::make_unique<T>());
      return key && key->size() <= sizeof(std::uint64_t);
    }
    return false;
  }

  bool has_short_key_ = has_short_key();
  std::string descriptor_ = describe_type<T>(Detail::all);
  std::uint64_t hash_ = hash64(describe_type<T>(Detail::matching));
};

/// The one TypeSupport of T.
template <DescribedStruct T>
const TypeSupport& type_support() {
  static const TypeSupportOf<T> support;
  return support;
}

/// type_support() for owners that share it.
template <DescribedStruct T>
std::shared_ptr<const TypeSupport> shared_type_support() {
  return {std::shared_ptr<void>(), &type_support<T>()};
}

}  // namespace llamada::types
