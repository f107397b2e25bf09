#pragma once

#include <algorithm>
#include <cstdint>

#include "llamada/base/pause.hpp"

namespace llamada {

/// When to look first for the answer to what was sent just now.
///
/// A look in vain shares the line with the core that is about to write it, which then has to take it back:
/// the answer comes later, by a transfer between the cores, than to somebody who looks when it is there. So
/// who waits for an answer lets as much time go by as answers take. That is learned from how they were found:
/// a little less each time that one was there at the first look, more when one came soon after it. Not much
/// more: who looks late answers late, so two whose answers take now longer, now shorter would drive each
/// other's waiting up.
///
/// Threads: one at a time.
class FirstLook {
 public:
  /// Lets the time go by in which the answer is not there.
  void wait() const { pass_cycles(delay_cycles()); }

  /// The answer was there so many looks after the first.
  void found_after(unsigned looks) {
    if (looks == 0) {
      // That many in a row have been there for long.
      const bool is_late = ++prompt_in_a_row_ >= prompt_in_a_row_max;
      delay_ -= is_late ? delay_ / 8 : delay_ / 128;
      return;
    }
    prompt_in_a_row_ = 0;
    // A message that took much longer was no answer to the one just sent.
    if (looks <= looks_max) delay_ = std::min(delay_ + delay_ / 64 + scale, delay_max);
  }

  std::uint32_t delay_cycles() const { return delay_ / scale; }

  static constexpr std::uint32_t delay_cycles_max = 2048;

 private:
  static constexpr std::uint32_t scale = 64;
  static constexpr std::uint32_t delay_max = delay_cycles_max * scale;
  static constexpr unsigned looks_max = 128;
  static constexpr unsigned prompt_in_a_row_max = 32;

  std::uint32_t delay_ = 0;  // in parts of a cycle
  unsigned prompt_in_a_row_ = 0;
};

}  // namespace llamada
