#pragma once

#include <sys/types.h>

#include <array>
#include <atomic>
#include <cstdint>
#include <map>
#include <memory>
#include <string>

#include "llamada/llamanet/driver.hpp"

// Four processes of one domain, two that write a topic and two that read it. One of them may be killed at a
// crash point; the others must go on as if it had only left.

namespace llamada::crash {

inline constexpr std::uint32_t party_count = 4;
inline constexpr std::uint32_t writer_count = 2;  ///< parties 0 and 1 write, 2 and 3 read
inline constexpr std::uint64_t samples_each = 1500;

inline bool is_writer(std::uint32_t party) { return party < writer_count; }

/// What the writers offer, and how the readers take it.
enum class Kind { keep_all, keep_last };

/// What the processes share beside the middleware: what they found out, for the test.
struct PartyBoard {
  /// Its number + 1, once a party is dead.
  std::atomic<std::uint32_t> victim_is_dead;
  std::atomic<std::uint32_t> pids[party_count];
  struct Reader {
    std::atomic<std::uint32_t> matched[writer_count];
    std::atomic<std::uint64_t> last[writer_count];  ///< the highest number seen of each
    std::atomic<std::uint32_t> died[writer_count];  ///< 1: on_unmatched said so; 2: that it left
  } readers[party_count];
  char error[party_count][512];
  char points[party_count][8192];  ///< "name passes" lines
};

using PartyPasses = std::map<std::string, std::uint64_t>;

struct PartyOutcome {
  std::string error;  ///< empty: all that lived on did what they had to
  bool victim_died = false;
  std::array<PartyPasses, party_count> passes;  ///< of those that ended in order
};

/// Runs the four; `victim` is killed at its `count`th pass of `point`, nobody when that is empty.
PartyOutcome run_parties(Kind kind, std::uint32_t victim = 0, const std::string& point = {},
                         std::uint64_t count = 1);

/// The process of one party. Does not return.
[[noreturn]] void run_party(Kind kind, std::uint32_t party, const std::string& socket_name,
                            PartyBoard& board);

}  // namespace llamada::crash
