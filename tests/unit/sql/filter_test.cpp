#include "sql_types.hpp"
#include "test.hpp"

using namespace llamada;
using namespace llamada::sql;
using namespace filtered;

namespace {

const Shape shape{"circle",
                  30,
                  1ull << 63,
                  1.5,
                  true,
                  'c',
                  Colour::green,
                  {1.25, -2},
                  7,
                  {10, 11, 12},
                  {{{1, 2}, {3, 4}}},
                  {{1, 2, 3}, {4, 5, 6}},
                  {"round", "it's"},
                  {true, false},
                  {{"one", 1}}};

struct Named {
  std::int32_t in = 0;
};
LLAMADA_TYPE(Named, in);

bool passes(std::string_view expression, std::vector<std::string> parameters = {},
            const Shape& which = shape) {
  const auto filter = Filter::parse(expression, parameters, types::type_support<Shape>());
  INFO(expression << ": " << (filter ? "" : filter.error().text()));
  REQUIRE(filter);
  const auto sample = types::serialize(which);
  REQUIRE(sample);
  const auto result = filter->matches(*sample);
  REQUIRE(result);
  return *result;
}

}  // namespace

TEST_CASE("sql: comparisons of numbers", "[sql]") {
  CHECK(passes("size = 30"));
  CHECK(passes("size <> 31"));
  CHECK(passes("size != 31"));
  CHECK(passes("size < 31"));
  CHECK(passes("size <= 30"));
  CHECK(passes("size > 29"));
  CHECK(passes("size >= 30"));
  CHECK_FALSE(passes("size = 29"));
  CHECK_FALSE(passes("size < 30"));
  CHECK_FALSE(passes("size > 30"));
  CHECK(passes("29 < size"));
  CHECK(passes("+30 = size"));
  CHECK(passes("size = 0x1e"));
  CHECK(passes("size > -1"));
  CHECK(passes("size = 3e1"));
  CHECK(passes("size < 30.5"));
  CHECK(passes("weight = 1.5"));
  CHECK(passes("weight > .5"));
  CHECK(passes("weight >= 15e-1"));
  CHECK(passes("weight < 2"));
}

TEST_CASE("sql: 64-bit numbers compare exactly, signs or not", "[sql]") {
  CHECK(passes("large = 9223372036854775808"));
  CHECK(passes("large > 9223372036854775807"));
  CHECK(passes("large > -1"));
  CHECK_FALSE(passes("large = -9223372036854775808"));
  Shape other = shape;
  other.large = (1ull << 53) + 1;
  CHECK_FALSE(passes("large = 9007199254740992.0", {}, other));
}

TEST_CASE("sql: strings, characters, booleans and enumerations", "[sql]") {
  CHECK(passes("name = 'circle'"));
  CHECK(passes("name < 'd'"));
  CHECK_FALSE(passes("name = 'Circle'"));
  CHECK(passes("letter = 'c'"));
  CHECK(passes("visible = TRUE"));
  CHECK(passes("visible <> false"));
  CHECK(passes("visible = 1"));
  CHECK(passes("colour = 'green'"));
  CHECK(passes("colour = green"));
  CHECK(passes("colour > 'red'"));
  CHECK(passes("colour = 1"));
  CHECK(passes("'green' = colour"));
}

TEST_CASE("sql: LIKE", "[sql]") {
  CHECK(passes("name LIKE 'c%'"));
  CHECK(passes("name like '%cl%'"));
  CHECK(passes("name LIKE '_ircl_'"));
  CHECK(passes("name LIKE '%%e'"));
  CHECK(passes("name LIKE 'circle'"));
  CHECK(passes("name LIKE '%'"));
  CHECK_FALSE(passes("name LIKE 'c'"));
  CHECK_FALSE(passes("name LIKE '_ircl'"));
  CHECK_FALSE(passes("name LIKE '%x%'"));
  CHECK(passes("name LIKE %0", {"c%e"}));
  CHECK(passes("letter LIKE '_'"));
}

