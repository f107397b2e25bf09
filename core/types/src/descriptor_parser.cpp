#include <algorithm>
#include <charconv>
#include <map>

#include "llamada/types/dynamic_type.hpp"
#include "llamada/types/xcdr2.hpp"

// The grammar is what descriptor.hpp writes; each declaration is one line.
namespace llamada::types {

using Kind = DynamicType::Kind;

namespace {

/// Larger plain types are refused.
constexpr std::size_t plain_size_bytes_max = std::size_t{1} << 40;

struct PrimitiveName {
  std::string_view name;
  Kind kind;
  std::size_t size_bytes;
};
constexpr PrimitiveName primitives[] = {
    {"boolean", Kind::boolean, 1},
    {"char", Kind::character, 1},
    {"octet", Kind::octet, 1},
    {"int8", Kind::signed_integer, 1},
    {"int16", Kind::signed_integer, 2},
    {"int32", Kind::signed_integer, 4},
    {"int64", Kind::signed_integer, 8},
    {"uint8", Kind::unsigned_integer, 1},
    {"uint16", Kind::unsigned_integer, 2},
    {"uint32", Kind::unsigned_integer, 4},
    {"uint64", Kind::unsigned_integer, 8},
    {"float", Kind::floating, 4},
    {"double", Kind::floating, 8},
    {"void", Kind::nothing, 0},
};

bool ends_a_name(std::string_view rest) {
  return rest.empty() || std::string_view(" ,>[").find(rest.front()) != std::string_view::npos;
}

}  // namespace

class DescriptorParser {
 public:
  explicit DescriptorParser(std::string_view text) : text_(text) {}

  Result<std::shared_ptr<const DynamicDescription>> parse() {
    if (text_.size() > descriptor_bytes_max)
      return failure(Errc::parse_error, "a type's description of {} bytes where at most {} are taken",
                     text_.size(), descriptor_bytes_max);
    for (const char each : text_)
      if ((static_cast<unsigned char>(each) < 0x20 && each != '\n') || each == 0x7f)
        return failure(Errc::parse_error, "a type's description holds a control character");
    const auto lines = lines_of();
    for (const std::string_view line : lines) announce(line);
    for (std::size_t i = 0; i < lines.size() && !failed_; ++i) {
      rest_ = lines[i];
      current_ = made_->declared_[i];
      declaration();
    }
    if (!failed_ && (lines.empty() || made_->type().kind != Kind::structure)) fail("there is no struct");
    if (failed_) return failure(Errc::parse_error, "a type's description cannot be read: {}", sentence_);
    return std::shared_ptr<const DynamicDescription>(std::move(made_));
  }

 private:
  std::vector<std::string_view> lines_of() const {
    std::vector<std::string_view> lines;
    for (std::size_t at = 0; at < text_.size();) {
      const std::size_t end = std::min(text_.find('\n', at), text_.size());
      lines.push_back(text_.substr(at, end - at));
      at = end + 1;
    }
    return lines;
  }

  /// Makes the type of a declaration, so that those before it can name it.
  void announce(std::string_view line) {
    rest_ = line;
    DynamicType* type = make(Kind::structure, {});
    if (take("enum ")) {
      type->kind = Kind::enumeration;
    } else if (take("bitmask ")) {
      type->kind = Kind::bitmask;
    } else {
      type->extensibility = extensibility();
    }
    const std::size_t end = rest_.find(" {");
    if (end == 0 || end == std::string_view::npos) return fail("a declaration has no name");
    type->name = rest_.substr(0, end);
    if (!by_name_.emplace(type->name, type).second) fail(type->name + " is declared twice");
    made_->declared_.push_back(type);
  }

  Extensibility extensibility() {
    for (const Extensibility each :
         {Extensibility::final, Extensibility::appendable, Extensibility::mutable_})
      if (take(fmt::format("@{} struct ", to_string(each)))) return each;
    fail("a declaration is no struct, enum or bitmask");
    return Extensibility::final;
  }

