#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "job_world.hpp"
#include "llamada/launcher/job_control.hpp"

namespace llamada::launcher {

/// What the environment of a rank is made from. Nothing depends on the incarnation, for the environment lies
/// on the new process's stack.
struct RankSurroundings {
  const control::Start& job;
  const JobWorld& world;
  std::uint32_t slot = 0;
  std::uint64_t token = 0;  ///< what it shows to attach
  /// "0,4": what the ranks of its node are bound to.
  const std::vector<std::string>& cpu_places;
  bool is_replaceable = false;      ///< outcomes are recorded
  bool needs_crash_points = false;  ///< of the library with crash points
};

/// "NAME=value" strings, the user's first. The node adds LLAMADA_DRIVER. Pure.
std::vector<std::string> environment_of_rank(const RankSurroundings& rank);

/// Sets a variable, in its old place if there is one.
void set_variable(std::vector<std::string>& environment, std::string_view name, std::string_view value);
/// Its value, empty if there is none.
std::string variable_in(const std::vector<std::string>& environment, std::string_view name);

}  // namespace llamada::launcher
