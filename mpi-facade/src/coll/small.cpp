#include "coll/small.hpp"

#include <cstring>
#include <functional>

namespace llamada::mpi::coll {
namespace {

// Each collective is one piece of code (flatten), but for what is unusual (noinline).

[[gnu::noinline]] void finish_others(Channel& channel, Waiter& waiter) {
  waiter.wait_for(channel, [&channel] { return channel.turns().advance(); });
}

/// Nothing is waiting before it in the channel.
inline void begin(Channel& channel, Waiter& waiter, Kind kind) {
  if (!channel.turns().is_idle()) [[unlikely]]
    finish_others(channel, waiter);
  channel.fitting().forget_misfit();
  channel.begin(kind);
}

[[gnu::noinline]] Status end_failed(Channel& channel) {
  if (channel.failed()) channel.fitting().outlive_misfit();
  channel.end();
  return outcome(channel);
}

/// Nobody waits for anything more from this member.
inline Status end(Channel& channel) {
  if (!channel.fitting().is_well()) [[unlikely]]
    return end_failed(channel);
  channel.end();
  return {};
}

template <typename Peek>
[[gnu::noinline]] auto await_long(Channel& channel, Waiter& waiter, Peek peek) {
  decltype(peek()) found{};
  bool over = false;
  const auto look = [&] { return over || (over = (found = peek()) || channel.failed()); };
  waiter.wait_for(channel, std::ref(look));  // one word: no allocation
  return found;
}

/// What peek() gives as soon as it gives anything; nothing if the members' calls do not fit. What `peek` has
/// is copied: so the compiler sees that nothing else changes it.
template <typename Peek>
inline auto await(Channel& channel, Waiter& waiter, Peek peek) {
  FirstLook* const answer = channel.pace().take_awaited_answer();
  if (answer) answer->wait();
  const auto looks_max = static_cast<unsigned>(channel.pace().looks_before_waiting());
  for (unsigned looks = 0; looks <= looks_max; ++looks) {
    const auto found = peek();
    if (found) [[likely]] {
      if (answer) answer->found_after(looks);
      return found;
    }
    if (channel.failed()) [[unlikely]]
      return found;
  }
  return await_long(channel, waiter, peek);
}

[[gnu::noinline]] void publish_later(Channel& channel, Waiter& waiter, Piece piece,
                                     std::span<const std::byte> part, int audience) {
  bool published = false;
  const auto try_again = [&] {
    return published || (published = channel.publish_whole(piece, audience, part)) || channel.failed();
  };
  waiter.wait_for(channel, try_again);
}

inline void publish(Channel& channel, Waiter& waiter, Piece piece, std::span<const std::byte> part,
                    int audience) {
  channel.pace().await_answer();
  if (!channel.publish_whole(piece, audience, part)) [[unlikely]]
    publish_later(channel, waiter, piece, part, audience);
}

inline void copy_part(std::byte* to, const std::byte* from, std::size_t bytes) {
  if (bytes <= log::inline_payload_max)
    log::copy_small(to, from, bytes);
  else
    std::memcpy(to, from, bytes);
}

/// Whether the part has been taken.
bool try_take(Channel& channel, int member, std::byte* to, std::size_t bytes) {
  if (const std::byte* payload = channel.peek_small(member, {}, bytes)) {
    log::copy_small(to, payload, bytes);
    channel.next(member);
    return true;
  }
  const auto record = channel.peek(member);
  if (!record) return false;
  if (piece_of(*record) != Piece() || record->payload.size() != bytes || !is_of(*record, bytes))
      [[unlikely]] {
    Progress progress;
    return take(channel, Data::of(std::span<const std::byte>(to, bytes)), member, progress);
  }
  copy_part(to, record->payload.data(), bytes);
  channel.next(member);
  return true;
}

void take_from(Channel& channel, Waiter& waiter, int member, std::byte* to, std::size_t bytes) {
  await(channel, waiter, [=, &channel] { return try_take(channel, member, to, bytes); });
}

/// Calls use(member) for all others, beginning behind oneself, until the members' calls do not fit.
template <typename Use>
void for_others(const Channel& channel, Use use) {
  const int size = channel.size(), self = channel.self();
  for (int offset = 1; offset < size && !channel.failed(); ++offset)
    use(self + offset < size ? self + offset : self + offset - size);
}

void take_from_all(Channel& channel, Waiter& waiter, std::byte* parts, std::size_t part_bytes) {
  for_others(channel, [&](int member) {
    take_from(channel, waiter, member, parts + static_cast<std::size_t>(member) * part_bytes, part_bytes);
  });
}

/// Whether this member's part of a record for all has been taken.
bool try_take_part(Channel& channel, int member, std::byte* to, std::size_t bytes) {
  const auto record = channel.peek(member);
  if (!record) return false;
  const auto part = piece_of(*record).content() == Content::together ? part_in(*record, channel.self())
                                                                     : std::span<const std::byte>();
  if (!part || part->size() != bytes) [[unlikely]] {
    Progress progress;
    return take(channel, Data::of(std::span<const std::byte>(to, bytes)), member, progress);
  }
  copy_part(to, part->data(), bytes);
  channel.next(member);
  return true;
}

/// The parts for all others, behind a table of where each begins and the last one ends.
std::span<const std::byte> put_together(const Channel& channel, const std::byte* parts,
                                        std::size_t part_bytes, std::byte (&into)[small_bytes_max]) {
  const int size = channel.size();
  std::size_t at = sizeof(std::uint32_t) * (static_cast<std::size_t>(size) + 1);
  for (int member = 0; member <= size; ++member) {
    const auto begin = static_cast<std::uint32_t>(at);
    std::memcpy(into + sizeof(begin) * static_cast<std::size_t>(member), &begin, sizeof(begin));
    if (member == size || member == channel.self()) continue;
    copy_part(into + at, parts + static_cast<std::size_t>(member) * part_bytes, part_bytes);
    at += part_bytes;
  }
  return {into, at};
}

[[gnu::noinline]] const std::byte* look_closer(Channel& channel, int member, Piece piece, std::size_t bytes) {
  const auto record = channel.expect(member, piece, bytes);
  return record ? record->payload.data() : nullptr;
}

/// The member's contribution, until Channel::next(); null if the members' calls do not fit.
inline const std::byte* contribution_of(Channel& channel, Waiter& waiter, int member, Piece piece,
                                        std::size_t bytes) {
  return await(channel, waiter, [=, &channel] {
    const std::byte* const payload = channel.peek_small(member, piece, bytes);
    return payload ? payload : look_closer(channel, member, piece, bytes);
  });
}

/// Folds all members' contributions in the order of their ranks.
void fold_all(Channel& channel, Waiter& waiter, Piece piece, const SmallReduction& what) {
  const Reduction& reduction = what.reduction;
  const std::span<const std::byte> contribution = what.contribution;
  const std::span<std::byte> result = what.result;
  const std::size_t count = result.size() / reduction.type.size();
  const std::byte* own = contribution.data() + what.first_byte;
  std::byte kept[small_bytes_max];
  if (contribution.data() == result.data() && channel.self() > 0) {  // The first one's takes its place.
    copy_part(kept, own, result.size());
    own = kept;
  }
  const auto fold = [&](int member, const std::byte* part) {
    if (member > 0)
      reduction.operation.apply(part, result.data(), count, reduction.type);
    else if (part != result.data())
      copy_part(result.data(), part, result.size());
  };
  for (int member = 0; member < channel.size() && !channel.failed(); ++member) {
    if (member == channel.self()) {
      fold(member, own);
      continue;
    }
    const std::byte* const all = contribution_of(channel, waiter, member, piece, contribution.size());
    if (!all) [[unlikely]]
      break;
    fold(member, all + what.first_byte);
    channel.next(member);
  }
}

}  // namespace

[[gnu::flatten]] Status barrier_small(Channel& channel, Waiter& waiter) {
  begin(channel, waiter, Kind::barrier);
  publish(channel, waiter, {}, {}, everybody);
  for_others(channel, [&](int member) {
    if (contribution_of(channel, waiter, member, {}, 0)) channel.next(member);
  });
  return end(channel);
}

[[gnu::flatten]] Status give_small(Channel& channel, Waiter& waiter, Kind kind,
                                   std::span<const std::byte> part, int root) {
  begin(channel, waiter, kind);
  publish(channel, waiter, {}, part, root);
  return end(channel);
}

[[gnu::flatten]] Status take_small(Channel& channel, Waiter& waiter, Kind kind, std::span<std::byte> part,
                                   int root) {
  begin(channel, waiter, kind);
  take_from(channel, waiter, root, part.data(), part.size());
  return end(channel);
}

Status broadcast_small(Channel& channel, Waiter& waiter, std::span<std::byte> data, int root) {
  if (channel.self() == root) return give_small(channel, waiter, Kind::bcast, data, everybody);
  return take_small(channel, waiter, Kind::bcast, data, root);
}

[[gnu::flatten]] Status exchange_small(Channel& channel, Waiter& waiter, Kind kind,
                                       std::span<const std::byte> part, int audience, std::byte* parts) {
  begin(channel, waiter, kind);
  publish(channel, waiter, {}, part, audience);
  take_from_all(channel, waiter, parts, part.size());
  return end(channel);
}

[[gnu::flatten]] Status alltoall_small(Channel& channel, Waiter& waiter, const std::byte* given,
                                       std::byte* taken, std::size_t part_bytes) {
  std::byte together[small_bytes_max];
  begin(channel, waiter, Kind::alltoall);
  publish(channel, waiter, Content::together, put_together(channel, given, part_bytes, together), everybody);
  for_others(channel, [&](int member) {
    std::byte* const to = taken + static_cast<std::size_t>(member) * part_bytes;
    await(channel, waiter, [=, &channel] { return try_take_part(channel, member, to, part_bytes); });
  });
  return end(channel);
}

[[gnu::flatten]] Status gather_small(Channel& channel, Waiter& waiter, std::byte* parts,
                                     std::size_t part_bytes) {
  begin(channel, waiter, Kind::gather);
  take_from_all(channel, waiter, parts, part_bytes);
  return end(channel);
}

[[gnu::flatten]] Status reduce_small(Channel& channel, Waiter& waiter, const SmallReduction& what) {
  begin(channel, waiter, Kind::reduce);
  fold_all(channel, waiter, {}, what);
  return end(channel);
}

[[gnu::flatten]] Status fold_small(Channel& channel, Waiter& waiter, Kind kind, Piece piece,
                                   const SmallReduction& what) {
  begin(channel, waiter, kind);
  publish(channel, waiter, piece, what.contribution, everybody);
  fold_all(channel, waiter, piece, what);
  return end(channel);
}

}  // namespace llamada::mpi::coll
