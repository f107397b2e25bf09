#include <filesystem>
#include <fstream>

#include "sql_types.hpp"
#include "test.hpp"

TEST_CASE("sql: the fuzzer's corpus is accepted or refused", "[sql]") {
  std::size_t inputs = 0;
  for (const auto& entry : std::filesystem::directory_iterator(LLAMADA_SQL_CORPUS)) {
    std::ifstream file(entry.path(), std::ios::binary);
    const std::string input(std::istreambuf_iterator<char>(file), {});
    INFO(entry.path());
    CHECK(filtered::holds(input));
    inputs++;
  }
  CHECK(inputs > 0);
}
