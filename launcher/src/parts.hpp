#pragma once

#include <string>
#include <vector>

#include "llamada/base/result.hpp"
#include "llamada/launcher/options.hpp"

/// Several programs in one job (mpirun's ':'). All ranks execute mpirun itself, which becomes the program of
/// its rank: so the driver, and whoever replaces a rank, know of one program only.
namespace llamada::launcher {

/// The word that mpirun's arguments begin with when it is to become a part.
inline constexpr const char* become_part_word = "--become-part-of-job";

/// What every rank of such a job executes.
struct PartsCommand {
  std::vector<std::string> arguments;  ///< of mpirun
  std::vector<std::string> programs;   ///< the files that it becomes
};
/// Programs are looked for now; Errc::not_found or Errc::permission_denied.
Result<PartsCommand> command_for_parts(const std::vector<Part>& parts, const std::string& path);

/// In a rank: becomes the program of rank LLAMADA_RANK, whose number among the programs goes to
/// LLAMADA_APPNUM. Returns the exit code when that fails, after one sentence to standard error.
int become_part(const std::vector<std::string>& arguments);

}  // namespace llamada::launcher
