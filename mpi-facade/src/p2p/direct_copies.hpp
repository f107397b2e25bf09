#pragma once

#include <atomic>
#include <cstdint>
#include <deque>
#include <memory>
#include <optional>
#include <span>
#include <vector>

#include "p2p/copy_group.hpp"
#include "p2p/record.hpp"
#include "p2p/request.hpp"
#include "p2p/shared_copy.hpp"
#include "world/peer_memory.hpp"
#include "world/world.hpp"

namespace llamada::mpi {

/// Who is told about messages that go from memory to memory.
class CopyOwner {
 public:
  /// The whole message is there, as far as the buffer has room for it.
  virtual void received_directly(Request& request) = 0;
  /// The buffer may be used again.
  virtual void sent_directly(Request& request) = 0;
  virtual void grant_directly(int source, const DirectGrant& grant) = 0;

 protected:
  ~CopyOwner() = default;
};

/// Messages that are copied once, from the sender's buffer into the receiver's, by whichever of the two has
/// time, or by both (SharedCopy). For large messages of contiguous buffers, where no history is kept and the
/// system lets the two processes reach each other's memory.
///
/// A rank has a desk for each other one that such messages go to or come from, in its own arena: there the
/// words lie by which the two agree. The announcement of a message and its grant say where the desk is.
///
/// Threads: the engine's.
class DirectCopies {
 public:
  DirectCopies(World& world, CopyOwner& owner) : world_(world), owner_(owner) {}
  DirectCopies(const DirectCopies&) = delete;
  DirectCopies& operator=(const DirectCopies&) = delete;

  /// Where this rank's desk for messages to `rank` is: for an announcement. 0: they cannot go that way.
  log::Offset desk_for(int rank);

  /// Receives a message that was announced with an address. False when its sender's memory cannot be
  /// reached, or the receive's buffer has gaps: nothing was begun. `is_exchange`: the sender has a large
  /// message of ours to receive, too, so that each does best with what it receives.
  bool receive(Request& request, int source, const Announcement& announcement, bool is_exchange);
  /// The rank has ended, and no message to or from it is on its way.
  void part(int rank);
  /// Whether messages from there have been found to be out of reach.
  bool is_unreachable(int source) const;
  /// The receiver of this message has told where it is to go. False when it is not to be believed.
  bool granted(Request& request, const std::byte* memory, std::uint64_t bytes, int rank,
               const DirectGrant& grant);

  /// Until the next advance(), which has to follow before the rank sleeps, messages to be received only
  /// gather: several that came together become one copy.
  void gather() { is_gathering_ = true; }
  /// How copies go on.
  enum class Bulk : std::uint8_t {
    in_passing,  ///< when advance() is called now and then
    first,       ///< the rank does nothing else until something is over
    gives_way,   ///< the same, and waits for something that is quickly taken: copies wait a moment for it,
                 ///< then go on in short parts
  };
  void set_bulk(Bulk bulk);
  /// Copies a part of something. True when something was done.
  bool advance() {
    is_gathering_ = false;
    if (active_.empty()) return false;
    if (looks_before_copies_ == 0) [[likely]]
      return advance_active();
    --looks_before_copies_;
    return true;
  }
  /// Whether advance() would do something.
  bool anything_new() const;
  /// Whether advance() has nothing to go on with.
  bool at_rest() const { return active_.empty(); }
  /// Whether no message to others is on its way.
  bool idle() const { return sending_ == 0; }

 private:
  /// Copies that one receiver has granted one sender and that are not over; the next waits.
  static constexpr std::uint32_t window = 64;

  struct alignas(64) Word {
    std::atomic<std::uint64_t> claim;
  };
  /// In the owner's arena, which its peer reads.
  struct Desk {
    ProcessCard process;
    std::byte pad_24[40];
    Word sends[window];     // by number % window, of messages to the peer
    Word receives[window];  // the same, from it
  };
  static_assert(sizeof(Desk) == 64 + 2 * 64 * window);

  struct Copy {
    Copy(CopyGroup&& messages, const SharedCopy& copy, bool receives, bool both_ways)
        : group(std::move(messages)), share(copy), is_receive(receives), is_exchange(both_ways) {}

    CopyGroup group;
    SharedCopy share;
    SharedCopy::Part claimed;  // by this end, and not copied yet
    bool is_receive;
    bool is_exchange;  // see receive()
    bool is_over = false;
  };
  struct Waiting {
    Request* request;
    Announcement announcement;
    bool is_exchange;
  };
  struct Peer {
    int rank = 0;
    bool active = false;
    bool has_no_desk = false;  // and gets none
    KnownReach reach;
    log::Offset own_place = 0;
    log::Chunk own_chunk;
    Desk* own = nullptr;
    const Desk* theirs = nullptr;
    int process = 0;
    std::uint32_t receives_begun = 0;
    std::deque<Copy> receives;  // in the order of their numbers
    std::deque<Copy> sends;
    std::deque<Waiting> waiting;
    std::optional<CopyGroup> granted;  // messages of a copy of which more are to come
    std::uint32_t granted_number = 0;
    std::uint32_t granted_left = 0;
  };

  Peer& peer(int rank);
  bool open_desk(Peer& peer);
  bool meet(Peer& peer, log::Offset place);
  bool reaches(Peer& peer);
  bool begin_waiting(Peer& peer);
  void begin_receive(Peer& peer, std::span<const Waiting> messages);
  void begin_send(Peer& peer, CopyGroup&& group, std::uint32_t number);
  static bool is_next(Peer& peer, const DirectGrant& grant);
  void mark_active(Peer& peer);
  bool advance_active();
  bool advance(Peer& peer);
  bool begin_some(Peer& peer, std::deque<Copy>& copies);
  bool go_on(Peer& peer, std::deque<Copy>& copies);
  bool is_waiting() const { return bulk_ != Bulk::in_passing; }
  std::uint64_t copy_part(Peer& peer, Copy& copy);
  void end(const Copy& copy);
  bool end_some(std::deque<Copy>& copies);
  void copy(Peer& peer, const Copy& copy, SharedCopy::Part part);

  World& world_;
  CopyOwner& owner_;
  std::vector<std::unique_ptr<Peer>> peers_;
  std::vector<Peer*> active_;
  std::uint64_t sending_ = 0;
  Bulk bulk_ = Bulk::in_passing;
  // Where copies give way: looks that come first, and what is copied between two.
  unsigned looks_before_copies_ = 0;
  std::uint64_t bytes_giving_way_ = 0;
  bool is_gathering_ = false;
};

}  // namespace llamada::mpi
