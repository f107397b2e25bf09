#include "llamada/qos/name_pattern.hpp"

#include <fnmatch.h>

#include <random>
#include <string>

#include "llamada/qos/partition.hpp"
#include "test.hpp"

namespace llamada::qos::test {
namespace {

TEST_CASE("name patterns: ? and * count characters of UTF-8, in whatever locale", "[qos]") {
  CHECK(fits_name_pattern("z?rich", "zürich"));
  CHECK_FALSE(fits_name_pattern("z??rich", "zürich"));
  CHECK(fits_name_pattern("??", "中😀"));
  CHECK(fits_name_pattern("*ü*", "grün"));
  CHECK(fits_name_pattern("[äöü]ber", "über"));
  CHECK_FALSE(fits_name_pattern("[!ü]ber", "über"));
  CHECK(fits_name_pattern("[à-ý]", "é"));
  CHECK(fits_name_pattern("?", "\xff"));  // no character of UTF-8
  CHECK_FALSE(fits_name_pattern("?",
                                "\xc3"
                                "x"));
  CHECK_FALSE(fits_name_pattern("[[:alpha:]]", "é"));
  CHECK(partitions_match({{"gr?n"}}, {{"grün"}}));
}

TEST_CASE("name patterns: sets have ranges, classes and escapes", "[qos]") {
  CHECK(fits_name_pattern("[[:alpha:]_][[:alnum:]]*", "x1-y"));
  CHECK(fits_name_pattern("[^[:digit:]]", "x"));
  CHECK(fits_name_pattern("\\*", "*"));
  CHECK_FALSE(fits_name_pattern("\\*", "x"));
  CHECK(fits_name_pattern("[]x]", "]"));
  CHECK(fits_name_pattern("[a", "[a"));
  CHECK(fits_name_pattern("a*b*c", "aXbYbZc"));
  CHECK_FALSE(fits_name_pattern("a*b*c", "aXbYbZ"));
}

TEST_CASE("name patterns: ASCII is matched as fnmatch() does in the locale C", "[qos]") {
  std::mt19937 random(20261127);
  const auto text_of = [&](std::string_view letters, std::size_t length_max) {
    std::string text(random() % (length_max + 1), ' ');
    for (char& each : text) each = letters[random() % letters.size()];
    return text;
  };
  int fits = 0;
  for (int round = 0; round < 200'000; ++round) {
    const std::string pattern = text_of("aabc*?[]!-", 8), name = text_of("aabc]-", 6);
    CAPTURE(pattern, name);
    const bool expected = ::fnmatch(pattern.c_str(), name.c_str(), 0) == 0;
    if (expected) ++fits;
    if (fits_name_pattern(pattern, name) != expected) FAIL("they differ");
  }
  CHECK(fits > 1000);
}

}  // namespace
}  // namespace llamada::qos::test
