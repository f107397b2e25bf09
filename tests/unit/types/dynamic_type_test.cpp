// Types at run time: what a descriptor says is the type that the compiler knows.

#include "llamada/types/dynamic_value.hpp"
#include "sample_types.hpp"
#include "test.hpp"
#include "xcdr2_types.hpp"

using namespace llamada;
using namespace llamada::types;
using namespace world;

namespace {

template <typename T>
std::shared_ptr<const DynamicDescription> dynamic() {
  auto parsed = DynamicDescription::parse(type_support<T>().descriptor());
  INFO((parsed ? "" : parsed.error().text()));
  REQUIRE(parsed);
  return *parsed;
}

std::string text_of(const Value& value) {
  return std::visit(
      []<typename V>(const V& held) -> std::string {
        if constexpr (std::is_same_v<V, std::monostate>)
          return "-";
        else
          return fmt::format("{}", held);
      },
      value);
}

/// "{1 [2 3] (4)}": structs, collections, optionals and unions.
std::string text_of(const DynamicValue& value) {
  using Kind = DynamicType::Kind;
  if (value.type->is_scalar()) return text_of(value.scalar);
  std::string text;
  for (const DynamicValue& each : value.parts) text += (text.empty() ? "" : " ") + text_of(each);
  if (value.type->kind == Kind::structure) return "{" + text + "}";
  if (value.type->kind == Kind::union_) return fmt::format("<{}: {}>", text_of(value.scalar), text);
  return value.type->kind == Kind::optional ? "(" + text + ")" : "[" + text + "]";
}

template <typename T>
std::string shown(const T& value, std::size_t elements_max = 100) {
  const auto description = dynamic<T>();
  const auto decoded = decode(description->type(), serialize(value).value(), elements_max);
  INFO((decoded ? "" : decoded.error().text()));
  REQUIRE(decoded);
  return text_of(*decoded);
}

std::string refusal(std::string_view descriptor) {
  const auto parsed = DynamicDescription::parse(descriptor);
  return parsed ? "" : parsed.error().text();
}

namespace first {
struct Pose {
  float x = 0;
  double y = 0;
};
LLAMADA_TYPE(Pose, x, y);
struct Robot {
  Pose pose;
  std::string name;
};
LLAMADA_TYPE(Robot, pose, LLAMADA_KEY(name));
}  // namespace first

std::string renamed(std::string text, const std::string& from, const std::string& to) {
  for (std::size_t at = 0; (at = text.find(from, at)) != std::string::npos; at += to.size())
    text.replace(at, from.size(), to);
  return text;
}

}  // namespace

TEST_CASE("dynamic types: samples of every kind of type", "[types]") {
  CHECK(shown(Plain{1, 2, 1.5, {{3, 4}, {5, -6}}, {{{1, 0}, {0, 0}, {0, 2}}}, Colour::green, true, 'z'}) ==
        "{1 2 1.5 [{3 4} {5 -6}] [[1 0] [0 0] [0 2]] 2 true z}");
  CHECK(shown(Reading{"ab", 7, {1.0, 2.5}, 5}) == "{ab 7 [1 2.5] (5)}");
  CHECK(shown(Reading{"", 7, {}, std::nullopt}) == "{7 [] ()}");
  CHECK(shown(Outer{0x0201,
                    {7, "x"},
                    {{8, ""}, {9, "yz"}},
                    {{3, "q"}},
                    {Colour::green, Colour::blue},
                    {true, false}}) == "{513 {7 x} [{8 } {9 yz}] [3 q] [2 4] [true false]}");
  CHECK(shown(Loose{5, -2, "a", std::nullopt, Colour::blue, {9}}) == "{5 -2 a () 4 [9]}");
  fuzzed::Composed composed;
  composed.a = 3;
  composed.b = "base";
  composed.choice = std::vector<fuzzed::Leaf>{{1, "one"}};
  composed.bits = fuzzed::Bits::last;
  composed.choices = {true, fuzzed::Bits::first};
  CHECK(shown(composed) == "{3 base <3: [{1 one}]> 32768 [<0: true> <1: 1>]}");
  fuzzed::Tree tree;
  tree.children.resize(2);
  tree.children[0].children.resize(1);
  CHECK(shown(tree) == "{1 [{1 [{1 []}]} {1 []}]}");
}

TEST_CASE("dynamic types: of long collections only the first elements are kept, and all are counted",
          "[types]") {
  const auto description = dynamic<Reading>();
  const auto decoded = decode(description->type(), serialize(Reading{"ab", 7, {1, 2, 3, 4}, 5}).value(), 2);
  REQUIRE(decoded);
  CHECK(text_of(*decoded) == "{ab 7 [1 2] (5)}");
  CHECK(decoded->parts[2].count == 4);
}

TEST_CASE("dynamic types: fields by their paths", "[types]") {
  const auto description = dynamic<first::Robot>();
  const auto sample = serialize(first::Robot{{1.5, -2}, "r2"}).value();
  CHECK(description->value_of(sample, "pose.y") == Value(-2.0));
  CHECK(description->value_of(sample, "name") == Value(std::string("r2")));
  CHECK(description->field("pose.z").error().text().find("has no field 'z'; it has x, y") !=
        std::string::npos);
  CHECK(description->field("pose").error().code() == Errc::unsupported);
  CHECK(description->field("name.x").error().code() == Errc::not_found);
  const auto readings = dynamic<Reading>();
  const auto reading = serialize(Reading{"ab", 7, {1, 2.5}, 5}).value();
  CHECK(readings->value_of(reading, "values[1]") == Value(2.5));
  CHECK(readings->value_of(reading, "values[2]") == Value());
  CHECK(readings->value_of(reading, "values.length") == Value(std::uint64_t{2}));
  CHECK(readings->value_of(reading, "quality") == Value(std::uint64_t{5}));
  CHECK(readings->field("values[70000]").error().code() == Errc::unsupported);
  const auto colours = dynamic<Plain>()->field("colour");
  REQUIRE(colours);
  CHECK(colours->enumerators == type_support<Plain>().field("colour")->enumerators);
}

