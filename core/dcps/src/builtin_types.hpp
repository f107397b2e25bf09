#pragma once

#include <memory>
#include <string>
#include <type_traits>

#include "llamada/dcps/builtin_topics.hpp"
#include "llamada/types/type_support.hpp"

namespace llamada::dcps {

qos::TopicQos topic_qos_of(const qos::EndpointQos& endpoint);

/// The serialised key of all built-in topics, and back.
std::vector<std::byte> builtin_key(const InstanceHandle& handle);
Result<InstanceHandle> builtin_handle(std::span<const std::byte> key);

/// The hash of the instance in the built-in topic that tells of the entity.
inline std::uint64_t builtin_key_hash(const InstanceHandle& handle) {
  return types::hash_of_key(builtin_key(handle));
}

/// The type of a built-in topic: serialize_builtin(), keyed by `key`. Its fields cannot be named in
/// expressions.
template <typename Data>
class BuiltinType final : public types::TypeSupport {
 public:
  explicit BuiltinType(std::string name) : name_(std::move(name)) {}

  const std::string& name() const override { return name_; }
  const std::string& descriptor() const override { return name_; }
  std::uint64_t descriptor_hash() const override { return types::hash64(name_); }
  types::Extensibility extensibility() const override { return types::Extensibility::final; }
  bool is_keyed() const override { return true; }
  bool is_plain() const override { return false; }
  std::size_t plain_size() const override { return 0; }

  Result<std::vector<std::byte>> key_of(std::span<const std::byte> sample) const override {
    auto data = deserialize_builtin<Data>(sample);
    if (!data) return propagate(data);
    return builtin_key(data->key);
  }
  Result<std::vector<std::byte>> sample_of_key(std::span<const std::byte> key) const override {
    auto handle = builtin_handle(key);
    if (!handle) return propagate(handle);
    Data data;
    data.key = *handle;
    return serialize_builtin(data);
  }
  Result<std::shared_ptr<const void>> object_of(std::span<const std::byte> sample) const override {
    auto data = deserialize_builtin<Data>(sample);
    if (!data) return propagate(data);
    return std::shared_ptr<const void>(std::make_shared<const Data>(std::move(*data)));
  }
  Result<types::Field> field(std::string_view path) const override {
    return failure(Errc::not_found, "{} has no field '{}' for expressions", name_, path);
  }

 private:
  std::string name_;
};

}  // namespace llamada::dcps
