#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <span>
#include <vector>

#include "coll/pieces.hpp"
#include "llamada/base/plain_bytes.hpp"
#include "world/peer_memory.hpp"

// Collectives that copy from one process's memory into another's, without a copy in a log in between: for
// large data, where no history is kept. What goes through the logs is where the data lie, and who is done.

namespace llamada::mpi::coll {

/// Where a member's data lie in its process: one part, or one for each member, `apart` bytes from one to the
/// next.
struct Place {
  std::uint64_t address = 0;
  std::int64_t apart = 0;
  std::uint64_t of(int member) const { return address + static_cast<std::uint64_t>(apart * member); }
};
struct Offer {
  std::uint64_t bytes = 0;  ///< of a part that it gives, or of the contribution: on all members the same
  std::uint64_t dealt = 0;  ///< what stands for how the result is dealt out: on all members the same
  Place source;             ///< what it gives
  Place result;             ///< where others may write
};

static_assert(sizeof(Offer) <= log::inline_payload_max);

/// Finds out whether all members reach each other's memory: each reads a word of each other one's, and says
/// whether it was the right one. Done once in a channel.
class Introduction {
 public:
  /// `bytes`: as an Offer's.
  Introduction(Channel& channel, Kind kind, std::size_t bytes)
      : channel_(channel), kind_(kind), bytes_(bytes) {}
  void begin();
  bool step();

 private:
  struct Card {
    std::uint64_t bytes;
    ProcessCard process;
  };
  bool publish_card();
  bool look_at(int member);

  Channel& channel_;
  Kind kind_;
  std::size_t bytes_;
  Card own_{};
  std::uint32_t published_ = 0;
  std::uint32_t piece_ = 0;
  int member_ = 0;
  bool all_reached_ = true;
  std::vector<int> processes_;
};

/// A collective that is carried out directly where the members reach each other's memory, else through the
/// logs.
class DirectIfPossible final : public Machine {
 public:
  using Make = std::function<std::unique_ptr<Machine>(Channel&)>;
  DirectIfPossible(Channel& channel, Kind kind, std::size_t bytes, Make direct, Make through_logs)
      : channel_(channel),
        introduction_(channel, kind, bytes),
        direct_(std::move(direct)),
        through_logs_(std::move(through_logs)) {}
  void begin() override;
  bool step() override;

 private:
  void choose();

  Channel& channel_;
  Introduction introduction_;
  Make direct_;
  Make through_logs_;
  std::unique_ptr<Machine> chosen_;
};

/// What the members of such a collective have said to each other: first an offer (or nothing more than that
/// they have come), then steps that they are done with.
class Partners {
 public:
  explicit Partners(Channel& channel);

  void begin(Kind kind) { channel_.begin(kind); }
  /// Says the next thing, unless it has been said; false when there is no room now. Steps are counted from 0.
  bool say(std::uint32_t step, std::span<const std::byte> what, int audience);
  bool offer(const Offer& own, int audience) { return offer(own, audience, own.bytes); }
  /// `bytes_expected`: of the others.
  bool offer(const Offer& own, int audience, std::size_t bytes_expected) {
    bytes_ = bytes_expected;
    dealt_ = own.dealt;
    return say(0, plain_bytes(own), audience);
  }
  bool say_done(std::uint32_t step, int audience) { return say(step, {}, audience); }

  bool has_said(int member, std::uint32_t step);
  bool all_have_said(std::uint32_t step);
  /// After has_said(member, 0).
  const Offer& offer_of(int member) const { return offers_[static_cast<std::size_t>(member)]; }
  /// Whether the member means as many bytes; if not, nothing is to be copied between the two.
  bool fits(int member) const { return offer_of(member).bytes == bytes_ && offer_of(member).dealt == dealt_; }
  /// To be asked of those who take what others give, when all have said that they are done: whether all gave
  /// what was expected. If not, the channel has failed.
  bool fitted(int member);
  bool all_fitted();

  /// False when the member is gone, so that the job is about to end, or when it cannot be: then the channel
  /// has failed.
  bool read(int member, std::uint64_t address, std::span<std::byte> to);
  bool write(int member, std::uint64_t address, std::span<const std::byte> from);

 private:
  Channel& channel_;
  std::uint64_t bytes_ = 0;  // that others' offers are to name
  std::uint64_t dealt_ = 0;
  std::uint32_t said_ = 0;
  std::vector<std::uint32_t> heard_;
  std::vector<Offer> offers_;
};

/// A buffer as one piece of memory that others may reach: where it lies, or a packed copy.
class Packed {
 public:
  /// `filled`: what lies in the buffer is wanted.
  void open(const Data& data, bool filled);
  void open(const Parts& parts, int count, bool filled);
  /// A copy of all parts, wherever they lie.
  void open_copy(const Parts& parts, int count, bool filled);
  std::byte* part(int index) const { return memory_ + apart_ * index; }
  std::byte* memory() const { return memory_; }
  Place place() const { return {reinterpret_cast<std::uint64_t>(memory_), apart_}; }
  bool is_copy() const { return !copy_.empty(); }
  std::vector<std::byte>& copy() { return copy_; }

 private:
  std::byte* memory_ = nullptr;
  std::ptrdiff_t apart_ = 0;
  std::vector<std::byte> copy_;
};

}  // namespace llamada::mpi::coll
