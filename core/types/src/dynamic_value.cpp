#include "llamada/types/dynamic_value.hpp"

#include <algorithm>
#include <cstring>

#include "llamada/types/deserialize.hpp"

namespace llamada::types {

using Kind = DynamicType::Kind;

namespace {

/// Types and values within one another that are followed.
constexpr std::size_t depth_max = 4 * nesting_max;
/// Values of a sample that need no bytes, as of structs without members, beside one for each byte.
constexpr std::size_t steps_free = 1 << 20;

/// Takes a primitive as P from a source with get<P>().
template <typename Source>
Value primitive(const DynamicType& type, Source& source) {
  const auto integer = [&]<typename P>(P) { return static_cast<P>(source.template get<P>()); };
  switch (type.kind) {
    case Kind::boolean:
      return source.template get<bool>();
    case Kind::character:
      return std::string(1, source.template get<char>());
    case Kind::octet:
      return std::uint64_t{source.template get<std::uint8_t>()};
    case Kind::floating:
      return type.size_bytes == 4 ? double{source.template get<float>()} : source.template get<double>();
    case Kind::signed_integer:
      switch (type.size_bytes) {
        case 1:
          return std::int64_t{integer(std::int8_t{})};
        case 2:
          return std::int64_t{integer(std::int16_t{})};
        case 4:
          return std::int64_t{integer(std::int32_t{})};
        default:
          return std::int64_t{integer(std::int64_t{})};
      }
    default:
      switch (type.size_bytes) {
        case 1:
          return std::uint64_t{integer(std::uint8_t{})};
        case 2:
          return std::uint64_t{integer(std::uint16_t{})};
        case 4:
          return std::uint64_t{integer(std::uint32_t{})};
        default:
          return std::uint64_t{integer(std::uint64_t{})};
      }
  }
}

/// Bounds what a hostile type makes of few bytes.
class Steps {
 public:
  explicit Steps(std::size_t size_bytes) : left_(size_bytes + steps_free) {}
  bool take() { return left_ != 0 && left_-- != 0; }

 private:
  std::size_t left_;
};

/// Keeps the first elements of a collection and counts all.
class Elements {
 public:
  Elements(DynamicValue& of, std::size_t kept_max) : of_(of), kept_max_(kept_max) {}
  void add(DynamicValue&& value) {
    if (of_.parts.size() < kept_max_) of_.parts.push_back(std::move(value));
  }

 private:
  DynamicValue& of_;
  std::size_t kept_max_;
};

/// XCDR2, by the rules of decode() in deserialize.hpp.
class SampleDecoder {
 public:
  SampleDecoder(Xcdr2Reader& reader, std::size_t size_bytes, std::size_t elements_max)
      : reader_(reader), steps_(size_bytes), elements_max_(elements_max) {}

  DynamicValue value(const DynamicType& type) {
    DynamicValue made{&type, {}, 0, {}};
    if (++depth_ > depth_max) fail_too_many();
    count_step();
    if (!reader_.failed()) fill(made);
    --depth_;
    return made;
  }

 private:
  void fail_too_many() { reader_.fail("the type nests deeper, or has more values, than are followed"); }
  void count_step() {
    if (!steps_.take()) fail_too_many();
  }

  void fill(DynamicValue& made) {
    const DynamicType& type = *made.type;
    switch (type.kind) {
      case Kind::nothing:
        return;
      case Kind::enumeration:
        made.scalar = std::int64_t{reader_.get<std::int32_t>()};
        return;
      case Kind::text:
        made.scalar = reader_.get_string(type.bound);
        return;
      case Kind::sequence:
        return within(!type.parts[0]->is_headless(), [&] { sequence(made); });
      case Kind::array:
        return within(!type.is_headless(), [&] { array(made); });
      case Kind::map:
        return within(!type.parts[0]->is_primitive() || !type.parts[1]->is_headless(), [&] { map(made); });
      case Kind::optional:
        if (reader_.get<bool>()) made.parts.push_back(value(*type.parts[0]));
        return;
      case Kind::union_:
        return alternative(made);
      case Kind::structure:
        return within(type.extensibility != Extensibility::final, [&] { structure(made); });
      default:
        made.scalar = primitive(type, reader_);
    }
  }

