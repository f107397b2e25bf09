// Cuts of what all ranks record, and the ends of all ranks at once, after which they resume.

#include <sys/mman.h>

#include "llamada/base/check.hpp"
#include "sim_rank.hpp"

namespace llamada::mpi::sim {

void Job::begin_cuts() {
  cut_ = 1;
  for (auto& cut : cuts_) cut = cut_;
}

/// Each node has its own, and hears of the next cut by itself.
std::atomic<std::uint64_t>& Job::cut_of(int rank) {
  const int together = options_.ranks_per_linked_node;
  return cuts_[together == 0 ? 0 : static_cast<std::size_t>(rank / together)];
}

/// The ranks go on between the looks at one journal and at the next.
void Job::cut_when_due() {
  if (options_.outages == 0 || turn_ < next_cut_turn_) return;
  next_cut_turn_ = turn_ + random_.below(8);
  std::vector<RankState*> unread;
  for (auto& rank : ranks_)
    if (!rank->piece) unread.push_back(rank.get());
  const bool has_begun = unread.size() < ranks_.size();
  if (!has_begun) {
    if (!random_.chance(1, 3)) return;
    ++cut_;
  }
  read_for_cut(*unread[random_.below(unread.size())]);
  if (unread.size() > 1) return;
  for (auto& rank : ranks_) {
    rank->kept.resize(rank->piece->first);
    rank->kept.insert(rank->kept.end(), rank->piece->entries.begin(), rank->piece->entries.end());
    rank->piece.reset();
  }
}

void Job::read_for_cut(RankState& rank) {
  cut_of(rank.self) = cut_;
  auto piece = rank.reader->read(cut_);
  LLAMADA_CHECK(piece.has_value() && piece->first <= rank.kept.size());
  rank.piece = std::move(*piece);
}

void Job::end_all_when_due() {
  if (outage_turns_.empty() || turn_ < outage_turns_.front()) return;
  outage_turns_.erase(outage_turns_.begin());
  if (is_over_) return;
  for (auto& rank : ranks_) {
    if (!rank->started || rank->state == RankState::State::done || rank->state == RankState::State::dead)
      continue;
    rank->to_die = true;
    rank->state = RankState::State::ready;
    install_runtime(rank->runtime.get());
    swapcontext(&scheduler_, &rank->context);
    LLAMADA_CHECK(rank->state == RankState::State::dead);
  }
  ++outages_;
  ++generation_;
  begin_cuts();
  for (auto& rank : ranks_) resume(*rank);
  for (auto& rank : ranks_) start(*rank);
}

void Job::resume(RankState& rank) {
  rank.forget();
  rank.piece.reset();
  rank.incarnation = 0;
  rank.calls = 0;
  madvise(rank.memory, arena_bytes, MADV_DONTNEED);
  auto arena = log::ArenaWriter::open({rank.memory, arena_bytes}, {});
  LLAMADA_CHECK(arena.has_value());
  auto journal = log::Journal::open(**arena, journal_key);
  LLAMADA_CHECK(journal.has_value());
  for (const log::JournalEntry& entry : rank.kept) LLAMADA_CHECK(journal->append(entry).has_value());
  restored_ += rank.kept.size();
  const log::CutReader::Restored restored{rank.kept.size(), rank.kept.size()};
  rank.reader.emplace(log::PeerArena{rank.memory, arena_bytes}, journal_key, restored);
}

}  // namespace llamada::mpi::sim
