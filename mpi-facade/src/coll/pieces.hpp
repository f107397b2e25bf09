#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <span>
#include <vector>

#include "coll/channel.hpp"
#include "llamada/base/rounding.hpp"
#include "object/datatype.hpp"

namespace llamada::mpi::coll {

/// How a blocked collective waits: everything else that the rank has to serve goes on meanwhile, among it
/// Channel::skip_stale() of all channels, also behind the last call of `done` before the rank sleeps.
class Waiter {
 public:
  virtual ~Waiter() = default;
  /// Returns when `done` does; calls it again and again, from the same thread.
  virtual void wait_until(const std::function<bool()>& done) = 0;
  /// The same for what the collective in progress in this channel needs.
  virtual void wait_for(const Channel& /*channel*/, const std::function<bool()>& done) { wait_until(done); }
};

/// A buffer of the program, or a part of one: bytes [first_byte, first_byte + bytes) of the packed stream of
/// `count` elements at `base`. Without a type: plain bytes.
struct Data {
  void* base = nullptr;
  std::size_t count = 0;
  const Datatype* type = nullptr;
  std::size_t first_byte = 0;
  std::size_t bytes = 0;

  static Data of(const void* base, std::size_t count, const Datatype& type) {
    return {const_cast<void*>(base), count, &type, 0, count * type.size()};
  }
  static Data of(std::span<const std::byte> plain) {
    return {const_cast<std::byte*>(plain.data()), plain.size(), nullptr, 0, plain.size()};
  }
  Data part(std::size_t offset, std::size_t size) const {
    return {base, count, type, first_byte + offset, size};
  }

  /// As many elements elsewhere.
  Data moved(std::ptrdiff_t bytes_away) const {
    return {static_cast<std::byte*>(base) + bytes_away, count, type, first_byte, bytes};
  }

  /// Where its bytes lie when that is one piece of memory; else null.
  std::byte* memory() const {
    if (type == nullptr) return static_cast<std::byte*>(base) + first_byte;
    return type->is_contiguous() ? type->data(base) + first_byte : nullptr;
  }
  void pack(std::size_t offset, std::span<std::byte> to) const;
  void unpack(std::size_t offset, std::span<const std::byte> from) const;
};

/// Copies one piece of data to another; of different lengths, what fits.
void copy(const Data& from, const Data& to);
/// One's own contribution to one's own result. When that is shorter, the collective fails when it is over.
void copy_own(Channel& channel, const Data& from, const Data& to);

/// How many records carry so many bytes.
inline std::uint32_t piece_count(std::size_t bytes, std::size_t piece_bytes) {
  return static_cast<std::uint32_t>(divided_up(bytes, piece_bytes));
}

/// Parts of a buffer, one for each peer or neighbour. Movable; what it is made from must outlive it.
class Parts {
 public:
  Parts() = default;
  /// `bytes_apart` is from one part to the next.
  Parts(const Data& first, std::ptrdiff_t bytes_apart) : first_(first), bytes_apart_(bytes_apart) {}
  explicit Parts(std::vector<Data> list) : list_(std::move(list)), view_(list_), is_even_(false) {}
  explicit Parts(std::span<const Data> list) : view_(list), is_even_(false) {}
  Parts(Parts&&) = default;
  Parts& operator=(Parts&&) = default;

  bool is_even() const { return is_even_; }
  /// Of even ones.
  std::ptrdiff_t bytes_apart() const { return bytes_apart_; }
  Data operator[](int index) const {
    if (!is_even_) return view_[static_cast<std::size_t>(index)];
    return first_.moved(bytes_apart_ * index);
  }

 private:
  Data first_;
  std::ptrdiff_t bytes_apart_ = 0;
  std::vector<Data> list_;
  std::span<const Data> view_;
  bool is_even_ = true;
};

/// Publishes data in pieces, as there is room.
class Sending {
 public:
  Sending() = default;
  /// Pieces are named `first` and the names behind it, and as long as the channel's, unless their length is
  /// given.
  Sending(Channel& channel, const Data& data, int audience, std::size_t piece_bytes = 0, Piece first = {})
      : channel_(&channel),
        data_(data),
        audience_(audience),
        piece_bytes_(piece_bytes),
        piece_(first),
        bytes_given_(data.bytes) {}
  /// The data are a part of so many bytes, of which the others have to know.
  void be_part_of(std::size_t bytes) { bytes_given_ = bytes; }

