#include "llamada/replication/held_datagrams.hpp"

#include <cstring>

#include "llamada/base/check.hpp"

namespace llamada::replication {

DatagramPool::DatagramPool(std::size_t count, std::size_t datagram_bytes_max)
    : datagram_bytes_max_(datagram_bytes_max), memory_(count * datagram_bytes_max), sizes_bytes_(count) {
  LLAMADA_CHECK(count <= UINT16_MAX);
  free_.reserve(count);
  for (std::size_t place = count; place > 0; --place) free_.push_back(static_cast<std::uint16_t>(place - 1));
}

std::optional<std::uint16_t> DatagramPool::keep(std::span<const std::byte> datagram) {
  if (free_.empty() || datagram.size() > datagram_bytes_max_ || datagram.empty()) return std::nullopt;
  const std::uint16_t place = free_.back();
  free_.pop_back();
  std::memcpy(memory_.data() + place * datagram_bytes_max_, datagram.data(), datagram.size());
  sizes_bytes_[place] = static_cast<std::uint32_t>(datagram.size());
  return place;
}

std::span<const std::byte> DatagramPool::bytes(std::uint16_t place) const {
  return std::span(memory_).subspan(place * datagram_bytes_max_, sizes_bytes_[place]);
}

bool HeldDatagrams::hold(std::uint64_t number, std::uint64_t applied, std::span<const std::byte> datagram) {
  // Numbers from applied + 1 to applied + count_max have places that differ.
  if (number <= applied || number - applied > count_max) return false;
  Held& held = held_[number % count_max];
  if (held.number == number) return true;
  if (held.number != 0) return false;
  const auto place = pool_->keep(datagram);
  if (!place) return false;
  held = {number, *place};
  return true;
}

std::optional<std::span<const std::byte>> HeldDatagrams::find(std::uint64_t number) const {
  const Held& held = held_[number % count_max];
  if (held.number != number || number == 0) return std::nullopt;
  return pool_->bytes(held.place);
}

void HeldDatagrams::give_back(std::uint64_t number) {
  Held& held = held_[number % count_max];
  if (held.number != number) return;
  pool_->give_back(held.place);
  held = {};
}

void HeldDatagrams::clear() {
  for (const Held& held : held_)
    if (held.number != 0) pool_->give_back(held.place);
  held_ = {};
}

}  // namespace llamada::replication
