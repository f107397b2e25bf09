#pragma once

#include <array>
#include <optional>
#include <string>
#include <string_view>

#include "gap.hpp"
#include "llamada/launcher/job_arenas.hpp"
#include "output_journal.hpp"

namespace llamada::launcher {

/// Where a replacement is in its replay, for what it writes to standard output.
enum class Repetition {
  before,  ///< in calls before its predecessors' last one: what it writes they have written, too
  within,  ///< in that call, or it has not repeated all that they did there
  over,    ///< it may write what is new
};

/// The standard output and standard error of a rank that may be replaced, over all its incarnations: decides
/// what is delivered to the user. A replacement's bytes are compared with those of its predecessors and not
/// delivered again; new ones on standard output are held back until it may write any. Pure.
class RankOutput {
 public:
  struct Delivery {
    std::string bytes;  ///< for the user
    /// On standard output: the replay has diverged. On standard error it is no error, and `bytes` has all.
    std::optional<OutputJournal::Difference> difference;
  };

  /// What the present incarnation wrote next. `stream`: 0 standard output, 1 standard error.
  Delivery take(int stream, std::string_view bytes);
  /// What a rank that is resumed wrote to a stream before, and was delivered; before anything else is taken.
  /// `gap`: what is no longer kept of that, and is not in `bytes`. `undelivered`: what it wrote behind all
  /// that.
  void restore(int stream, std::string_view bytes, const Gap& gap, std::string undelivered);
  /// How much the present incarnation has written to both.
  WrittenOutput written() const;
  /// The present incarnation goes on from a checkpoint, before which predecessors had written so much: what
  /// was not delivered of that is to be delivered now. `stream`: as for take().
  std::string go_on_from(int stream, std::uint64_t place);
  /// A replacement begins. `is_silent`: its predecessors had begun no MPI call, so it says nothing of its
  /// replay.
  void begin_incarnation(bool is_silent);

  /// What standard output says of a replay that has come to a place.
  enum class Finding {
    as_before,
    wrote_more,  ///< before its predecessors' last call, than they had
    wrote_less,  ///< at the end of the replay, than they had
  };
  /// All that the replacement has written so far has been taken. `may_judge`: nobody else writes there. After
  /// `as_before` and Repetition::over comes release().
  Finding reached(ReplayPlace place, bool may_judge);
  /// The present incarnation may write what is new: what was held is delivered.
  Delivery release();

  Repetition repetition() const { return repetition_; }
  /// Whether the present incarnation has yet to repeat a part of standard output.
  bool is_short() const { return journals_[0].repeating(); }
  /// How much of standard output the present incarnation has written, as far as it was compared.
  OutputJournal::Difference end() const { return {journals_[0].position(), journals_[0].position(), {}}; }

 private:
  std::array<OutputJournal, 2> journals_;
  std::array<std::string, 2> undelivered_;         ///< of a rank that is resumed,
  std::array<std::uint64_t, 2> undelivered_at_{};  ///< from these places on
  std::string held_;  ///< new bytes on standard output that may not be delivered yet: not in the journal
  Repetition repetition_ = Repetition::over;
  bool is_silent_ = true;  ///< nothing is known of the predecessors' last call
};

}  // namespace llamada::launcher
