#pragma once

#include <optional>
#include <string>

namespace llamada::tools {

/// What `llamada qos` was asked. A file is a path or the name of a profile file, as mpirun's --qos takes it.
struct QosRequest {
  std::string file;
  std::optional<std::string> profile;  ///< Of match the writer's.
  std::optional<std::string> other;    ///< Of match the reader's.
  std::optional<std::string> topic;
  bool as_json = false;
};

/// `llamada qos check`: prints the resolved profile, where each value comes from, and what it means. Returns
/// 0, or 1 if the profile cannot be resolved.
int check_qos(const QosRequest& request);

/// `llamada qos match`: prints whether a writer of one profile and a reader of the other match, and why not.
/// Returns 0 if they do, 1 if they do not, 2 if a profile cannot be resolved.
int match_qos(const QosRequest& request);

}  // namespace llamada::tools
