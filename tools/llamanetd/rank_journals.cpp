#include "rank_journals.hpp"

namespace llamada::tools {
namespace {

using launcher::JournalPiece;
using launcher::RankJournal;

/// The facade's, by RankJournal: docs/internals/determinants.md.
constexpr log::LogKey keys[] = {{4, 0}, {5, 0}};

}  // namespace

RankJournals::Rank& RankJournals::rank(std::uint32_t slot) {
  if (slot >= ranks_.size()) ranks_.resize(slot + 1);
  if (!ranks_[slot]) ranks_[slot] = std::make_unique<Rank>();
  return *ranks_[slot];
}

Status RankJournals::restore(llamanet::Driver& driver, const JournalPiece& piece) {
  const auto index = static_cast<std::size_t>(piece.journal);
  if (index >= journal_count || piece.rank >= driver.slot_count() || driver.is_remote(piece.rank))
    return failure(Errc::invalid_argument, "rank {} has no journal {} here", piece.rank, index);
  log::CutReader::Restored& restored = rank(piece.rank).restored[index];
  // Those in between are no longer kept.
  if (piece.first < restored.end)
    return failure(Errc::invalid_argument, "entry {} of a journal of rank {} comes where {} is due",
                   piece.first, piece.rank, restored.end);
  if (auto done = driver.restore_journal(piece.rank, keys[index], piece.entries); !done) return done;
  restored.count += piece.entries.size();
  restored.end = piece.first + piece.entries.size();
  return {};
}

Result<std::vector<JournalPiece>> RankJournals::make_cut(llamanet::Driver& driver, std::uint64_t next_cut) {
  driver.begin_cut(next_cut);
  std::vector<JournalPiece> pieces;
  for (std::uint32_t slot = 0; slot < driver.slot_count(); ++slot) {
    if (driver.is_remote(slot) || driver.state(slot) == llamanet::SlotState::free) continue;
    if (auto mapped = map(driver, slot); !mapped) return propagate(mapped);
    for (std::size_t index = 0; index < rank(slot).readers.size(); ++index) {
      auto piece = rank(slot).readers[index].read(next_cut);
      if (!piece)
        return failure(piece.error().code(), "rank {} cannot be kept: {}", slot, piece.error().text());
      if (!piece->entries.empty())
        pieces.push_back({slot, static_cast<RankJournal>(index), piece->first, std::move(piece->entries)});
    }
  }
  return pieces;
}

/// An added slot that is done has no arena any more, and its application no successor.
Status RankJournals::map(llamanet::Driver& driver, std::uint32_t slot) {
  Rank& rank = this->rank(slot);
  if (!rank.readers.empty()) return {};
  auto arena = driver.map(slot);
  if (!arena) return arena.error().code() == Errc::not_found ? Status() : Status(propagate(arena));
  rank.arena = std::move(*arena);
  for (std::size_t index = 0; index < journal_count; ++index)
    rank.readers.emplace_back(rank.arena.reading(), keys[index], rank.restored[index]);
  return {};
}

}  // namespace llamada::tools
