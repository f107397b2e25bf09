#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "llamada/waits/report.hpp"

// Who can never go on: a pure function of what all ranks of a job say at two moments. It never accuses a job
// that may go on: whatever it does not know counts as something that may happen.

namespace llamada::waits {

/// A rank as a survey found it.
struct SurveyedRank {
  enum class Course : std::uint8_t {
    runs,   ///< it may do anything: it computes, is being replaced, or has not answered
    waits,  ///< it has answered by `report`
    ended,  ///< its process has ended for good: it does nothing for others any more
  };
  Course course = Course::runs;
  std::optional<Report> report;
  std::string name;                   ///< "rank 3"
  std::optional<std::uint32_t> node;  ///< it is on this node, which is not the one that was asked
};

/// All ranks of a job, by slot, from one survey: each answered after a look at all that had come for it.
using Survey = std::vector<SurveyedRank>;

/// Which ranks can never go on, if nothing is under way: a rank waits in vain if all that could end its wait
/// is up to ranks that wait in vain, or have ended.
std::vector<bool> find_stuck(const Survey& survey);

/// The ranks for which this one waits, lowest first: without those that have done their part already, as far
/// as that is known. Empty when it does not wait, or for something that is no rank's.
std::vector<std::uint32_t> awaited_ranks(const Survey& survey, std::uint32_t rank);

struct Verdict {
  std::vector<std::uint32_t> stuck;  ///< ranks that can never go on; empty: no deadlock is seen
  /// A chain of these, each waiting for the next: to the first again, or to one that waits for a rank that
  /// has ended.
  std::vector<std::uint32_t> chain;
  bool is_cycle = false;
  bool is_whole_job = false;  ///< no rank runs
};

/// The second survey began after the first was over. Ranks that have done anything between the two are not
/// accused, nor is who waits for them.
Verdict judge(const Survey& first, const Survey& second);

/// From this rank to whom it waits for, and so on, until a rank runs, has ended or comes again. The rank
/// itself is the first.
std::vector<std::uint32_t> chain_from(const Survey& survey, std::uint32_t rank);

}  // namespace llamada::waits
