#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <span>
#include <vector>

#include "coll/channel.hpp"
#include "object/datatype.hpp"

namespace llamada::mpi::coll {

/// How a blocked collective waits: everything else that the rank has to serve goes on meanwhile, among it
/// Channel::skip_stale() of all channels.
class Waiter {
 public:
  virtual ~Waiter() = default;
  /// Returns when `done` does; calls it again and again, from the same thread.
  virtual void wait_until(const std::function<bool()>& done) = 0;
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

  /// Where its bytes lie when that is one piece of memory; else null.
  std::byte* memory() const;
  void pack(std::size_t offset, std::span<std::byte> to) const;
  void unpack(std::size_t offset, std::span<const std::byte> from) const;
};

/// Copies one's own contribution to one's own result; of different lengths, what fits.
void copy(const Data& from, const Data& to);

/// How many records carry so many bytes.
inline std::uint32_t piece_count(std::size_t bytes, std::size_t piece_bytes = piece_bytes_max) {
  return static_cast<std::uint32_t>((bytes + piece_bytes - 1) / piece_bytes);
}

/// Publishes data in pieces, as there is room.
class Sending {
 public:
  Sending(Channel& channel, const Data& data, int audience, std::size_t piece_bytes = piece_bytes_max)
      : channel_(&channel), data_(data), audience_(audience), piece_bytes_(piece_bytes) {}

  /// Publishes what there is room for; true when all is published.
  bool step() {
    while (!done())
      if (!step_one()) return false;
    return true;
  }
  /// Publishes one piece; false when there is no room. Only when not done().
  bool step_one();
  bool done() const { return sent_ == data_.bytes; }
  std::uint32_t pieces_sent() const { return piece_; }

 private:
  Channel* channel_;
  Data data_;
  int audience_;
  std::size_t piece_bytes_;
  std::size_t sent_ = 0;
  std::uint32_t piece_ = 0;
};

/// Takes data in pieces from one member, as they come.
class Receiving {
 public:
  Receiving(Channel& channel, const Data& data, int member)
      : channel_(&channel), data_(data), member_(member) {}

  /// Takes what is there; true when all has been taken.
  bool step();
  bool done() const { return received_ == data_.bytes; }

 private:
  Channel* channel_;
  Data data_;
  int member_;
  std::size_t received_ = 0;
  std::uint32_t piece_ = 0;
};

/// One collective, or one phase of one: steps until it is done or the members' calls do not fit. Members from
/// `listen_end` on are not listened to.
template <typename Step>
Status run(Channel& channel, Waiter& waiter, Kind kind, Step&& step, int listen_end = everybody) {
  channel.begin(kind);
  if (listen_end != everybody)
    for (int member = listen_end; member < channel.size(); ++member) channel.ignore(member);
  if (!step() && !channel.failed())
    waiter.wait_until([&step, &channel] { return step() || channel.failed(); });  // two words: no allocation
  channel.end();
  if (channel.failed()) return failure(Errc::invalid_argument, "{}", channel.failure());
  return {};
}

}  // namespace llamada::mpi::coll
