#pragma once

#include <array>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <utility>
#include <vector>

#include "llamada/base/result.hpp"
#include "llamada/llamanet/node_book.hpp"
#include "llamada/llamanet/pair_probe.hpp"
#include "llamada/replication/link.hpp"
#include "probe_frame.hpp"

namespace llamada::llamanet {

/// Finds out, before a job's ranks start, by which links this node's driver and those of the other nodes
/// reach each other, and how long datagrams may be. Each driver asks all others, by all links and in all
/// sizes at once, over and over; and it answers what they ask.
///
/// A link or a size is given up when others have been answered often that were asked for at the same time. So
/// a slow peer is not taken for one that cannot be reached: only when nothing at all comes does the time
/// decide. Later the same questions find out whether the nodes still reach each other.
///
/// It knows neither sockets nor a clock. Threads: one.
class LinkProbe {
 public:
  struct Options {
    std::uint32_t own_node = 0;
    std::uint64_t job_number = 0;
    SipHashKey key;
    std::vector<BookNode> nodes;
    /// How long a peer may keep silent by all links.
    replication::Time silence_max = std::chrono::seconds(10);
  };
  /// Without `ethernet` only UDP is asked for.
  LinkProbe(Options options, std::unique_ptr<replication::Link> udp,
            std::unique_ptr<replication::Link> ethernet);

  /// Takes what has come, answers it, and asks again where it is time. `wall`: the time since 1970.
  void work(replication::Time now, replication::Time wall);
  /// When work() is to be called even if nothing comes; `never` once all is known.
  replication::Time due() const { return due_; }
  bool is_over() const { return over_count_ == peers_.size(); }
  /// By node; that of the own one says nothing. Complete once is_over().
  std::vector<PairProbe> results() const;
  std::vector<int> descriptors() const;

  /// All that was to be known is: raw frames are not needed any more.
  void leave_ethernet();
  /// Asks each other node once more, by UDP.
  void ping();
  /// The nodes of which anything has come since the last call that had not come before.
  std::vector<std::uint32_t> take_heard();
  /// From now on nothing of these nodes is taken; none: of all.
  void stop_hearing(std::vector<std::uint32_t> nodes) { not_heard_ = std::move(nodes); }

  /// The lane on which the driver of a node takes probes by raw Ethernet.
  static std::uint16_t probe_lane(std::uint32_t node);

 private:
  /// What was asked for by one link, in some sizes, the longest first.
  struct Lane {
    replication::Link* link = nullptr;
    std::vector<std::uint32_t> sizes_bytes;
    std::vector<std::uint32_t> answers;  // how many, by size
    std::uint32_t answers_max() const;
    std::uint32_t best_bytes() const;
    bool is_decided() const;
  };
  struct Peer {
    std::uint32_t node = 0;
    Lane udp, ethernet;
    std::uint32_t tries = 0;
    std::array<replication::Time, 64> asked_at{};  // by the number of the try
    replication::Time round_trip = replication::never;
    replication::Time clock_ahead{0};
    bool is_over = false;
    std::uint32_t asked_number = 0, answered_number = 0;  // the last that has come of its tries and of ours
    bool is_heard = false;                                // since take_heard()
    void note(const ProbeFrame& frame);
  };

  void meet(Peer& peer);
  void take(replication::Link& link, replication::Time now);
  void take_answer(Lane& lane, Peer& peer, const ProbeFrame& frame, replication::Time now);
  void ask(Peer& peer, replication::Time now);
  void send(replication::Link& link, const ProbeFrame& frame);
  void look(Peer& peer, replication::Time now);

  Options options_;
  std::vector<std::uint32_t> not_heard_;
  std::unique_ptr<replication::Link> udp_, ethernet_;
  std::vector<Peer> peers_;
  std::vector<std::byte> room_;
  std::size_t over_count_ = 0;
  std::uint32_t round_ = 0;
  replication::Time begun_{-1}, due_{0}, wall_{0};
};

}  // namespace llamada::llamanet
