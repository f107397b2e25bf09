#pragma once

#include <atomic>
#include <cstdint>
#include <utility>

/// One copy that two processes make together, each from its own end, in parts as they come to them: so one of
/// them does all of it while the other is busy elsewhere. A pure state machine over two words, of which each
/// end writes its own.
namespace llamada::mpi {

/// What an end says about the copy, in one word: what of it is claimed, counted in units from its end.
struct CopyClaim {
  std::uint32_t number = 0;  ///< of the copy; the words are used again for later ones
  std::uint32_t units = 0;   ///< at most units_max
  bool is_open = false;      ///< not all of it is copied, or it may yet be taken back

  static constexpr std::uint32_t units_max = 0x7fffffff;
  constexpr std::uint64_t word() const {
    return std::uint64_t{number} << 32 | std::uint64_t{units} << 1 | (is_open ? 1 : 0);
  }
  static constexpr CopyClaim of(std::uint64_t word) {
    return {static_cast<std::uint32_t>(word >> 32), static_cast<std::uint32_t>(word) >> 1, (word & 1) != 0};
  }
};

/// One end's view of a copy. The two ends differ in where they begin and in who gives way: the lower end
/// begins at byte 0 and insists on what it has claimed; the upper one begins at the last unit, and takes back
/// what it finds claimed by the other. Each claims first and looks then (seq_cst both), so that of two claims
/// of the same unit at least one is seen by the other side.
///
/// The end whose process knows first that there will be a copy opens it, and uses its word for
/// another copy only when this one is over: so a later number in it says to the other end that it is.
///
/// Threads: one for each end.
class SharedCopy {
 public:
  enum class End : std::uint8_t { lower, upper };
  struct Part {
    std::uint64_t first = 0;
    std::uint64_t bytes = 0;  ///< 0: there is nothing to copy now
  };

  /// `opens`: this end is the first, and sets `own` to nothing claimed.
  SharedCopy(std::atomic<std::uint64_t>& own, const std::atomic<std::uint64_t>& other, std::uint32_t number,
             std::uint64_t bytes, End end, bool opens);

  /// Claims half, or as much as is claimed at once, before the other end knows of the copy, which spares both
  /// a look: what claim() gives first.
  enum class Ahead : std::uint8_t { half, all };
  void claim_ahead(Ahead wanted);
  /// This end's first claim is of all that nobody has claimed, in place of half.
  void want_all() { wants_all_ = true; }
  /// What this end is to copy next, nobody else's; copied() has to follow. Nothing when all is claimed, or
  /// the other end has yet to decide about what both want.
  Part claim();
  void copied();
  End end() const { return end_; }
  /// Whether this end has not begun.
  bool is_fresh() const { return taken_ == 0; }
  /// Whether all of it is copied, by whomever. Acquire: what the other end has copied is there.
  bool is_over();
  /// Whether this end has said something since the last question: the other one may be waiting for it.
  bool has_said() { return std::exchange(has_said_, false); }
  /// Whether claim() or is_over() may give something else than before.
  bool is_changed() const { return other_.load(std::memory_order_acquire) != seen_; }

  /// Pieces of memory that are not worth sharing are smaller.
  static constexpr std::uint64_t unit_bytes_min = 4096;

 private:
  CopyClaim look();
  void say(std::uint32_t units, bool is_open, std::memory_order order = std::memory_order_seq_cst);
  std::uint32_t half() const { return units_ - units_ / 2; }
  std::uint32_t share_of(std::uint32_t left, std::uint32_t others) const;
  Part claim_from_below();
  Part claim_from_above();
  Part take(std::uint32_t up_to);

  std::atomic<std::uint64_t>* own_;
  const std::atomic<std::uint64_t>& other_;
  std::uint64_t bytes_;
  std::uint64_t unit_bytes_;
  std::uint64_t seen_ = ~std::uint64_t{0};  // the other's word at the last look
  std::uint32_t number_;
  std::uint32_t units_;
  std::uint32_t claimed_ = 0;  // by this end
  std::uint32_t taken_ = 0;    // of it: given out by claim()
  std::uint32_t done_ = 0;     // of it: copied
  End end_;
  bool opens_;
  bool wants_all_ = false;
  bool is_ahead_ = false;  // what is claimed has not been given out
  bool has_said_ = false;
  bool is_over_ = false;
};

}  // namespace llamada::mpi
