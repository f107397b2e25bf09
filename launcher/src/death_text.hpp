#pragma once

#include <string>

#include "classification.hpp"
#include "llamada/launcher/report.hpp"

namespace llamada::launcher {

/// What a text about a death needs beside its record.
struct DeathContext {
  std::uint32_t rank_count = 0;
  std::string host;
  std::string profile;
  const qos::RankReplacement* policy = nullptr;
  std::uint32_t replacements_of_rank = 0;  ///< before this death
  std::string unprotected_because;         ///< why no rank can be replaced; empty for another reason
};

/// The block for the user: which rank, host, pid, cause, MPI call, and what was done about it. Whole lines.
/// Empty for an end that needs no words.
std::string describe_death(const DeathRecord& death, const Judgement& judgement, const DeathContext& context);

}  // namespace llamada::launcher
