#pragma once

#include <chrono>
#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <string_view>

#include "llamada/base/result.hpp"
#include "llamada/qos/profile.hpp"

namespace llamada::launcher {

/// What an injected failure is.
enum class InjectDeed {
  kill,
  stop,         ///< SIGSTOP, and SIGCONT after a while
  slow,         ///< stopped for a part of the time, again and again
  pause,        ///< a node stands still for a while, as a virtual machine that is paused
  memory_full,  ///< the memory for histories is used up
};

/// Whom it hits.
enum class InjectTarget { rank, any_rank, driver, mpirun, node };

/// When it happens.
enum class InjectTrigger {
  after,      ///< a time since the start of the job, or of the incarnation that the rule names
  every,      ///< again and again, since the start of the job
  at_call,    ///< the rank begins its n-th MPI call
  in_call,    ///< the rank is inside the n-th call of one MPI function
  in_middle,  ///< the same, behind the first thing that the call has published
  at_step,    ///< the rank passes a crash point of the library for the n-th time
};

/// One failure to cause, for tests of programs and of ourselves (docs/injection.md). Grammar (words may be in
/// either case, N is a decimal number from 1, and MPI_… and POINT are taken as they are):
///
///     rule   = "kill" whom when [ life ] [ "signal" SIGNAL ] [ seed ]
///            | "kill" ( "driver" | "mpirun" ) [ "after" T ]
///            | "kill" "node" NAME [ "after" T ]                   NAME as in --host
///            | "pause" "node" NAME [ "after" T ] "for" T
///            | "stop" whom time "for" T [ life ] [ seed ]
///            | "slow" whom "by" P "%" [ "after" T ] [ "for" T ] [ seed ]
///            | "memory" "full" "after" SIZE "of" "log"
///     whom   = "rank" R | "any" [ "rank" ]
///     when   = time
///            | "at" "call" N
///            | "in" [ "the" "middle" "of" ] MPI_Function [ N ]
///            | "at" "step" POINT [ ":" N ]                         POINT as "publish:committed"
///     time   = "after" T | "every" [ "~" ] T [ N "times" ]
///     life   = "of" ( "incarnation" N | "replay" )
///     seed   = "seed" S
///     T      = a number with "s", "ms" or "us";  SIZE = a number with "KiB", "MiB" or "GiB"
///
/// The unit may stick to the number ("1s", "50%", "100MiB"); of a time it is seconds when missing.
struct InjectRule {
  std::string text;  ///< as it was written
  InjectDeed deed = InjectDeed::kill;
  InjectTarget target = InjectTarget::rank;
  std::uint32_t rank = 0;  ///< of target rank
  InjectTrigger trigger = InjectTrigger::after;
  std::chrono::nanoseconds delay{0};   ///< of after and every; above 0 of every
  bool spread = false;                 ///< of every: at random times, `delay` apart on average
  std::optional<std::uint64_t> times;  ///< of every: how often; else as long as the job runs
  std::string name;  ///< of in_call and in_middle the function, of at_step the point, of target node the host
  std::uint64_t count = 1;  ///< of the calls and steps
  std::optional<std::uint32_t> incarnation;
  bool in_replay = false;  ///< of after: since a replacement's start, while that repeats its past
  int signal = 9;          ///< of kill
  std::optional<std::chrono::nanoseconds> length;  ///< of stop, pause and slow; slow without it: for ever
  double percent = 0;                              ///< of slow: how much of the time it is stopped, 1 to 99
  std::uint64_t size_bytes = 0;                    ///< of memory_full
  std::optional<std::uint64_t> seed;               ///< of what is drawn: any_rank, spread

  bool operator==(const InjectRule&) const = default;

  /// Whether the rank does it by itself, at a call or a step.
  bool is_by_rank() const { return trigger != InjectTrigger::after && trigger != InjectTrigger::every; }
  /// Whether the seed decides something.
  bool draws() const { return target == InjectTarget::any_rank || spread; }
};

/// Errc::parse_error with the word that is wrong, what may stand there, and the nearest legal rule.
Result<InjectRule> parse_inject_rule(std::string_view text);

/// Whether MPI has a function of this name, "MPI_Send".
using IsMpiFunction = std::function<bool(std::string_view)>;
/// Errc::invalid_argument if the rule names a function that MPI has not; names the nearest legal rule.
Status check_function(const InjectRule& rule, const IsMpiFunction& is_mpi_function);
/// Errc::incompatible if the rule fills a log that jobs of this profile do not keep.
Status check_has_log(const InjectRule& rule, const qos::Profile& profile, std::string_view profile_name);

/// A signal by name ("SIGSEGV", "SEGV", "kill") or number. Errc::invalid_argument else.
Result<int> parse_signal(std::string_view name);
/// "SIGKILL", or "signal 40".
std::string signal_name(int signal);

}  // namespace llamada::launcher
