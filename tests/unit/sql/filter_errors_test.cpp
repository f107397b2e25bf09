#include "sql_types.hpp"
#include "test.hpp"

using namespace llamada;
using namespace llamada::sql;

namespace {

std::string error_of(std::string_view expression, std::vector<std::string> parameters = {}) {
  const auto filter = Filter::parse(expression, parameters, types::type_support<filtered::Shape>());
  if (filter) return "";
  CHECK(filter.error().code() == Errc::parse_error);
  return filter.error().text();
}

std::string query_error_of(std::string_view expression) {
  const auto filter = Filter::parse_query(expression, {}, types::type_support<filtered::Shape>());
  return filter ? "" : filter.error().text();
}

}  // namespace

TEST_CASE("sql: syntax errors name the column and what is expected", "[sql]") {
  CHECK(error_of("") == "column 1: a field, a value or a parameter is expected, not the end");
  CHECK(error_of("size") == "column 5: =, <>, <, <=, >, >=, LIKE, BETWEEN or IN is expected, not the end");
  CHECK(error_of("size =") == "column 7: a field, a value or a parameter is expected, not the end");
  CHECK(error_of("size = 1 size = 2") == "column 10: AND or OR is expected, not 'size'");
  CHECK(error_of("size = 1 AND") == "column 13: a field, a value or a parameter is expected, not the end");
  CHECK(error_of("(size = 1") == "column 10: AND, OR or ')' is expected, not the end");
  CHECK(error_of("size = 1)") == "column 9: AND or OR is expected, not ')'");
  CHECK(error_of("size NOT = 1") == "column 10: BETWEEN, IN or LIKE is expected, not '='");
  CHECK(error_of("size NOT LIKE 'a'") == "column 6: LIKE is for strings, and size is an integer");
  CHECK(error_of("size IN 1") == "column 9: the '(' of IN is expected, not '1'");
  CHECK(error_of("size IN ()") == "column 10: a field, a value or a parameter is expected, not ')'");
  CHECK(error_of("size IN (1, 2") == "column 14: ',' or the ')' of IN is expected, not the end");
  CHECK(error_of("size IN (1,)") == "column 12: a field, a value or a parameter is expected, not ')'");
  CHECK(error_of("name = 'it''s") == "column 8: the string that begins here has no closing quote");
  CHECK(error_of("size [0] = 1") == "column 6: '[' belongs to no expression");
  CHECK(error_of("size BETWEEN 1 OR 2") == "column 16: the AND of BETWEEN is expected, not 'OR'");
  CHECK(error_of("name = 'abc") == "column 8: the string that begins here has no closing quote");
  CHECK(error_of("size = #1") == "column 8: '#' belongs to no expression");
  CHECK(error_of("size = \x01") == "column 8: '\\x01' belongs to no expression");
  CHECK(error_of("size = %x") == "column 8: a parameter is %0 to %99");
  CHECK(error_of("size = %100") == "column 8: a parameter is %0 to %99");
  CHECK(error_of("size = 1 ORDER BY size") == "column 10: AND or OR is expected, not 'ORDER'");
  CHECK(query_error_of("ORDER size") == "column 7: the BY of ORDER BY is expected, not 'size'");
  CHECK(query_error_of("ORDER BY") == "column 9: a field is expected, not the end");
  CHECK(query_error_of("ORDER BY size,") == "column 15: a field is expected, not the end");
  CHECK(query_error_of("ORDER BY size colour") == "column 15: AND, OR or ORDER BY is expected, not 'colour'");
}

