#pragma once

#include <array>
#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "gap.hpp"
#include "job_shared.hpp"
#include "llamada/base/result.hpp"
#include "llamada/launcher/job_arenas.hpp"
#include "llamada/launcher/job_control.hpp"
#include "llamada/log/journal.hpp"
#include "llamada/store/store.hpp"

namespace llamada::launcher {

/// Bytes of output, by 2 rank + stream (1, 2).
using OutputSizes = std::map<std::uint64_t, std::uint64_t>;
constexpr std::uint64_t output_group(std::uint32_t rank, std::uint8_t stream) {
  return 2 * std::uint64_t{rank} + stream;
}

/// The names of a job's streams in its store. docs/internals/job-store.md says what they hold.
namespace job_stream {
inline constexpr const char* plan = "plan";
inline constexpr const char* cuts = "cuts";
inline constexpr const char* outcomes = "outcomes";
inline constexpr const char* ledger = "ledger";
inline constexpr const char* output = "output";
inline constexpr const char* input = "input";
inline constexpr const char* process = "process";
inline constexpr const char* code = "code";
inline constexpr const char* checkpoint = "checkpoint";
inline constexpr const char* gap = "gap";
inline constexpr const char* output_gap = "output gap";
inline constexpr const char* numbers = "numbers";
inline constexpr const char* end = "end";
inline constexpr std::array all{plan, cuts,       outcomes, ledger,     output,  input, process,
                                code, checkpoint, gap,      output_gap, numbers, end};
}  // namespace job_stream
constexpr const char* stream_of(RankJournal journal) {
  return journal == RankJournal::outcomes ? job_stream::outcomes : job_stream::ledger;
}

/// The pairs of an item of `cuts` or `checkpoint`. Errors: parse_error.
Result<OutputSizes> sizes_in(const store::Item& item);
/// The bytes of such an item.
std::vector<std::byte> bytes_of(const OutputSizes& sizes);
/// What an item of `numbers` has. Errors: parse_error.
Result<SharedNumbers> numbers_in(const store::Item& item);
/// The bytes of such an item.
std::vector<std::byte> bytes_of(const SharedNumbers& numbers);
/// The first two numbers in the body of an item of `gap` or `output gap`. Errors: parse_error.
Result<Gap> gap_in(const store::Item& item);
/// What an item of stream_of(journal) has. Errors: parse_error.
Result<JournalPiece> piece_in(const store::Item& item, RankJournal journal);

/// What a job goes on from: its last whole cut.
struct JobPast {
  struct Journal {
    std::vector<log::JournalEntry> entries;
    Gap gap;
  };
  struct Rank {
    Journal outcomes, ledger;
    /// What mpirun has shown of standard output and standard error, or written to their files; of a job that
    /// starts again under the same mpirun, what mpirun was given.
    std::array<std::string, 2> shown;
    std::array<Gap, 2> shown_gap;  ///< bytes that are not in `shown`, since they are no longer kept
    std::array<std::string, 2> written_behind;  ///< what the rank wrote to them behind that
    /// The bytes of a stream that `shown` stands for.
    std::uint64_t given(std::size_t stream) const { return shown[stream].size() + shown_gap[stream].size(); }
    std::int32_t first_pid = 0;  ///< that the program was told; 0: none yet
    std::string host;            ///< that it was told; empty: none yet
  };

  control::Start plan;
  std::uint64_t last_cut = 0;  ///< 0: none was made
  OutputSizes confirmed;       ///< what mpirun has said that it has shown
  std::vector<Rank> ranks;
  std::string input;
  bool input_has_ended = false;
  SharedNumbers numbers;          ///< that the ranks move together
  std::vector<std::string> code;  ///< describe_code() of all files that ranks have mapped
  std::string end;                ///< why the job cannot be resumed; empty: it can
  std::uint32_t checkpoint = 0;   ///< that all ranks have written; 0: none
  /// The first one that the job can go on from: what was recorded before is no longer kept. 0: it can go on
  /// from the beginning.
  std::uint32_t checkpoint_min = 0;

  std::uint64_t outcome_count() const;
};

/// `given`: what mpirun, which is still there, was given of the ranks' output. Errors: not_found when the
/// store has no job; parse_error when it is damaged; those of reading.
Result<JobPast> read_past(const store::Store& store, const OutputSizes& given = {});

/// All but what grows with the job: no ranks and no input.
Result<JobPast> read_plan(const store::Store& store);

}  // namespace llamada::launcher
