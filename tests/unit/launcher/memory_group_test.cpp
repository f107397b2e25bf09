#include "llamada/launcher/memory_group.hpp"

#include <filesystem>
#include <fstream>

#include "temporary_folder.hpp"
#include "test.hpp"

using namespace llamada::launcher;
namespace fs = std::filesystem;

namespace {

void write(const fs::path& file, const std::string& text) {
  fs::create_directories(file.parent_path());
  std::ofstream(file) << text;
}

}  // namespace

TEST_CASE("memory group: of version 2, the lowest limit on the way up counts", "[launcher]") {
  const llamada::test::TemporaryFolder root;
  const fs::path job = root.path() / "slice/job";
  write(job / "memory.max", "max\n");
  write(job / "memory.current", "300000000\n");
  write(job / "memory.stat", "anon 7\ninactive_file 100000000\n");
  write(job / "memory.events", "low 0\noom 4\noom_kill 3\n");
  write(root.path() / "slice/memory.max", "1000000000\n");
  const auto group = MemoryGroup::of("0::/slice/job\n", root.path().string());
  CHECK(group.oom_kills() == 3);
  CHECK(group.limit_bytes() == 1000000000u);
  CHECK(group.available_bytes() == 800000000u);
}

TEST_CASE("memory group: version 1 is taken where it has the memory", "[launcher]") {
  const llamada::test::TemporaryFolder root;
  const fs::path job = root.path() / "memory/job";
  write(job / "memory.limit_in_bytes", "1000\n");
  write(job / "memory.usage_in_bytes", "2000\n");
  write(job / "memory.oom_control", "oom_kill_disable 0\nunder_oom 0\noom_kill 2\n");
  write(root.path() / "memory/memory.limit_in_bytes", "9223372036854771712\n");
  const auto group = MemoryGroup::of("4:memory:/job\n1:cpu:/\n0::/elsewhere\n", root.path().string());
  CHECK(group.oom_kills() == 2);
  CHECK(group.limit_bytes() == 1000u);
  CHECK(group.available_bytes() == 0u);
}

TEST_CASE("memory group: without one nothing is known", "[launcher]") {
  const auto group = MemoryGroup::of("", "/nowhere");
  CHECK(group.oom_kills() == 0);
  CHECK_FALSE(group.limit_bytes());
  CHECK_FALSE(group.available_bytes());
}
