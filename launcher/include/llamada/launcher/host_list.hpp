#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "llamada/base/result.hpp"

namespace llamada::launcher {

/// Most hosts of one list, and most slots of one host.
inline constexpr std::size_t host_count_max = 4096;
inline constexpr std::uint32_t host_slots_max = 1'000'000;

/// A host of --host or of a host file. The same name twice is one host with the slots of both.
struct HostEntry {
  std::string name;                        ///< as the user wrote it: a name, user@name, an address
  std::optional<std::uint32_t> slots;      ///< how many ranks it is for; none: the user did not say
  std::optional<std::uint32_t> max_slots;  ///< more than that never run there
  std::string place{};                     ///< where the user wrote it first, "hosts:3"; empty: in an option
  /// Wherever they stand.
  bool operator==(const HostEntry& other) const {
    return name == other.name && slots == other.slots && max_slots == other.max_slots;
  }
};

/// A host file in the spelling of Open MPI ("node1 slots=4 max-slots=8") or of MPICH ("node1:4"), a host on
/// each line; '#' begins a comment. `file` names it in errors. Pure.
/// Errors: invalid_argument, in one sentence with file and line.
Result<std::vector<HostEntry>> parse_host_file(std::string_view text, std::string_view file);

/// The value of --host: "node1,node2:4". Pure. Errors: invalid_argument.
Result<std::vector<HostEntry>> parse_host_option(std::string_view text);

/// The list with all hosts for which `is_one` holds as one host, which has the first one's name and the slots
/// of all. Pure.
std::vector<HostEntry> as_one_host(const std::vector<HostEntry>& hosts,
                                   const std::function<bool(const HostEntry&)>& is_one);

/// Whether the name means the machine whose host name is `own_host`: "localhost", an address that loops back,
/// one of `own_addresses`, or the host's name, with or without its domain. Pure; no name is looked up.
bool is_this_host(std::string_view name, std::string_view own_host,
                  const std::vector<std::string>& own_addresses);

}  // namespace llamada::launcher