  void declaration() {
    rest_.remove_prefix(std::min(rest_.size(), rest_.find(" {") + 2));
    if (current_->kind == Kind::structure)
      members();
    else
      names();
    if (!failed_ && !rest_.empty())
      fail(fmt::format("'{}' behind the declaration of {}", rest_, current_->name));
    current_->is_complete = true;
  }

  void names() {
    while (!failed_ && !take(" };")) {
      expect(" ");
      Enumerator each;
      each.name = std::string(until(" = "));
      each.number = number<std::int64_t>();
      expect(",");
      current_->enumerators.push_back(std::move(each));
    }
    expect(" /* ");
    current_->size_bytes = number<std::size_t>();
    expect(" bytes */");
    const std::size_t size_bytes_max = current_->kind == Kind::bitmask ? 8 : 4;
    if (!std::has_single_bit(current_->size_bytes) || current_->size_bytes > size_bytes_max)
      fail(fmt::format("{} has {} bytes", current_->name, current_->size_bytes));
  }

  void members() {
    struct Place {
      std::size_t offset, size_bytes;
    };
    std::vector<Place> places;
    std::uint32_t next_id = 0;
    while (!failed_ && !take(" };")) {
      expect(" ");
      DynamicMember& member = current_->members.emplace_back();
      member.id = next_id;
      if (take("@id(")) {
        member.id = number<std::uint32_t>();
        expect(") ");
      }
      next_id = member.id + 1;
      const char* begin = rest_.data();
      member.is_key = take("@key ");
      const bool is_optional = take("@optional ");
      member.type = type_name(0, true);
      if (is_optional && !failed_) member.type = make(Kind::optional, {member.type});
      member.declaration = std::string(begin, static_cast<std::size_t>(rest_.data() - begin));
      expect(" ");
      member.name = std::string(until(";"));
      if (!take(" /* ")) continue;
      member.offset = number<std::size_t>();
      expect("+");
      places.push_back({member.offset, number<std::size_t>()});
      expect(" */");
    }
    if (failed_ || !take(" /* ")) return;
    current_->size_bytes = number<std::size_t>();
    expect(" bytes */");
    if (current_->size_bytes == 0 || current_->size_bytes > plain_size_bytes_max ||
        places.size() != current_->members.size())
      return fail(current_->name + " is no plain type");
    for (std::size_t i = 0; i < places.size(); ++i) {
      const DynamicMember& member = current_->members[i];
      const auto [offset, size_bytes] = places[i];
      if (member.type->size_bytes == 0 || member.type->size_bytes != size_bytes ||
          size_bytes > current_->size_bytes || offset > current_->size_bytes - size_bytes)
        return fail(fmt::format("{} does not lie within {}", member.name, current_->name));
    }
  }

  /// A type where one is used. A type that is not complete is used in a sequence or map only.
  const DynamicType* type_name(std::size_t depth, bool by_value) {
    const char* begin = rest_.data();
    DynamicType* type = depth > nesting_max ? nullptr : base_name(depth, by_value);
    if (type == nullptr) {
      fail(fmt::format("no type stands at '{}'", rest_.substr(0, 40)));
      return make(Kind::nothing, {});
    }
    for (std::size_t dimensions = 1; !failed_ && take("["); ++dimensions) {
      if (depth + dimensions > nesting_max) fail("an array has too many dimensions");
      DynamicType* array = make(Kind::array, {type});
      array->count = number<std::size_t>();
      expect("]");
      const bool is_too_large =
          array->count > plain_size_bytes_max ||
          (type->size_bytes != 0 && array->count > plain_size_bytes_max / type->size_bytes);
      if (is_too_large) fail("an array is too large");
      array->size_bytes = is_too_large ? 0 : array->count * type->size_bytes;
      array->name = std::string(begin, static_cast<std::size_t>(rest_.data() - begin));
      type = array;
    }
    return type;
  }

  DynamicType* base_name(std::size_t depth, bool by_value) {
    if (DynamicType* declared = declared_name(by_value)) return declared;
    const char* begin = rest_.data();
    DynamicType* type = collection(depth);
    if (type == nullptr) {
      for (const PrimitiveName& each : primitives) {
        if (!rest_.starts_with(each.name) || !ends_a_name(rest_.substr(each.name.size()))) continue;
        take(each.name);
        type = make(each.kind, {});
        type->size_bytes = each.size_bytes;
        break;
      }
    }
    if (type != nullptr) type->name = std::string(begin, static_cast<std::size_t>(rest_.data() - begin));
    return type;
  }