  /// Publishes what there is room for; true when all is published.
  bool step() {
    while (!done())
      if (!step_one()) return false;
    return true;
  }
  /// Publishes one piece; false when there is no room. Only when not done().
  bool step_one();
  bool done() const { return sent_ == data_.bytes; }
  /// The number of the next piece.
  std::uint32_t pieces_sent() const { return piece_.number(); }

 private:
  Channel* channel_ = nullptr;
  Data data_;
  int audience_ = everybody;
  std::size_t piece_bytes_ = 0;
  std::size_t sent_ = 0;
  Piece piece_;
  std::size_t bytes_given_ = 0;
};

/// How far a member has come in taking data from another.
struct Progress {
  std::uint64_t bytes = 0;
  Piece piece;           ///< the next one's name
  bool is_lent = false;  ///< what comes next is to be copied from the member's memory
};
/// Takes what is there for `data` from `member`: pieces, its part of a record for all, or what it lends; true
/// when all has been taken.
bool take(Channel& channel, const Data& data, int member, Progress& progress);

/// Takes data from one member, as it comes.
class Receiving {
 public:
  Receiving() = default;
  /// Pieces are named `first` and the names behind it.
  Receiving(Channel& channel, const Data& data, int member, Piece first = {})
      : channel_(&channel), data_(data), member_(member), progress_{0, first} {}

  /// Takes what is there; true when all has been taken.
  bool step() { return channel_ == nullptr || take(*channel_, data_, member_, progress_); }
  bool done() const { return progress_.bytes == data_.bytes; }
  /// The name of the piece behind what was taken.
  Piece next_piece() const { return progress_.piece; }

 private:
  Channel* channel_ = nullptr;
  Data data_;
  int member_ = 0;
  Progress progress_;
};

/// A collective as this member carries it out. Made for one call; what it is made from must outlive it.
class Machine {
 public:
  Machine() = default;
  Machine(const Machine&) = delete;
  Machine& operator=(const Machine&) = delete;
  virtual ~Machine() = default;
  /// Its turn has come: called once, before the first step().
  virtual void begin() = 0;
  /// Goes on as far as it can without waiting, or it sleeps for too long; true when its part is done.
  virtual bool step() = 0;

  /// step() until that has been true, or the members' calls do not fit; then nothing any more.
  bool advance(Channel& channel) {
    if (is_over_ || (!winds_up_ && step())) return is_over_ = true;
    if (!channel.failed()) return false;
    winds_up_ = true;
    if (!channel.loans().wind_up()) return false;
    if (has_given()) channel.fitting().outlive_misfit();
    return is_over_ = true;
  }

 private:
  /// Whether nobody waits for anything more from this member, also when it stops here.
  virtual bool has_given() const { return false; }

  bool is_over_ = false;
  bool winds_up_ = false;
};

/// What the members' calls not fitting each other leaves; else success.
inline Status outcome(const Channel& channel) {
  if (!channel.failed()) return {};
  return failure(channel.fitting().code(), "{}", channel.fitting().failure());
}

/// A blocking collective: waits for those before it, then until it is done or the members' calls do not fit.
template <typename M>
Status run(Channel& channel, Waiter& waiter, M& machine) {
  if (!channel.turns().is_idle()) [[unlikely]]
    waiter.wait_for(channel, [&channel] { return channel.turns().advance(); });
  channel.fitting().forget_misfit();
  machine.begin();
  if (!machine.advance(channel))
    waiter.wait_for(channel, [&machine, &channel] { return machine.advance(channel); });  // no allocation
  channel.end();
  return outcome(channel);
}

}  // namespace llamada::mpi::coll
