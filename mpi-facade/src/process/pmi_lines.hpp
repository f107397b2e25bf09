#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "llamada/base/result.hpp"

// The lines of PMI-1, the wire protocol by which MPICH's process managers and Slurm's (srun --mpi=pmi2) talk
// with the processes that they start: "cmd=get_result rc=0 msg=success value=v\n". Pure functions over text.

namespace llamada::mpi {

/// No line of a process manager is longer.
inline constexpr std::size_t pmi_line_bytes_max = 16 << 10;

struct PmiField {
  std::string_view name, value;
};

/// A line with its end. The values have no blanks and no ends of lines in them.
std::string pmi_line(std::string_view command, const std::vector<PmiField>& fields);

/// One line, without its end. Of a field that comes twice the first counts. Errors: parse_error.
Result<std::map<std::string, std::string, std::less<>>> parse_pmi_line(std::string_view line);

/// The node of each of `size` processes, from the value of PMI_process_mapping:
/// "(vector,(first node,nodes,processes on each),…)", over and over until all have one. Nodes are numbered
/// from 0 on in the order of their first processes. Errors: parse_error.
Result<std::vector<std::uint32_t>> parse_process_mapping(std::string_view text, std::uint32_t size);

}  // namespace llamada::mpi