TEST_CASE("sql: LIKE counts characters of UTF-8", "[sql]") {
  Shape other = shape;
  other.name = "größe 中😀";
  CHECK(passes("name LIKE 'gr__e __'", {}, other));
  CHECK(passes("name LIKE '%__'", {}, other));
  CHECK(passes("name LIKE '________'", {}, other));
  CHECK_FALSE(passes("name LIKE '_________'", {}, other));
  CHECK(passes("name LIKE '%ö%'", {}, other));
  other.name = "\xff\xc3";  // no characters: each byte counts
  CHECK(passes("name LIKE '__'", {}, other));
}

TEST_CASE("sql: LIKE needs no exponential time", "[sql]") {
  Shape other = shape;
  other.name = std::string(5000, 'a');
  std::string pattern;
  for (int i = 0; i < 500; i++) pattern += "a%";
  CHECK_FALSE(passes("name LIKE '" + pattern + "b'", {}, other));
}

TEST_CASE("sql: NOT LIKE", "[sql]") {
  CHECK(passes("name NOT LIKE 'x%'"));
  CHECK_FALSE(passes("name not like 'c%'"));
  CHECK(passes("NOT name NOT LIKE 'c%'"));
  CHECK(passes("name NOT LIKE %0 AND size = 30", {"x%"}));
}

TEST_CASE("sql: IN and NOT IN", "[sql]") {
  CHECK(passes("size IN (1, 30)"));
  CHECK(passes("size in (30)"));
  CHECK_FALSE(passes("size IN (1, 29.5)"));
  CHECK(passes("size NOT IN (1, 2)"));
  CHECK_FALSE(passes("size NOT IN (1, 30) OR size = 1"));
  CHECK(passes("name IN ('square', 'circle')"));
  CHECK(passes("colour IN (red, 'green')"));
  CHECK(passes("size IN (%0, %1) AND visible IN (TRUE)", {"7", "30"}));
  CHECK(passes("place.x IN (1.25)"));
  Shape other = shape;
  other.perhaps.reset();
  CHECK(passes("perhaps IN (7)"));
  CHECK_FALSE(passes("perhaps IN (7)", {}, other));
  CHECK(passes("perhaps NOT IN (7)", {}, other));
}

TEST_CASE("sql: a quote within a string is written twice", "[sql]") {
  Shape other = shape;
  other.name = "it's";
  CHECK(passes("name = 'it''s'", {}, other));
  CHECK(passes("name LIKE '%''%'", {}, other));
  CHECK(passes("name = %0", {"it's"}, other));
  CHECK(passes("name = %0", {"'it''s'"}, other));
  CHECK(passes("name = %0", {"'it's'"}, other));
  other.name = "'";
  CHECK(passes("name = ''''", {}, other));
  CHECK(passes("name = `''' OR size = 1", {}, other));
  other.name = "";
  CHECK(passes("name = ''", {}, other));
  CHECK(passes("name = '' AND letter = 'c'", {}, other));
}

TEST_CASE("sql: elements of arrays and sequences, by an index from 0", "[sql]") {
  CHECK(passes("list[0] = 10 AND list[2] = 12"));
  CHECK(passes("corners[1].x = 3 AND corners[0].y < corners[1].y"));
  CHECK(passes("grid[1][2] = 6"));
  CHECK(passes("tags[1] = 'it''s' AND tags[0] LIKE 'r%'"));
  CHECK(passes("flags[0] = TRUE AND flags[1] = FALSE"));
  CHECK(passes("list[1] IN (11) AND 11 = list[1]"));
  // Behind the end of a sequence nothing is there to compare.
  CHECK_FALSE(passes("list[3] = 0"));
  CHECK_FALSE(passes("flags[2] = FALSE"));
  CHECK_FALSE(passes("list[4294967295] <> 0"));
  CHECK(passes("NOT list[3] = 0"));
}

TEST_CASE("sql: lengths of sequences, arrays and maps", "[sql]") {
  CHECK(passes("list.length = 3"));
  CHECK(passes("tags.length > 1 AND tags.length < list.length"));
  CHECK(passes("corners.length = 2 AND grid[0].length = 3"));
  CHECK(passes("names.length = 1"));
  CHECK(passes("flags.length BETWEEN 2 AND 2"));
  const auto query =
      Filter::parse_query("list.length > 0 ORDER BY tags.length, list[0]", {}, types::type_support<Shape>());
  REQUIRE(query);
  Shape other = shape;
  other.list = {9};
  CHECK(query->before(&other, &shape));
}

