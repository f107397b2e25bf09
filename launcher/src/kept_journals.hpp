#pragma once

#include <cstdint>
#include <deque>
#include <map>
#include <optional>
#include <utility>
#include <vector>

#include "gap.hpp"
#include "llamada/launcher/job_arenas.hpp"

namespace llamada::launcher {

/// The checkpoint that an entry of this journal says its rank has passed; 0: it says something else. The
/// entries are the facade's: docs/internals/determinants.md.
std::uint32_t passed_checkpoint(RankJournal journal, const log::JournalEntry& entry);

/// Which items of the job's store have its journals, and which of them nobody needs. A job that goes on from
/// a checkpoint needs of each journal what lies before the first checkpoint that the rank passed, and what
/// lies behind the one that it goes on from. Pure.
class KeptJournals {
 public:
  /// The store has this piece in the item with this number. In the order of the items.
  void add(const JournalPiece& piece, std::uint64_t item);

  /// What is to be dropped of a journal.
  struct Drop {
    std::uint32_t rank = 0;
    RankJournal journal = RankJournal::outcomes;
    Gap gap;
    std::vector<std::uint64_t> items;  ///< which have nothing but entries of the gap
  };
  /// All ranks have passed this checkpoint, and the job never goes on from an earlier one. The journals of
  /// which something is to be dropped.
  std::vector<Drop> drop_before(std::uint32_t checkpoint);

 private:
  struct Item {
    std::uint64_t number = 0;
    std::uint64_t first = 0;  ///< the index of its first entry
    std::uint64_t end = 0;
  };
  struct Passed {
    std::uint32_t checkpoint = 0;
    std::uint64_t index = 0;  ///< of the first entry that names it, or a later one
  };
  struct Journal {
    std::uint32_t last_passed = 0;             ///< the highest
    std::optional<std::uint64_t> begin_end{};  ///< the end of the items up to the first passed checkpoint
    std::deque<Item> items{};                  ///< behind that
    std::deque<Passed> passed{};               ///< by checkpoint
  };

  std::map<std::pair<std::uint32_t, RankJournal>, Journal> journals_;
};

}  // namespace llamada::launcher
