#include "job_world.hpp"

#include "line_merger.hpp"
#include "test.hpp"

using namespace llamada;
using namespace llamada::launcher;

namespace {

SpawnCommand command(std::uint32_t count, const std::string& program) {
  SpawnCommand command;
  command.process_count = count;
  command.program = program;
  command.working_directory = "/";
  return command;
}

}  // namespace

TEST_CASE("world: each rank has the command that its place says", "[launcher]") {
  SpawnCommand second = command(2, "sh");
  second.arguments = {"-c", ""};
  auto world = plan_world({command(1, "true"), second}, "/usr/bin:/bin");
  REQUIRE(world);
  CHECK(world->count == 3);
  CHECK(world->command_number(0) == 0);
  CHECK(world->command_number(1) == 1);
  CHECK(world->command_number(2) == 1);
  CHECK(world->command(2).arguments == std::vector<std::string>{"sh", "-c", ""});
  CHECK(world->command(2).program.ends_with("/sh"));
  CHECK(world->command(2).working_directory == "/");
}

TEST_CASE("world: a program that is not there is named", "[launcher]") {
  auto missing = plan_world({command(1, "no-such-program")}, "/usr/bin:/bin");
  REQUIRE_FALSE(missing);
  CHECK(missing.error().text().find("no-such-program") != std::string::npos);
  CHECK(missing.error().text().find("No such file or directory") != std::string::npos);
  auto forbidden = plan_world({command(1, "/etc/passwd")}, "");
  REQUIRE_FALSE(forbidden);
  CHECK(forbidden.error().text().find("Permission denied") != std::string::npos);
}

TEST_CASE("world: a search path comes before PATH", "[launcher]") {
  SpawnCommand wanted = command(1, "mpirun-no-such");
  CHECK_FALSE(plan_world({wanted}, "/bin"));
  wanted.program = "true";
  wanted.search_path = "/usr/bin";
  auto world = plan_world({wanted}, "/nowhere");
  REQUIRE(world);
  CHECK(world->command(0).program == "/usr/bin/true");
}

TEST_CASE("world: no process, and more than there may be, are refused", "[launcher]") {
  CHECK_FALSE(plan_world({command(0, "true")}, "/usr/bin:/bin"));
  CHECK_FALSE(plan_world({}, "/usr/bin:/bin"));
  auto many = plan_world({command(world_size_max, "true"), command(1, "true")}, "/usr/bin:/bin");
  REQUIRE_FALSE(many);
  CHECK(many.error().code() == Errc::out_of_resources);
}

TEST_CASE("world: ranks are named by their world", "[launcher]") {
  JobWorld world;
  CHECK(world.name_of(3) == "rank 3");
  world.number = 2;
  CHECK(world.name_of(0) == "rank 0 of spawned world 2");
}

TEST_CASE("merger: lines of spawned ranks have the world's number in their label", "[launcher]") {
  LineMerger merger("[%r] ");
  merger.name_world(4, 2, 1);
  merger.name_world(6, 1, 2);
  std::string out;
  merger.take(3, "a\n", out);
  merger.take(4, "b\n", out);
  merger.take(5, "c\n", out);
  merger.take(6, "d\n", out);
  CHECK(out == "[3] a\n[1:0] b\n[1:1] c\n[2:0] d\n");
  // A later world gets one of their slots.
  merger.name_world(5, 1, 3);
  out.clear();
  merger.take(4, "e\n", out);
  merger.take(5, "f\n", out);
  merger.take(6, "g\n", out);
  CHECK(out == "[1:0] e\n[3:0] f\n[2:0] g\n");
}
