#include "kept_journals.hpp"

#include <algorithm>

#include "llamada/base/check.hpp"

namespace llamada::launcher {
namespace {

/// The value checkpoint_passed of outcomes, and `passed` of the ledger. Both have the number in the low half.
constexpr std::uint32_t head_of_passed(RankJournal journal) {
  return journal == RankJournal::outcomes ? 7U | 0x50001U << 8 : 6U;
}

}  // namespace

std::uint32_t passed_checkpoint(RankJournal journal, const log::JournalEntry& entry) {
  return entry.head == head_of_passed(journal) ? static_cast<std::uint32_t>(entry.value) : 0;
}

void KeptJournals::add(const JournalPiece& piece, std::uint64_t item) {
  Journal& journal = journals_[{piece.rank, piece.journal}];
  std::uint64_t index = piece.first;
  for (const log::JournalEntry& entry : piece.entries) {
    // A later life of the job may pass one again. What it records there follows what is there already.
    if (const auto checkpoint = passed_checkpoint(piece.journal, entry); checkpoint > journal.last_passed) {
      journal.passed.push_back({checkpoint, index});
      journal.last_passed = checkpoint;
    }
    ++index;
  }
  if (journal.begin_end) return journal.items.push_back({item, piece.first, index});
  if (!journal.passed.empty()) journal.begin_end = index;
}

std::vector<KeptJournals::Drop> KeptJournals::drop_before(std::uint32_t checkpoint) {
  std::vector<Drop> drops;
  for (auto& [key, journal] : journals_) {
    const auto from = std::ranges::lower_bound(journal.passed, checkpoint, {}, &Passed::checkpoint);
    // A rank that has not opened its ledger since has not noted the checkpoint there.
    if (from == journal.passed.end()) continue;
    journal.passed.erase(journal.passed.begin(), from);
    const std::uint64_t needed = journal.passed.front().index;
    Drop drop{key.first, key.second, {}, {}};
    for (; !journal.items.empty() && journal.items.front().end <= needed; journal.items.pop_front())
      drop.items.push_back(journal.items.front().number);
    if (drop.items.empty()) continue;
    LLAMADA_CHECK(!journal.items.empty());
    // The last entry of an item may come once more in the next one.
    drop.gap = {*journal.begin_end, std::max(*journal.begin_end, journal.items.front().first)};
    drops.push_back(std::move(drop));
  }
  return drops;
}

}  // namespace llamada::launcher
