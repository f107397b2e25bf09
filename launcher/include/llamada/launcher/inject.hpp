#pragma once

#include <chrono>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "llamada/base/result.hpp"

namespace llamada::launcher {

/// When an injected death happens.
enum class InjectTrigger {
  after,      ///< a time since the start of the job, or of the incarnation that the rule names
  at_call,    ///< the rank begins its n-th MPI call
  in_call,    ///< the rank is inside the n-th call of one MPI function
  in_middle,  ///< the same, behind the first thing that the call has published
  at_step,    ///< the rank passes a crash point of the library for the n-th time
};

/// One failure to cause, for tests of programs and of ourselves. Grammar (words may be in either case, N is a
/// decimal number from 1, and MPI_… and POINT are taken as they are):
///
///     rule   = "kill" "rank" R when [ "of" "incarnation" N ] [ "signal" SIGNAL ]
///     when   = "after" T [ "s" | "ms" | "us" ]
///            | "at" "call" N
///            | "in" [ "the" "middle" "of" ] MPI_Function [ N ]
///            | "at" "step" POINT [ ":" N ]        POINT as "publish:committed"
///
/// The unit may stick to the number ("1s"); it is seconds when missing.
struct InjectRule {
  std::string text;  ///< as it was written
  std::uint32_t rank = 0;
  InjectTrigger trigger = InjectTrigger::after;
  std::chrono::nanoseconds delay{0};  ///< of after
  std::string name;                   ///< of in_call and in_middle the function, of at_step the point
  std::uint64_t count = 1;            ///< of all but after
  std::optional<std::uint32_t> incarnation;
  int signal = 9;

  bool operator==(const InjectRule&) const = default;
};

/// Errc::parse_error with the word that is wrong and what may stand there.
Result<InjectRule> parse_inject_rule(std::string_view text);

/// A signal by name ("SIGSEGV", "SEGV", "kill") or number. Errc::invalid_argument else.
Result<int> parse_signal(std::string_view name);
/// "SIGKILL", or "signal 40".
std::string signal_name(int signal);

}  // namespace llamada::launcher