  DynamicType* collection(std::size_t depth) {
    if (take("string")) {
      DynamicType* type = make(Kind::text, {});
      if (take("<")) {
        type->bound = number<std::uint32_t>();
        expect(">");
      }
      return type;
    }
    if (take("sequence<")) return bounded(Kind::sequence, {type_name(depth + 1, false)});
    if (take("optional<")) return closed(Kind::optional, {type_name(depth + 1, true)});
    if (take("map<")) {
      const DynamicType* key = type_name(depth + 1, false);
      expect(", ");
      return bounded(Kind::map, {key, type_name(depth + 1, false)});
    }
    if (!take("union<")) return nullptr;
    std::vector<const DynamicType*> alternatives;
    do alternatives.push_back(type_name(depth + 1, true));
    while (!failed_ && take(", "));
    return closed(Kind::union_, std::move(alternatives));
  }

  DynamicType* bounded(Kind kind, std::vector<const DynamicType*> parts) {
    const std::uint32_t bound = take(", ") ? number<std::uint32_t>() : 0;
    DynamicType* type = closed(kind, std::move(parts));
    type->bound = bound;
    return type;
  }
  DynamicType* closed(Kind kind, std::vector<const DynamicType*> parts) {
    expect(">");
    return make(kind, std::move(parts));
  }

  /// The longest declared name that stands here: names of templates contain anything.
  DynamicType* declared_name(bool by_value) {
    DynamicType* found = nullptr;
    for (const auto& [name, type] : by_name_) {
      const bool is_longer = found == nullptr || name.size() > found->name.size();
      if (is_longer && rest_.starts_with(name) && ends_a_name(rest_.substr(name.size()))) found = type;
    }
    if (found == nullptr) return nullptr;
    take(found->name);
    if (by_value && !found->is_complete)
      fail(fmt::format("{} contains itself or is declared later", found->name));
    return found;
  }

  DynamicType* make(Kind kind, std::vector<const DynamicType*> parts) {
    made_->owned_.push_back(std::make_unique<DynamicType>());
    made_->owned_.back()->kind = kind;
    made_->owned_.back()->parts = std::move(parts);
    return made_->owned_.back().get();
  }

  bool take(std::string_view prefix) {
    if (failed_ || !rest_.starts_with(prefix)) return false;
    rest_.remove_prefix(prefix.size());
    return true;
  }
  void expect(std::string_view prefix) {
    if (!take(prefix)) fail(fmt::format("'{}' is expected at '{}'", prefix, rest_.substr(0, 40)));
  }
  std::string_view until(std::string_view end) {
    const std::size_t at = rest_.find(end);
    if (at == 0 || at == std::string_view::npos) {
      fail(fmt::format("a name is expected at '{}'", rest_.substr(0, 40)));
      return {};
    }
    const auto found = rest_.substr(0, at);
    rest_.remove_prefix(at + end.size());
    return found;
  }
  template <typename Number>
  Number number() {
    Number value{};
    const auto [end, error] = std::from_chars(rest_.data(), rest_.data() + rest_.size(), value);
    if (error != std::errc{}) fail(fmt::format("a number is expected at '{}'", rest_.substr(0, 40)));
    rest_.remove_prefix(static_cast<std::size_t>(end - rest_.data()));
    return value;
  }
  void fail(std::string sentence) {
    if (!failed_) sentence_ = std::move(sentence);
    failed_ = true;
  }

  std::string_view text_;
  std::string_view rest_;
  std::shared_ptr<DynamicDescription> made_ = std::make_shared<DynamicDescription>();
  DynamicType* current_ = nullptr;
  std::map<std::string, DynamicType*, std::less<>> by_name_;
  bool failed_ = false;
  std::string sentence_;
};

Result<std::shared_ptr<const DynamicDescription>> DynamicDescription::parse(std::string_view descriptor) {
  return DescriptorParser(descriptor).parse();
}

}  // namespace llamada::types
