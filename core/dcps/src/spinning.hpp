#pragma once

#include <chrono>
#include <cstdint>
#include <thread>

namespace llamada::dcps::detail {

/// How long a thread looks again and again before it sleeps: as long as that has paid off lately, so that who
/// waits for what comes seldom does not keep a core busy. Nobody looks so where there is only one core, nor
/// for some waits after somebody else has used this one for a whole slice meanwhile: the more often that
/// happens, the more waits.
///
/// Where others want the core, too, who looks gives it away after each look: those who have something to do
/// come to it at once, at the price of a change of process, which is less than to sleep and be woken. What
/// the others do meanwhile does not count as looking.
///
/// Threads: one at a time.
class Spinning {
 public:
  using Span = std::chrono::nanoseconds;

  /// On a machine of so many cores.
  explicit Spinning(unsigned cores = std::thread::hardware_concurrency());

  /// Zero: not at all.
  Span span() {
    if (barred_ == 0) return span_;
    --barred_;
    return Span::zero();
  }
  /// What was waited for has come after this long.
  void came_after(Span time);

  /// Whether the core is to be given to who else wants it after so many looks, from 1 on.
  bool yields_after(int looks) const;
  /// A yield took this long. False: somebody had the core for so long that spinning is not worth while.
  bool yielded(Span took);
  /// How much of that counts as looking.
  static Span cost_of_yield(Span took);

 private:
  Span longest_;
  Span span_;
  bool crowded_ = false;
  std::uint32_t barred_ = 0;       // waits to come
  std::uint32_t barred_next_ = 0;  // the next time
};

}  // namespace llamada::dcps::detail
