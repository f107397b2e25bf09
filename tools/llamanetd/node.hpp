#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "llamada/launcher/adoption.hpp"

namespace llamada::tools {

/// The command line of a node.
struct NodeOptions {
  std::uint32_t node = 0;
  std::string job_number;  ///< 16 hexadecimal digits
  std::vector<std::string> coordinators;
  std::uint16_t port = 0;
  int control_descriptor = -1;    ///< of drive_node(): a pipe with the job's secret in it
  int last_word_descriptor = -1;  ///< of drive_node(): a launcher::LastWord; -1: it needs none
};

/// One node of an MPI job on several, which an agent of mpirun has started here. Returns the exit code.
int run_node(const NodeOptions& options);

/// The process of it that is the parent of the ranks, below a guardian. Returns the exit code.
int drive_node(const NodeOptions& options, launcher::Adoption adoption);

}  // namespace llamada::tools