  template <typename Body>
  void within(bool has_dheader, Body&& body) {
    if (!has_dheader) return body();
    const std::size_t outer_end = reader_.enter(reader_.get<std::uint32_t>());
    body();
    reader_.leave(outer_end);
  }

  void sequence(DynamicValue& made) {
    made.count = reader_.get_count(made.type->bound, 1);
    Elements kept(made, elements_max_);
    for (std::size_t i = 0; i < made.count && !reader_.failed(); ++i) kept.add(value(*made.type->parts[0]));
  }

  /// Arrays of arrays are one array, with one DHEADER.
  void array(DynamicValue& made) {
    const DynamicType& element = *made.type->parts[0];
    made.count = made.type->count;
    Elements kept(made, elements_max_);
    for (std::size_t i = 0; i < made.count && !reader_.failed(); ++i) {
      const std::size_t before = reader_.position();
      if (element.kind == Kind::array) {
        DynamicValue inner{&element, {}, 0, {}};
        array(inner);
        kept.add(std::move(inner));
      } else {
        kept.add(value(element));
      }
      if (reader_.position() == before) return;  // elements without bytes are all alike
    }
  }

  void map(DynamicValue& made) {
    made.count = reader_.get_count(made.type->bound, 1);
    for (std::size_t i = 0; i < made.count && !reader_.failed(); ++i) {
      DynamicValue key = value(*made.type->parts[0]);
      DynamicValue element = value(*made.type->parts[1]);
      if (i >= elements_max_) continue;
      made.parts.push_back(std::move(key));
      made.parts.push_back(std::move(element));
    }
  }

  void alternative(DynamicValue& made) {
    const auto discriminator = reader_.get<std::int32_t>();
    made.scalar = std::int64_t{discriminator};
    if (discriminator < 0 || static_cast<std::size_t>(discriminator) >= made.type->parts.size())
      return reader_.fail(fmt::format("{} is no alternative of a union", discriminator));
    const DynamicType& chosen = *made.type->parts[static_cast<std::size_t>(discriminator)];
    if (chosen.kind != Kind::nothing) made.parts.push_back(value(chosen));
  }

  /// A member that the sample lacks.
  DynamicValue absent(const DynamicMember& member) {
    count_step();
    return {member.type, {}, 0, {}};
  }

  void structure(DynamicValue& made) {
    const auto& members = made.type->members;
    if (made.type->extensibility == Extensibility::mutable_) return mutable_members(made);
    for (const DynamicMember& member : members) {
      const bool is_absent =
          made.type->extensibility == Extensibility::appendable && reader_.remaining() == 0;
      made.parts.push_back(is_absent ? absent(member) : value(*member.type));
      if (reader_.failed()) return reader_.failed_within(member.name.c_str());
    }
  }

  void mutable_members(DynamicValue& made) {
    const auto& members = made.type->members;
    for (const DynamicMember& member : members) made.parts.push_back(absent(member));
    while (reader_.remaining() > 0 && !reader_.failed()) {
      const detail::MemberHeader header = detail::read_member_header(reader_);
      if (reader_.failed()) return;
      const std::size_t outer_end = reader_.enter(header.length_bytes);
      const auto found = std::find_if(members.begin(), members.end(),
                                      [&](const DynamicMember& each) { return each.id == header.id; });
      if (found != members.end()) {
        mutable_member(made.parts[static_cast<std::size_t>(found - members.begin())]);
        if (reader_.failed()) return reader_.failed_within(found->name.c_str());
      }
      reader_.leave(outer_end);
    }
  }

