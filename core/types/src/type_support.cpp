#include "llamada/types/type_support.hpp"

#include <algorithm>
#include <charconv>

#include "llamada/types/typed_support.hpp"

namespace llamada::types {

std::string_view to_string(FieldKind kind) {
  switch (kind) {
    case FieldKind::boolean:
      return "a boolean";
    case FieldKind::character:
      return "a character";
    case FieldKind::signed_integer:
      return "an integer";
    case FieldKind::unsigned_integer:
      return "an unsigned integer";
    case FieldKind::floating:
      return "a floating point number";
    case FieldKind::text:
      return "a string";
    case FieldKind::enumeration:
      return "an enumeration";
  }
  return "?";
}

std::string_view to_string(Extensibility extensibility) {
  switch (extensibility) {
    case Extensibility::final:
      return "final";
    case Extensibility::appendable:
      return "appendable";
    case Extensibility::mutable_:
      return "mutable";
  }
  return "?";
}

namespace {

/// One to one, and 0 stays 0: each step can be undone.
std::uint64_t spread(std::uint64_t hash) {
  hash = (hash ^ hash >> 33) * 0xff51afd7ed558ccdu;
  hash = (hash ^ hash >> 33) * 0xc4ceb9fe1a85ec53u;
  return hash ^ hash >> 33;
}

}  // namespace

/// FNV-1a, and a finish that spreads what short keys differ in over all bits.
std::uint64_t hash64(std::span<const std::byte> bytes) {
  std::uint64_t hash = 0xcbf29ce484222325u;
  for (const std::byte each : bytes) hash = (hash ^ std::to_integer<std::uint64_t>(each)) * 0x100000001b3u;
  return spread(hash);
}

std::uint64_t hash64(std::string_view text) {
  return hash64(std::as_bytes(std::span<const char>(text.data(), text.size())));
}

std::uint64_t hash_of_key(std::span<const std::byte> key) {
  if (key.size() > sizeof(std::uint64_t)) return std::max<std::uint64_t>(hash64(key), 1);
  std::uint64_t number = 0;
  for (const std::byte each : key) number = number << 8 | std::to_integer<std::uint64_t>(each);
  // One to one but for the highest number, whose hash would be 0.
  return std::max(spread(number + 1), ambiguous_short_key_hash);
}

Result<std::uint64_t> TypeSupport::key_hash(std::span<const std::byte> sample) const {
  if (!is_keyed()) return 0;
  auto key = key_of(sample);
  if (!key) return propagate(key);
  return hash_of(*key);
}

Result<bool> TypeSupport::same_key(std::span<const std::byte> a, std::span<const std::byte> b) const {
  auto key_a = key_of(a);
  if (!key_a) return propagate(key_a);
  auto key_b = key_of(b);
  if (!key_b) return propagate(key_b);
  return *key_a == *key_b;
}

Result<Value> FieldSource::value_of(std::span<const std::byte> sample, std::string_view path) const {
  auto found = field(path);
  if (!found) return propagate(found);
  auto object = object_of(sample);
  if (!object) return propagate(object);
  return found->get(object->get());
}

namespace detail {

bool is_aligned(const void* place, std::size_t alignment) {
  return reinterpret_cast<std::uintptr_t>(place) % alignment == 0;
}

std::string name_in(std::string_view function) {
  const std::size_t begin = function.find("T = ") + 4;
  std::string name(function.substr(begin, function.find_first_of(";]", begin) - begin));
  for (const std::string_view anonymous : {"{anonymous}::", "(anonymous namespace)::"}) {
    for (std::size_t at; (at = name.find(anonymous)) != std::string::npos;) name.erase(at, anonymous.size());
  }
  return name;
}

std::string bounded(std::string name, std::uint32_t bound) {
  const bool is_open = name.find('<') != std::string::npos;
  if (bound == 0) return name;
  return is_open ? fmt::format("{}, {}", name, bound) : fmt::format("{}<{}>", name, bound);
}

void DescriptorText::declare_names(std::string_view kind, const std::string& name,
                                   const std::vector<Enumerator>& names, std::size_t size_bytes) {
  if (!declared_.insert(name).second) return;
  std::string list;
  for (const Enumerator& each : names) list += fmt::format(" {} = {},", each.name, each.number);
  text_ += fmt::format("{} {} {{{} }}; /* {} bytes */\n", kind, name, list, size_bytes);
}

std::string_view primitive_name(bool is_floating, bool is_signed, std::size_t size_bytes) {
  static constexpr std::string_view names[3][4] = {{"uint8", "uint16", "uint32", "uint64"},
                                                   {"int8", "int16", "int32", "int64"},
                                                   {"", "", "float", "double"}};
  return names[is_floating ? 2 : is_signed ? 1 : 0][std::countr_zero(size_bytes)];
}

std::pair<std::string_view, std::string_view> split_path(std::string_view path) {
  const std::size_t end = std::min(path.find_first_of(".["), path.size());
  return {path.substr(0, end), path.substr(end)};
}

Status check_path(std::string_view path) {
  const auto steps =
      std::count_if(path.begin(), path.end(), [](char each) { return each == '.' || each == '['; });
  if (static_cast<std::size_t>(steps) < path_steps_max) return {};
  return failure(Errc::unsupported, "a field's path has more than {} steps", path_steps_max);
}

Result<std::pair<std::size_t, std::string_view>> split_index(const std::string& place, std::string_view path,
                                                             std::size_t size) {
  const std::size_t end = path.find(']');
  const std::string_view digits = path.substr(1, end == path.npos ? path.npos : end - 1);
  std::uint32_t index = 0;
  const auto [stop, code] = std::from_chars(digits.data(), digits.data() + digits.size(), index);
  if (end == path.npos || code != std::errc{} || stop != digits.data() + digits.size())
    return failure(Errc::not_found, "{}: an index is a whole number from 0, in brackets", place);
  if (size != 0 && index >= size)
    return failure(Errc::not_found, "{} has no element [{}]; it has [0] to [{}]", place, index, size - 1);
  return std::pair<std::size_t, std::string_view>(index, path.substr(end + 1));
}

tl::unexpected<Error> no_field(const std::string& type, std::string_view path,
                               const std::vector<std::string>& names) {
  return failure(Errc::not_found, "{} has no field '{}'; it has {}", type, path, fmt::join(names, ", "));
}

tl::unexpected<Error> not_scalar(const std::string& place, std::string_view instead) {
  return failure(Errc::unsupported, "{} is not a single value: {}", place, instead);
}

tl::unexpected<Error> nothing_inside(const std::string& place) {
  return failure(Errc::not_found, "{} is a single value: it has no fields", place);
}

}  // namespace detail

}  // namespace llamada::types
