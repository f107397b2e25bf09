#include "program_libraries.hpp"

#include "test.hpp"

using namespace llamada::launcher;

TEST_CASE("libraries: the loader lists those of a program, and none is missing", "[launcher]") {
  const std::string list = list_libraries("/bin/sh", {}, "/");
  CHECK(list.find("libc.so") != std::string::npos);
  CHECK(missing_library(list).empty());
  CHECK(list_libraries("/no/such/program", {}, {}).empty());
}

TEST_CASE("libraries: the first one that is missing is named", "[launcher]") {
  CHECK(missing_library("\tlinux-vdso.so.1 (0x7)\n\tlibx.so.1 => not found\n\tliby.so => not found\n") ==
        "libx.so.1");
}
