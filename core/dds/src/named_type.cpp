// A type that a topic calls by a name of its own.

#include "dds/topic/topic.hpp"

namespace dds::topic::detail {

namespace {

/// All but the name is the type's. Keeps it.
class NamedType final : public llamada::types::TypeSupport {
 public:
  using Type = std::shared_ptr<const llamada::types::TypeSupport>;
  using Bytes = std::span<const std::byte>;

  NamedType(Type type, std::string name) : type_(std::move(type)), name_(std::move(name)) {}

  const std::string& name() const override { return name_; }
  const std::string& descriptor() const override { return type_->descriptor(); }
  std::uint64_t descriptor_hash() const override { return type_->descriptor_hash(); }
  llamada::types::Extensibility extensibility() const override { return type_->extensibility(); }
  bool is_keyed() const override { return type_->is_keyed(); }
  bool is_plain() const override { return type_->is_plain(); }
  std::size_t plain_size() const override { return type_->plain_size(); }
  llamada::Result<std::vector<std::byte>> key_of(Bytes sample) const override {
    return type_->key_of(sample);
  }
  llamada::Result<std::vector<std::byte>> sample_of_key(Bytes key) const override {
    return type_->sample_of_key(key);
  }
  llamada::Result<std::shared_ptr<const void>> object_of(Bytes sample) const override {
    return type_->object_of(sample);
  }
  llamada::Result<llamada::types::Field> field(std::string_view path) const override {
    return type_->field(path);
  }
  std::uint64_t hash_of(Bytes key) const override { return type_->hash_of(key); }
  bool is_hash_ambiguous(std::uint64_t key_hash) const override { return type_->is_hash_ambiguous(key_hash); }

 private:
  Type type_;
  std::string name_;
};

}  // namespace

std::shared_ptr<const llamada::types::TypeSupport> named_type(
    std::shared_ptr<const llamada::types::TypeSupport> type, const std::string& name) {
  if (name.empty()) throw core::InvalidArgumentError("the name of a topic's type is empty");
  if (name == type->name()) return type;
  return std::make_shared<NamedType>(std::move(type), name);
}

}  // namespace dds::topic::detail
