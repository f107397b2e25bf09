#include <filesystem>
#include <fstream>

#include "test.hpp"
#include "xcdr2_types.hpp"

TEST_CASE("xcdr2: the fuzzer's corpus is read or refused", "[types]") {
  std::size_t inputs = 0;
  for (const auto& entry : std::filesystem::directory_iterator(LLAMADA_XCDR2_CORPUS)) {
    std::ifstream file(entry.path(), std::ios::binary);
    const std::string input(std::istreambuf_iterator<char>(file), {});
    INFO(entry.path());
    CHECK(fuzzed::holds(std::as_bytes(std::span(input.data(), input.size()))));
    inputs++;
  }
  CHECK(inputs > 0);
}
