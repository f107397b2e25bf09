#include "program_libraries.hpp"

#include <sys/stat.h>

#include <fstream>
#include <iterator>

#include "temporary_folder.hpp"
#include "test.hpp"

using namespace llamada::launcher;

TEST_CASE("libraries: the loader lists those of a program, and none is missing", "[launcher]") {
  const std::string list = list_libraries("/bin/sh", {}, "/");
  CHECK(list.find("libc.so") != std::string::npos);
  CHECK(missing_library(list).empty());
  CHECK(list_libraries("/no/such/program", {}, {}).empty());
}

TEST_CASE("libraries: the loader tells of a library that is not there", "[launcher]") {
  std::ifstream shell("/bin/sh", std::ios::binary);
  std::string bytes{std::istreambuf_iterator<char>(shell), {}};
  const std::string needed = "libc.so.6";
  for (std::size_t at = 0; (at = bytes.find(needed, at)) != bytes.npos;)
    bytes.replace(at, needed.size(), "libq.so.6");
  const llamada::test::TemporaryFolder folder;
  const std::string program = folder / "program";
  std::ofstream(program, std::ios::binary) << bytes;
  chmod(program.c_str(), 0755);
  CHECK(missing_library(list_libraries(program, {}, {})) == "libq.so.6");
}

TEST_CASE("libraries: the first one that is missing is named", "[launcher]") {
  CHECK(missing_library("\tlinux-vdso.so.1 (0x7)\n\tlibx.so.1 => not found\n\tliby.so => not found\n") ==
        "libx.so.1");
}
