#pragma once

#include <cstdint>
#include <deque>
#include <map>
#include <optional>
#include <span>
#include <string_view>
#include <utility>

#include "job_streams.hpp"
#include "kept_journals.hpp"

namespace llamada::launcher {

/// Drops what ranks recorded behind the first checkpoint and before the one before last from the store of a
/// job: it goes on from one of the last two. docs/internals/job-store.md.
///
/// One thread, that of JobStreams, which must outlive it.
class JobShortening {
 public:
  explicit JobShortening(JobStreams& streams) : streams_(streams) {}

  /// Goes on with what the store has of this past. Errors: those of the store; parse_error.
  Status go_on(const JobPast& past);

  /// Has been appended as the newest item of its stream.
  void has(const JournalPiece& piece);
  void has_output(std::uint64_t group, const Gap& bytes);
  /// `written`: what ranks had written before, as far as it is known.
  void has_checkpoint(std::uint32_t number, const OutputSizes& written);

  /// A cut was ended. `shown`: as it says.
  void has_cut(const OutputSizes& shown) { shown_ = shown; }

  /// Drops what is no longer needed once the cuts before the present one are durable, as they are. Errors:
  /// those of the store.
  Status shorten();
  /// JobPast::checkpoint_min.
  std::uint32_t checkpoint_min() const { return checkpoint_min_; }

 private:
  struct Checkpoint {
    std::uint32_t number = 0;
    std::uint64_t item = 0;
    std::uint64_t cut = 0;
    OutputSizes written{};
  };
  struct OutputItem {
    std::uint64_t number = 0;
    Gap bytes;
  };

  void note_output(std::uint64_t group, const OutputItem& item);
  void has_checkpoint(Checkpoint checkpoint);
  Status drop(const KeptJournals::Drop& what, std::uint32_t checkpoint);
  Status drop_output(const OutputSizes& written);
  Status tell_gap(const char* stream, std::uint64_t group, std::span<const std::byte> body);

  JobStreams& streams_;
  KeptJournals journals_;
  std::uint32_t checkpoint_min_ = 0;
  std::uint32_t shortened_to_ = 0;                          ///< by this process
  OutputSizes shown_;                                       ///< as the last cut says
  std::deque<Checkpoint> checkpoints_;                      ///< of which something may still be dropped
  std::optional<OutputSizes> first_written_;                ///< before the first checkpoint
  std::map<std::uint64_t, std::deque<OutputItem>> output_;  ///< by group: the items of it
  std::map<std::pair<std::string_view, std::uint64_t>, std::uint64_t> gaps_;  ///< the item with each gap
};

}  // namespace llamada::launcher
