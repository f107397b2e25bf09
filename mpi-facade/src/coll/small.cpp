#include "coll/small.hpp"

#include <cstring>
#include <functional>

namespace llamada::mpi::coll {
namespace {

/// Nothing is waiting before it in the channel.
void begin(Channel& channel, Waiter& waiter, Kind kind) {
  if (!channel.is_idle()) [[unlikely]]
    waiter.wait_until([&channel] { return channel.advance(); });
  channel.forget_misfit();
  channel.begin(kind);
}

/// Nobody waits for anything more from this member.
Status end(Channel& channel) {
  if (channel.failed()) [[unlikely]]
    channel.outlive_misfit();
  channel.end();
  return outcome(channel);
}

template <typename Done>
void wait(Waiter& waiter, Done done) {
  if (!done()) waiter.wait_until(std::ref(done));
}

void publish(Channel& channel, Waiter& waiter, std::span<const std::byte> part, int audience) {
  wait(waiter, [&, published = false]() mutable {
    return published || (published = channel.publish_small(0, audience, part));
  });
}

/// Whether the part has been taken.
bool try_take(Channel& channel, int member, std::byte* to, std::size_t bytes) {
  const auto record = channel.peek(member);
  if (!record) return false;
  if (Channel::piece_of(*record) != 0 || record->payload.size() != bytes) [[unlikely]] {
    Progress progress;
    return take(channel, Data::of(std::span<const std::byte>(to, bytes)), member, progress);
  }
  std::memcpy(to, record->payload.data(), bytes);
  channel.next(member);
  return true;
}

void take_from(Channel& channel, Waiter& waiter, int member, std::byte* to, std::size_t bytes) {
  channel.let_run_ahead(member);
  wait(waiter, [&, taken = false]() mutable {
    return taken || (taken = try_take(channel, member, to, bytes) || channel.failed());
  });
}

void take_from_all(Channel& channel, Waiter& waiter, std::byte* parts, std::size_t part_bytes) {
  for (int member = 0; member < channel.size() && !channel.failed(); ++member)
    if (member != channel.self()) take_from(channel, waiter, member, parts + member * part_bytes, part_bytes);
}

}  // namespace

Status give_small(Channel& channel, Waiter& waiter, Kind kind, std::span<const std::byte> part, int root) {
  begin(channel, waiter, kind);
  publish(channel, waiter, part, root);
  return end(channel);
}

Status take_small(Channel& channel, Waiter& waiter, Kind kind, std::span<std::byte> part, int root) {
  begin(channel, waiter, kind);
  take_from(channel, waiter, root, part.data(), part.size());
  return end(channel);
}

Status broadcast_small(Channel& channel, Waiter& waiter, std::span<std::byte> data, int root) {
  if (channel.self() == root) return give_small(channel, waiter, Kind::bcast, data, everybody);
  return take_small(channel, waiter, Kind::bcast, data, root);
}

Status exchange_small(Channel& channel, Waiter& waiter, Kind kind, std::span<const std::byte> part,
                      int audience, std::byte* parts) {
  begin(channel, waiter, kind);
  publish(channel, waiter, part, audience);
  take_from_all(channel, waiter, parts, part.size());
  return end(channel);
}

Status gather_small(Channel& channel, Waiter& waiter, std::byte* parts, std::size_t part_bytes) {
  begin(channel, waiter, Kind::gather);
  take_from_all(channel, waiter, parts, part_bytes);
  return end(channel);
}

}  // namespace llamada::mpi::coll