  /// An optional member is there or not; nothing in its bytes says so.
  void mutable_member(DynamicValue& made) {
    if (made.type->kind != Kind::optional) {
      made = value(*made.type);
    } else {
      made.parts.clear();
      made.parts.push_back(value(*made.type->parts[0]));
    }
  }

  Xcdr2Reader& reader_;
  Steps steps_;
  std::size_t elements_max_;
  std::size_t depth_ = 0;
};

/// A plain type's bytes as they lie in memory; the parser has checked that all of it lies within.
class MemoryDecoder {
 public:
  MemoryDecoder(std::size_t size_bytes, std::size_t elements_max)
      : steps_(size_bytes), elements_max_(elements_max) {}

  DynamicValue value(const DynamicType& type, const std::byte* from) {
    DynamicValue made{&type, {}, 0, {}};
    if (++depth_ > depth_max || !steps_.take()) failed_ = true;
    if (!failed_) fill(made, from);
    --depth_;
    return made;
  }
  bool failed() const { return failed_; }

 private:
  struct Source {
    const std::byte* from;
    template <typename P>
    P get() {
      if constexpr (std::is_same_v<P, bool>) {
        return *from != std::byte{0};
      } else {
        P value{};
        std::memcpy(&value, from, sizeof(value));
        return value;
      }
    }
  };

  void fill(DynamicValue& made, const std::byte* from) {
    const DynamicType& type = *made.type;
    switch (type.kind) {
      case Kind::structure:
        for (const DynamicMember& member : type.members)
          made.parts.push_back(value(*member.type, from + member.offset));
        return;
      case Kind::array:
        made.count = type.count;
        for (std::size_t i = 0; i < std::min(type.count, elements_max_) && !failed_; ++i)
          made.parts.push_back(value(*type.parts[0], from + i * type.parts[0]->size_bytes));
        return;
      case Kind::enumeration:
        made.scalar = enumerator(type, from);
        return;
      default: {
        Source source{from};
        made.scalar = primitive(type, source);
      }
    }
  }

  /// The descriptor does not say the sign; a named negative number, or 4 bytes, do.
  static std::int64_t enumerator(const DynamicType& type, const std::byte* from) {
    const bool is_signed =
        type.size_bytes == 4 || std::any_of(type.enumerators.begin(), type.enumerators.end(),
                                            [](const Enumerator& each) { return each.number < 0; });
    DynamicType number;
    number.kind = is_signed ? Kind::signed_integer : Kind::unsigned_integer;
    number.size_bytes = type.size_bytes;
    Source source{from};
    const Value value = primitive(number, source);
    return is_signed ? std::get<std::int64_t>(value)
                     : static_cast<std::int64_t>(std::get<std::uint64_t>(value));
  }

  Steps steps_;
  std::size_t elements_max_;
  std::size_t depth_ = 0;
  bool failed_ = false;
};

Result<DynamicValue> decode_plain(const DynamicType& type, std::span<const std::byte> sample,
                                  std::size_t elements_max) {
  if (sample.size() != type.size_bytes)
    return failure(Errc::parse_error, "a sample of {} bytes where {} has {}", sample.size(), type.name,
                   type.size_bytes);
  MemoryDecoder decoder(sample.size(), elements_max);
  DynamicValue made = decoder.value(type, sample.data());
  if (decoder.failed())
    return failure(Errc::parse_error, "{} nests deeper, or has more values, than are followed", type.name);
  return made;
}

}  // namespace

Result<DynamicValue> decode(const DynamicType& type, std::span<const std::byte> sample,
                            std::size_t elements_max) {
  if (type.size_bytes != 0) return decode_plain(type, sample, elements_max);
  auto reader = Xcdr2Reader::open(sample, type.extensibility);
  if (!reader) return propagate(reader);
  DynamicValue made = SampleDecoder(*reader, sample.size(), elements_max).value(type);
  if (auto status = detail::check_all_taken(*reader); !status) return propagate(status);
  return made;
}

}  // namespace llamada::types
