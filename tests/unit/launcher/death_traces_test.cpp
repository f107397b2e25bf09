#include <filesystem>
#include <fstream>

#include "core_file.hpp"
#include "death_text.hpp"
#include "error_tail.hpp"
#include "temporary_folder.hpp"
#include "test.hpp"

using namespace llamada;
using namespace llamada::launcher;

namespace {

CoreOwner some_owner() {
  CoreOwner owner;
  owner.pid = 4711;
  owner.signal = 11;
  owner.host = "node7";
  owner.program = "/home/me/a-program-with-a-long-name";
  owner.age = std::chrono::seconds(5);
  return owner;
}

using Lines = std::vector<std::string>;

}  // namespace

TEST_CASE("error tail: the last lines, without those that are empty", "[launcher]") {
  ErrorTail tail;
  CHECK(tail.lines().empty());
  tail.take("one\ntwo\n\nthr");
  CHECK(tail.lines() == Lines{"one", "two", "thr"});
  tail.take("ee\nfour\nfive\n");
  CHECK(tail.lines() == Lines{"two", "three", "four", "five"});
  tail.clear();
  CHECK(tail.lines().empty());
}

TEST_CASE("error tail: long lines are cut, and control characters do not reach a terminal", "[launcher]") {
  ErrorTail tail;
  tail.take("\x1b[2Jred\a\n" + std::string(10'000, 'x'));
  const Lines lines = tail.lines();
  REQUIRE(lines.size() == 1);
  CHECK(lines[0].size() == ErrorTail::line_bytes_max);
  CHECK(lines[0].ends_with("x..."));
  tail.take("\n\x1b[2Jred\a\tgrün\n");
  CHECK(tail.lines().back() == "?[2Jred??grün");
}

TEST_CASE("core file: a pattern is expanded as core(5) has it", "[launcher]") {
  const CoreOwner owner = some_owner();
  CHECK(core_glob("core", false, owner) == "core");
  CHECK(core_glob("core", true, owner) == "core.4711");
  CHECK(core_glob("core.%p", true, owner) == "core.4711");
  CHECK(core_glob("/var/cores/%h/%e-%s-%t.%p", false, owner) == "/var/cores/node7/a-program-with--11-*.4711");
  CHECK(core_glob("%E", false, owner) == "!home!me!a-program-with-a-long-name");
  CHECK(core_glob("100%%%", false, owner) == "100%");
  CHECK(core_glob("a[b]*", false, owner) == "a\\[b\\]\\*");
  CHECK(core_glob("|/usr/lib/systemd/systemd-coredump %P", true, owner).empty());
  CHECK(core_glob("", true, owner).empty());
}

TEST_CASE("core file: the newest that fits and is younger than its process", "[launcher]") {
  const test::TemporaryFolder folder;
  CoreOwner owner = some_owner();
  owner.directory = folder.path();
  const std::string pattern = core_glob("core.%p.%t", false, owner);
  CHECK(newest_core(pattern, owner).empty());
  std::ofstream(folder / "core.4711.1") << "old";
  const auto now = std::filesystem::file_time_type::clock::now();
  std::filesystem::last_write_time(folder / "core.4711.1", now - std::chrono::hours(1));
  CHECK(newest_core(pattern, owner).empty());
  std::ofstream(folder / "core.4711.2") << "new";
  std::ofstream(folder / "core.4712.3") << "another's";
  CHECK(newest_core(pattern, owner) == folder / "core.4711.2");
}

TEST_CASE("death text: tells what the rank had said last, and where its core is", "[launcher]") {
  DeathRecord death;
  death.last_errors = {"one", "two"};
  death.core_file = "/tmp/core";
  qos::RankReplacement policy;
  DeathContext context{2, "node7", "default", &policy, 0};
  const std::string text = describe_death(death, {Verdict::abort_job, 11, 139}, context);
  CHECK(text.find("\n  said      one\n            two\n  core      /tmp/core\n  done      ") !=
        std::string::npos);
  death.last_errors.clear();
  death.core_file.clear();
  const std::string shorter = describe_death(death, {Verdict::abort_job, 11, 139}, context);
  CHECK((shorter.find("said") == std::string::npos && shorter.find("core ") == std::string::npos));
  CHECK(shorter.find("--qos fault-tolerant") != std::string::npos);
}