TEST_CASE("dynamic types: bytes that are no value of the type are refused with the member", "[types]") {
  const auto description = dynamic<Reading>();
  auto sample = serialize(Reading{"ab", 7, {1, 2}, 5}).value();
  sample.resize(sample.size() - 8);
  CHECK(decode(description->type(), sample).error().text().starts_with("values: ends "));
  CHECK(decode(dynamic<Plain>()->type(), sample).error().text().find("a sample of") == 0);
}

TEST_CASE("dynamic types: a description that nobody could compile is refused", "[types]") {
  CHECK(refusal("").find("there is no struct") != std::string::npos);
  CHECK(refusal(std::string(descriptor_bytes_max + 1, 'x')).find("at most") != std::string::npos);
  CHECK(refusal("@final struct A { int32 x\x1b; };\n").find("control character") != std::string::npos);
  CHECK(refusal("@final struct A { A a; };\n").find("contains itself") != std::string::npos);
  CHECK(refusal("@final struct A { sequence<A> a; };\n").empty());
  CHECK(refusal("@final struct A { int32 x; };\n@final struct A { int32 x; };\n").find("twice") !=
        std::string::npos);
  CHECK(refusal("@final struct A { int33 x; };\n").find("no type stands at 'int33 x; };'") !=
        std::string::npos);
  CHECK(refusal("@final struct A { int32 x; /* 2+4 */ }; /* 4 bytes */\n").find("x does not lie within A") !=
        std::string::npos);
  CHECK(refusal("@final struct A { int32[4000000000][4000000000] x; };\n").find("too large") !=
        std::string::npos);
  std::string dimensions;
  for (int i = 0; i < 100; ++i) dimensions += "[1]";
  CHECK(refusal("@final struct A { int32" + dimensions + " x; };\n").find("too many dimensions") !=
        std::string::npos);
  CHECK(refusal("enum A { x = 1, }; /* 3 bytes */\n").find("A has 3 bytes") != std::string::npos);
}

TEST_CASE("dynamic types: few bytes cannot stand for a flood of values", "[types]") {
  std::string text = "@final struct A0 { };\n";
  for (int i = 1; i < 60; ++i) text += fmt::format("@final struct A{0} {{ A{1} a; A{1} b; }};\n", i, i - 1);
  const auto parsed = DynamicDescription::parse(text);
  REQUIRE(parsed);
  const auto sample = from_hex("00070000");
  CHECK(decode((*parsed)->type(), sample).error().text().find("has more values") != std::string::npos);
  const auto wide =
      DynamicDescription::parse("@final struct E { };\n@final struct A { E[1000000000][1000] e; };\n");
  REQUIRE(wide);
  CHECK(decode((*wide)->type(), from_hex("00070000 00000000")).has_value());
}

TEST_CASE("dynamic types: members that a sample lacks are counted as values, too", "[types]") {
  const auto outcome = [](std::string_view extensibility, std::uint32_t elements) {
    std::string text = fmt::format("@{} struct E {{", extensibility);
    for (int i = 0; i < 400; ++i)
      text += fmt::format("{} int32 m{};", extensibility == "mutable" ? fmt::format(" @id({})", i) : "", i);
    const auto parsed = DynamicDescription::parse(text + " };\n@final struct A { sequence<E> e; };\n");
    REQUIRE(parsed);
    // Each element has 4 bytes, which say that it has no more.
    std::string hex = "00070000";
    for (const std::uint32_t number : {4 * elements + 4, elements})
      for (int shift = 0; shift < 32; shift += 8) hex += fmt::format("{:02x}", number >> shift & 0xff);
    hex.append(std::size_t{8} * elements, '0');
    const auto value = decode((*parsed)->type(), from_hex(hex), 2);
    return value ? std::string("read") : value.error().text();
  };
  for (const char* extensibility : {"appendable", "mutable"}) {
    CHECK(outcome(extensibility, 100) == "read");
    CHECK(outcome(extensibility, 10000).find("has more values, than are followed") != std::string::npos);
  }
}

TEST_CASE("dynamic types: the first difference between two descriptions names the member", "[types]") {
  const std::string text = type_support<first::Robot>().descriptor();
  const auto difference = [&](const std::string& from, const std::string& to) {
    const auto other = DynamicDescription::parse(renamed(text, from, to));
    REQUIRE(other);
    return renamed(first_difference(*dynamic<first::Robot>(), **other), type_support<first::Pose>().name(),
                   "Pose");
  };
  CHECK(difference("x", "x").empty());
  CHECK(difference("double y", "int64 y") ==
        "member 'y' of Pose: the writer has 'double at byte 8', the reader 'int64 at byte 8'");
  CHECK(difference(" x;", " z;")
            .starts_with("member 'x' of Pose: the writer has 'float at byte 0', the reader none"));
  CHECK(difference("@key string", "string").find("'@key string', the reader 'string'") != std::string::npos);
}
