#pragma once

#include <array>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <functional>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "llamada/base/result.hpp"

namespace llamada::bed {

using Frame = std::vector<std::byte>;

/// What a link does to the frames of one direction. Shares are between 0 and 1.
struct Faults {
  double loss = 0;
  double duplicate = 0;
  double corrupt = 0;  ///< one bit behind the Ethernet header is flipped
  double reorder = 0;  ///< the frame is overtaken by the next three, or waits 5 ms if none come
  std::chrono::nanoseconds delay{0};
  std::chrono::nanoseconds jitter{0};  ///< added to the delay: between 0 and this, so that frames overtake
  bool cut = false;                    ///< nothing passes

  /// Changes what the words name: "loss=1%", "loss=0.01", "delay=2ms", "jitter=500us", "cut", "cut=no".
  /// Errors: parse_error.
  Status change(std::span<const std::string> words);
};

/// What has become of a direction's frames.
struct LaneCounters {
  std::uint64_t seen = 0;
  std::uint64_t sent = 0;  ///< duplicates included
  std::uint64_t lost = 0;
  std::uint64_t duplicated = 0;
  std::uint64_t corrupted = 0;
  std::uint64_t reordered = 0;
  std::uint64_t cut = 0;
  std::uint64_t overflowed = 0;  ///< more than frames_held_max had to wait
  std::string text() const;      ///< "seen=12 sent=11 …"
};

/// One direction of a link: decides by a seed what happens to each frame. A pure state machine.
///
/// What happens to a frame depends on the seed and on which frame of its kind (EtherType and IP protocol) it
/// is, and on nothing else: not on time, on other kinds (ARP comes when it likes), or on what else is set.
/// So the same datagrams lose the same ones in each run, and with a higher loss those and others.
class Lane {
 public:
  static constexpr std::size_t frames_held_max = 20'000;
  static constexpr int overtaken_by = 3;
  static constexpr std::chrono::nanoseconds overtaken_within = std::chrono::milliseconds(5);
  using Send = std::function<void(std::span<const std::byte>)>;

  Lane(std::uint64_t seed, Send send) : seed_(seed), send_(std::move(send)) {}

  /// For all frames, or those that have this MAC address as their source or destination: those obey only
  /// these. Frames that wait already go on as they are.
  Faults& faults() { return faults_; }
  Faults& faults(std::uint64_t mac) { return faults_of_.try_emplace(mac, faults_).first->second; }
  /// Begins the decisions anew, as if no frame had passed.
  void set_seed(std::uint64_t seed);
  const LaneCounters& counters() const { return counters_; }
  /// Frames that are delayed, or to be overtaken.
  std::size_t waiting() const { return delayed_.size() + held_.size(); }

  /// A frame has come. Changes its bytes if it is to be corrupted.
  void take(std::span<std::byte> frame, std::chrono::nanoseconds now);
  /// Sends what has waited long enough.
  void work(std::chrono::nanoseconds now);
  /// When work() has something to do next.
  std::optional<std::chrono::nanoseconds> due() const;

 private:
  struct Held {
    Frame frame;
    int overtaken = 0;
    std::chrono::nanoseconds until{0};
  };
  struct Waiting {
    Frame frame;
    bool is_to_be_overtaken = false;
  };

  const Faults& faults_for(std::span<const std::byte> frame) const;
  void delay(std::span<const std::byte> frame, bool is_to_be_overtaken, std::chrono::nanoseconds due,
             std::chrono::nanoseconds now);
  void leave(std::span<const std::byte> frame, bool is_to_be_overtaken, std::chrono::nanoseconds now);
  void send(std::span<const std::byte> frame);
  bool is_full();

  std::uint64_t seed_;
  Send send_;
  Faults faults_;
  std::map<std::uint64_t, Faults> faults_of_;
  std::map<std::uint32_t, std::uint64_t> frames_of_kind_;
  LaneCounters counters_;
  std::multimap<std::chrono::nanoseconds, Waiting> delayed_;
  std::deque<Held> held_;  // to be overtaken
};

/// The address of an Ethernet frame as a number; 0 where the frame is too short.
std::uint64_t destination_of(std::span<const std::byte> frame);
std::uint64_t source_of(std::span<const std::byte> frame);

}  // namespace llamada::bed
