#pragma once

#include <cstdint>
#include <map>
#include <set>
#include <string>

namespace llamada::crash {

/// How often each point was passed, by name.
using Passes = std::map<std::string, std::uint64_t>;

/// From "name passes\n" for each.
Passes parse_passes(const char* text);
/// What parse_passes() reads, of this process.
std::string passes_so_far();

/// All crash points in the sources in this folder of the project.
std::set<std::string> points_in(const char* folder);
/// In those of core/log, core/topics and transport/llamanet.
std::set<std::string> points_in_sources();
/// Steps of WriterEndpoints and ReaderEndpoints, which no successor carries on: endpoint_crash_test.cpp.
bool is_of_endpoints(const std::string& point);
/// Steps of parked copies of ranks: tests/mpi/standby.py.
bool is_of_standbys(const std::string& point);
/// Of journals that a checkpoint shortens: tests/unit/log and the MPI programs with checkpoints pass them.
bool is_of_checkpoints(const std::string& point);

std::string only_in(const std::set<std::string>& left, const std::set<std::string>& right);

}  // namespace llamada::crash
