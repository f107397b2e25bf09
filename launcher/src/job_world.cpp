#include "job_world.hpp"

#include <fmt/format.h>

#include <cerrno>
#include <cstring>

#include "installation.hpp"

namespace llamada::launcher {
namespace {

Result<Command> find_command(const SpawnCommand& wanted, const std::string& path) {
  const std::string directories = wanted.search_path.empty() ? path : wanted.search_path + ":" + path;
  auto program = find_program(wanted.program, directories, wanted.working_directory);
  if (!program) {
    const int error = program.error().code() == Errc::permission_denied ? EACCES : ENOENT;
    return failure(program.error().code(), "{}: {}", program.error().text(), strerror(error));
  }
  Command command{program->string(), program->string(), wanted.arguments, wanted.working_directory};
  command.arguments.insert(command.arguments.begin(), wanted.program);
  through_shell_if_needed(command.program, command.arguments);
  return command;
}

}  // namespace

std::string JobWorld::name_of(std::uint32_t rank_in_world) const {
  if (number == 0) return fmt::format("rank {}", rank_in_world);
  return fmt::format("rank {} of spawned world {}", rank_in_world, number);
}

Result<JobWorld> plan_world(const std::vector<SpawnCommand>& commands, const std::string& path) {
  JobWorld world;
  for (const SpawnCommand& wanted : commands) {
    auto command = find_command(wanted, path);
    if (!command) return propagate(command);
    const auto number = static_cast<std::uint32_t>(world.commands.size());
    world.commands.push_back(std::move(*command));
    if (wanted.process_count > world_size_max - world.count)
      return failure(Errc::out_of_resources, "more than {} processes are to be started at once",
                     world_size_max);
    world.command_of.insert(world.command_of.end(), wanted.process_count, number);
    world.count += wanted.process_count;
  }
  if (world.count == 0) return failure(Errc::invalid_argument, "no process is to be started");
  return world;
}

}  // namespace llamada::launcher