TEST_CASE("sql: fields and types are checked", "[sql]") {
  CHECK(error_of("length = 1") ==
        "column 1: filtered::Shape has no field 'length'; it has name, size, large, weight, visible, letter, "
        "colour, "
        "place, perhaps, list, corners, grid, tags, flags, names");
  CHECK(error_of("place.z = 1") == "column 1: filtered::Place has no field 'z'; it has x, y");
  CHECK(error_of("place = 1") ==
        "column 1: place of filtered::Shape is not a single value: name a member behind a dot");
  CHECK(error_of("list = 1") ==
        "column 1: list of filtered::Shape is not a single value: name an element, [0], or .length");
  CHECK(error_of("names = 1") ==
        "column 1: names of filtered::Shape is not a single value: only its .length can be compared");
  CHECK(error_of("size IN (1, 'a')") == "column 13: 'a' does not fit: size is an integer");
  CHECK(error_of("size IN (1, weight)") == "column 13: a value or a parameter is expected, not 'weight'");
  CHECK(error_of("1 IN (size)") == "column 1: a field is expected, not '1'");
  CHECK(error_of("size = 'a'") == "column 8: 'a' does not fit: size is an integer");
  CHECK(error_of("name = 1") == "column 8: '1' does not fit: name is a string");
  CHECK(error_of("letter = 'ab'") == "column 10: 'ab' does not fit: letter is a character");
  CHECK(error_of("visible = 2") == "column 11: '2' does not fit: visible is a boolean");
  CHECK(error_of("colour = 'pink'") ==
        "column 10: 'pink' does not fit: colour is an enumeration (red, green, blue)");
  CHECK(error_of("size = 12abc") == "column 8: '12abc' does not fit: size is an integer");
  CHECK(error_of("size = 1.2.3") == "column 8: '1.2.3' does not fit: size is an integer");
  CHECK(error_of("size = -0x10") == "column 8: '-0x10' does not fit: size is an integer");
  CHECK(error_of("size = 99999999999999999999") ==
        "column 8: '99999999999999999999' does not fit: size is an integer");
  CHECK(error_of("size LIKE 'a'") == "column 6: LIKE is for strings, and size is an integer");
  CHECK(error_of("name = size") == "column 8: name is a string, but size is an integer: they do not compare");
  CHECK(error_of("size BETWEEN 1 AND weight") ==
        "column 20: a value or a parameter is expected, not 'weight'");
  CHECK(error_of("1 = 1") == "column 1: a field is expected, not '1'");
  CHECK(query_error_of("ORDER BY nothing").starts_with("column 10: filtered::Shape has no field 'nothing'"));
}

TEST_CASE("sql: indices are checked where the size is known", "[sql]") {
  CHECK(error_of("corners[2].x = 1") ==
        "column 1: corners of filtered::Shape has no element [2]; it has [0] to [1]");
  CHECK(error_of("grid[1] = 1") ==
        "column 1: [1] of grid of filtered::Shape is not a single value: name an element, [0], or .length");
  CHECK(error_of("corners[0].z = 1") == "column 1: filtered::Place has no field 'z'; it has x, y");
  CHECK(error_of("list[x] = 1") ==
        "column 1: list of filtered::Shape: an index is a whole number from 0, in brackets");
  CHECK(error_of("list[] = 1") == error_of("list[x] = 1"));
  CHECK(error_of("list[0 = 1") == error_of("list[x] = 1"));
  CHECK(error_of("list[99999999999] = 1") == error_of("list[x] = 1"));
  CHECK(error_of("size[0] = 1") == "column 1: size of filtered::Shape is a single value: it has no fields");
  CHECK(error_of("size. = 1") == "column 1: size of filtered::Shape is a single value: it has no fields");
  CHECK(error_of("tags[0].length = 1") ==
        "column 1: [0] of tags of filtered::Shape is a single value: it has no fields");
  std::string deep = "grid";
  for (int i = 0; i < 70; i++) deep += "[0]";
  CHECK(error_of(deep + " = 1") == "column 1: a field's path has more than 64 steps");
}

TEST_CASE("sql: parameters must be there and fit", "[sql]") {
  CHECK(error_of("size = %0") == "column 8: %0 is used and there are 0 parameters");
  CHECK(error_of("size = %1", {"1"}) == "column 8: %1 is used and there are 1 parameters");
  CHECK(error_of("size = %0", {"x"}) == "column 8: parameter %0, 'x', does not fit: size is an integer");
  CHECK(error_of("colour = %0", {"pink"}) ==
        "column 10: parameter %0, 'pink', does not fit: colour is an enumeration (red, green, blue)");
  CHECK(error_of("size = 1", std::vector<std::string>(101)) ==
        "101 parameters where at most 100 are allowed");
}

TEST_CASE("sql: limits", "[sql]") {
  const std::string open(64, '('), close(64, ')');
  CHECK(error_of(open + "size = 1" + close).empty());
  CHECK(error_of("(" + open + "size = 1" + close + ")") ==
        "column 65: more than 64 parentheses and NOTs within one another");
  CHECK(error_of(std::string(70000, ' ')) == "an expression of 70000 bytes where at most 65536 are allowed");
}
