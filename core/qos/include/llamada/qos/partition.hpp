#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "llamada/base/result.hpp"
#include "llamada/qos/policy.hpp"

namespace llamada::qos {

inline constexpr std::size_t partition_names_max = 64;
inline constexpr std::size_t partition_name_length_max = 255;

/// PARTITION (DDS 1.4, 2.2.3.13): writers and readers meet only if their publisher and subscriber have a
/// partition in common. No names at all are the one partition "". Changeable: matches come and go with it.
struct Partition {
  static constexpr PolicyId id = PolicyId::partition;

  /// Names, or patterns of fnmatch (POSIX 1003.2, 2.13): "*", "?", "[a-c]"; see fits_name_pattern().
  std::vector<std::string> name;

  bool operator==(const Partition&) const = default;
};

/// Errc::invalid_argument if there are more names, or longer ones, than the limits above, or a NUL is in one.
Status check_consistent(const Partition& policy);

/// True if a name of the one matches a name of the other: they are equal, or one is a pattern that the other
/// fits. Two patterns never match each other, as the standard has it.
bool partitions_match(const Partition& left, const Partition& right);

/// "name 'a', 'b*'"; "name ''" without names.
std::string to_string(const Partition& policy);

}  // namespace llamada::qos
