#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <vector>

#include "llamada/launcher/job_arenas.hpp"
#include "llamada/llamanet/driver.hpp"
#include "llamada/log/cuts.hpp"

namespace llamada::tools {

/// What the ranks of this node record for their successors: JobArenas::make_cut() and restore_journal() over
/// llamaNET's driver, where slot = rank. docs/internals/job-store.md.
///
/// Threads: the driver's.
class RankJournals {
 public:
  /// Borrows the driver in each call.
  Status restore(llamanet::Driver& driver, const launcher::JournalPiece& piece);
  Result<std::vector<launcher::JournalPiece>> make_cut(llamanet::Driver& driver, std::uint64_t next_cut);

 private:
  static constexpr std::size_t journal_count = 2;
  struct Rank {
    std::array<log::CutReader::Restored, journal_count> restored{};
    llamanet::MappedArena arena;  // from the first cut on
    std::vector<log::CutReader> readers;
  };
  Rank& rank(std::uint32_t slot);
  Status map(llamanet::Driver& driver, std::uint32_t slot);

  std::vector<std::unique_ptr<Rank>> ranks_;
};

}  // namespace llamada::tools
