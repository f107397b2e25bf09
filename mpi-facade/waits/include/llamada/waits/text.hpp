#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "llamada/waits/judge.hpp"

// What people are told of waits, in sentences.

namespace llamada::waits {

/// "rank 0 waits in MPI_Recv for rank 1, tag 5, communicator MPI_COMM_WORLD", or "rank 3 does not wait in
/// MPI"; without a full stop.
std::string describe_wait(const Survey& survey, std::uint32_t rank);

/// "Unmatched at rank 0: 3 messages from rank 1, tag 6." Empty if there is nothing.
std::string describe_unmatched(const Survey& survey, std::uint32_t rank);

/// A deadlock: who waits for whom, why nobody can go on, and what lies there unmatched. One line.
std::string describe_deadlock(const Survey& survey, const Verdict& verdict);

/// For whom everybody waits: the ranks between `rank` and the one that does not wait, in one sentence. Empty
/// if `rank` does not wait.
std::string describe_chain(const Survey& survey, std::uint32_t rank);

/// A line for each rank, ranks that wait alike together, and a sentence on the rank for which most wait.
std::string describe_job(const Survey& survey);

/// The rank at the end of the longest line of waiting ranks; nothing if none waits for one that runs.
std::optional<std::uint32_t> find_last(const Survey& survey);

}  // namespace llamada::waits
