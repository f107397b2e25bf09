#pragma once

#include <array>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <vector>

#include "llamada/replication/frame.hpp"

namespace llamada::replication {

/// A moment on a clock that never goes back.
using Time = std::chrono::nanoseconds;
inline constexpr Time never = Time::max();

struct SessionOptions {
  /// When a receiver may apply a datagram that has come ahead of another one. In order: the owner holds it
  /// (HeldDatagrams) until its turn.
  enum class Delivery : std::uint8_t { in_order, as_they_come };
  Delivery delivery = Delivery::in_order;
  /// Datagrams under way at most; a power of two.
  std::uint32_t window_datagrams_max = 1024;
  std::uint64_t window_bytes_max = 1 << 20;
  /// The window before anything is known of the path.
  std::uint32_t window_datagrams_first = 32;
};

/// The numbers of the datagrams between two lives of two endpoints on one link: which are under way, which
/// have come, which are lost, how many may follow, and when to acknowledge. A pure state machine: it knows
/// neither the datagrams' content nor a link nor a clock. The owner keeps what is needed to build a datagram
/// again, and builds it under its old number when lost() names it.
///
/// All state is soft: reset() loses nothing that a FOLLOW does not restore.
///
/// No call but the constructor allocates. Threads: one.
class Session {
 public:
  explicit Session(const SessionOptions& options);

  /// One of the ends has begun a new life: both count from 1 again.
  void reset();

  // -- Sending.

  /// Whether a datagram of so many bytes may leave now. One always may when none is under way.
  bool may_send(std::size_t size_bytes) const;
  /// The number that the next new datagram bears.
  std::uint64_t next_number() const { return next_; }
  /// That datagram has left.
  void sent(std::size_t size_bytes, Time now);
  /// The number of a datagram that is lost, each once: the owner builds and sends it again and calls
  /// resent(), or leaves it, and the timer names it later.
  std::optional<std::uint64_t> lost(Time now);
  void resent(std::uint64_t number, Time now);
  bool is_anything_under_way() const { return base_ != next_; }
  /// The least number that the peer has not applied.
  std::uint64_t first_under_way() const { return base_; }
  std::uint64_t window_datagrams() const { return window_; }

  /// The numbers that the peer has applied since the last call, without a gap; empty if last < first.
  struct Applied {
    std::uint64_t first = 1;
    std::uint64_t last = 0;
    bool is_news = false;  ///< the peer has more than was known
  };
  /// What the head of a frame says. A number that was never sent is ignored. Whether the peer waits in a call
  /// is only believed along with news: the frame may be an old one.
  Applied acknowledged(const Seen& seen, bool peer_answers_at_once, Time now);
  /// The same of a frame whose datagram was not here before.
  void set_peer_answers_at_once(bool at_once) { peer_answers_at_once_ = at_once; }

  // -- Receiving.

  enum class Arrival : std::uint8_t {
    next,    ///< apply it, then applied()
    ahead,   ///< hold it, or apply it if delivered as they come; then came()
    before,  ///< it was here before
    too_far  ///< drop it: it comes again
  };
  /// Sorts a datagram's number. One that was here before makes an acknowledgement due: the last one was lost,
  /// unless a stranger has sent the datagram again. So it has a little time, and many cost one.
  Arrival arrives(std::uint64_t number, Time now);
  /// The datagram after the last that was applied without a gap is applied now.
  void applied(Time now);
  /// A datagram that is ahead was held, or applied.
  void came(std::uint64_t number, Time now);
  /// The number of the last datagram that was applied without a gap.
  std::uint64_t applied_all() const { return all_; }
  /// For the head of the next frame.
  Seen seen() const;

  /// Whether an acknowledgement is to leave now even if nothing else does.
  bool owes_acknowledgement(Time now) const;
  /// Whether anything has come that no frame has acknowledged yet: for an owner that is about to sleep.
  bool has_unacknowledged() const { return acknowledge_at_ != never || is_urgent_; }
  void acknowledge_at_once() { is_urgent_ = true; }
  /// A frame with seen() has left.
  void acknowledgement_sent();

  /// When lost() or owes_acknowledgement() may say something else without an event; `never` if not.
  Time due() const;

 private:
  struct UnderWay {
    Time sent_at{};
    std::uint64_t order = 0;  // of all datagrams sent, repeated ones too
    std::uint32_t size_bytes = 0;
    bool is_seen = false;
    bool is_resent = false;
  };
  UnderWay& slot(std::uint64_t number) { return under_way_[number & (under_way_.size() - 1)]; }
  void note_seen(std::uint64_t number, Time now);
  void note_round_trip(Time sample);
  void open_window(std::uint64_t datagrams);
  void close_window();
  void arm_timer(Time now);
  Time timeout() const;
  bool has_come(std::uint64_t number) const;
  void clear_come(std::uint64_t number);
  void owe(Time now);

  static constexpr std::uint64_t ahead_max = 1024;

  SessionOptions options_;
  // Sending: [base_, next_) are under way.
  std::vector<UnderWay> under_way_;
  std::uint64_t base_ = 1;
  std::uint64_t next_ = 1;
  std::uint64_t unseen_ = 0;
  std::uint64_t unseen_bytes_ = 0;
  std::uint64_t order_ = 0;
  std::uint64_t order_seen_ = 0;  // the highest of those that the peer has
  std::uint64_t looked_at_ = 1;   // lost() goes on here
  std::uint64_t window_ = 0;
  std::uint64_t window_part_ = 0;  // datagrams seen since the window grew by one
  std::uint64_t slow_from_ = 0;    // from this window on it grows by one a round
  std::uint64_t episode_end_ = 0;  // a loss below belongs to one that has halved the window
  Time timer_ = never;
  std::uint32_t timeouts_ = 0;  // in a row
  Time round_trip_{};           // smoothed; 0: none was measured
  bool peer_answers_at_once_ = false;
  // Receiving.
  std::uint64_t all_ = 0;
  std::array<std::uint64_t, ahead_max / 64> come_{};  // bits of numbers that are ahead, modulo ahead_max
  std::uint32_t come_count_ = 0;                      // of these bits
  std::uint32_t unacknowledged_ = 0;
  bool is_urgent_ = false;
  Time acknowledge_at_ = never;
};

}  // namespace llamada::replication