TEST_CASE("sql: a member that is named as a keyword of an extension is still a member", "[sql]") {
  const auto filter = Filter::parse("in IN (1, 2) AND in = 2", {}, types::type_support<Named>());
  REQUIRE(filter);
  const Named named{2};
  CHECK(filter->matches_object(&named));
}

TEST_CASE("sql: BETWEEN includes both ends", "[sql]") {
  CHECK(passes("size BETWEEN 30 AND 40"));
  CHECK(passes("size BETWEEN 20 AND 30"));
  CHECK_FALSE(passes("size BETWEEN 31 AND 40"));
  CHECK(passes("size NOT BETWEEN 31 AND 40"));
  CHECK(passes("name BETWEEN 'a' AND 'd'"));
  CHECK(passes("size BETWEEN %0 AND %1 AND visible = true", {"1", "99"}));
}

TEST_CASE("sql: AND binds stronger than OR, NOT stronger than both", "[sql]") {
  CHECK(passes("size = 30 OR size = 1 AND size = 2"));
  CHECK_FALSE(passes("(size = 30 OR size = 1) AND size = 2"));
  CHECK(passes("NOT size = 1 AND size = 30"));
  CHECK_FALSE(passes("NOT (size = 1 OR size = 30)"));
  CHECK(passes("not not size = 30"));
}

TEST_CASE("sql: fields of nested structs, and fields with fields", "[sql]") {
  CHECK(passes("place.x = 1.25"));
  CHECK(passes("place.y < place.x"));
  CHECK(passes("size > weight"));
  CHECK_FALSE(passes("place.x < place.y"));
}

TEST_CASE("sql: parameters, with and without quotes", "[sql]") {
  CHECK(passes("size > %0 AND name = %1", {"29", "'circle'"}));
  CHECK(passes("name = %0", {"circle"}));
  CHECK(passes("colour = %0", {"green"}));
  CHECK(passes("colour = %0", {"'green'"}));
  CHECK(passes("visible = %0", {"TRUE"}));
  CHECK(passes("%0 < size", {"29"}));
  const auto filter =
      Filter::parse("size > %0", std::vector<std::string>{"29"}, types::type_support<Shape>());
  REQUIRE(filter);
  CHECK(filter->matches_object(&shape));
  const auto other = filter->with_parameters(std::vector<std::string>{"31"});
  REQUIRE(other);
  CHECK_FALSE(other->matches_object(&shape));
  CHECK(filter->matches_object(&shape));
}

TEST_CASE("sql: a comparison with what is absent is false", "[sql]") {
  CHECK(passes("perhaps = 7"));
  Shape other = shape;
  other.perhaps.reset();
  CHECK_FALSE(passes("perhaps = 7", {}, other));
  CHECK_FALSE(passes("perhaps <> 7", {}, other));
  CHECK(passes("NOT perhaps = 7", {}, other));
}

TEST_CASE("sql: queries may be empty and may order", "[sql]") {
  const types::TypeSupport& type = types::type_support<Shape>();
  CHECK(Filter::parse_query("", {}, type)->matches_object(&shape));
  CHECK_FALSE(Filter::parse_query("", {}, type)->is_ordered());
  const auto query = Filter::parse_query("size > 0 ORDER BY colour, size", {}, type);
  REQUIRE(query);
  CHECK(query->is_ordered());
  Shape other = shape;
  CHECK_FALSE(query->before(&shape, &other));
  other.size = 31;
  CHECK(query->before(&shape, &other));
  CHECK_FALSE(query->before(&other, &shape));
  other.colour = Colour::red;
  CHECK(query->before(&other, &shape));
  const auto by_perhaps = Filter::parse_query("order by perhaps", {}, type);
  REQUIRE(by_perhaps);
  other.perhaps.reset();
  CHECK(by_perhaps->before(&other, &shape));
}

TEST_CASE("sql: bytes that are no sample are an error", "[sql]") {
  const auto filter = Filter::parse("size = 1", {}, types::type_support<Shape>());
  REQUIRE(filter);
  CHECK_FALSE(filter->matches(std::as_bytes(std::span("x"))));
}
