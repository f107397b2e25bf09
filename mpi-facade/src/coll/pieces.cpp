#include "coll/pieces.hpp"

#include <algorithm>
#include <cstring>

#include "llamada/base/check.hpp"
#include "llamada/base/copy.hpp"

namespace llamada::mpi::coll {

std::byte* Data::memory() const {
  if (type == nullptr) return static_cast<std::byte*>(base) + first_byte;
  return type->is_contiguous() ? type->data(base) + first_byte : nullptr;
}

void Data::pack(std::size_t offset, std::span<std::byte> to) const {
  LLAMADA_CHECK(offset + to.size() <= bytes);
  if (to.empty()) return;
  if (auto* from = memory())
    copy_bytes(to.data(), from + offset, to.size());
  else
    type->pack(base, count, first_byte + offset, to);
}

void Data::unpack(std::size_t offset, std::span<const std::byte> from) const {
  LLAMADA_CHECK(offset + from.size() <= bytes);
  if (from.empty()) return;
  if (auto* to = memory())
    copy_bytes(to + offset, from.data(), from.size());
  else
    type->unpack(from, first_byte + offset, base, count);
}

void copy(const Data& from, const Data& to) {
  std::size_t bytes = std::min(from.bytes, to.bytes);
  if (bytes == 0) return;
  if (auto* memory = from.memory()) {
    if (memory != to.memory()) to.unpack(0, {memory, bytes});
    return;
  }
  std::vector<std::byte> piece(std::min(bytes, piece_bytes_max));
  for (std::size_t done = 0; done < bytes; done += piece.size()) {
    std::span part(piece.data(), std::min(piece.size(), bytes - done));
    from.pack(done, part);
    to.unpack(done, part);
  }
}

void copy_own(Channel& channel, const Data& from, const Data& to) {
  copy(from, to);
  if (from.bytes > to.bytes) channel.misfit_later(channel.self(), from.bytes, to.bytes);
}

bool Sending::step_one() {
  std::size_t size = std::min(piece_bytes_, data_.bytes - sent_);
  if (auto* memory = data_.memory(); memory != nullptr && size <= topics::inline_payload_max) {
    if (!channel_->publish_small(piece_, audience_, {memory + sent_, size})) return false;
  } else {
    auto room = channel_->room(size);
    if (!room) return false;
    data_.pack(sent_, *room);
    channel_->commit(piece_, audience_, bytes_given_);
  }
  sent_ += size;
  ++piece_;
  return true;
}

bool take(Channel& channel, const Data& data, int member, Progress& progress) {
  while (progress.bytes < data.bytes) {
    const auto record = channel.peek(member);
    if (!record) return false;
    std::size_t size = std::min<std::size_t>(piece_bytes_max, data.bytes - progress.bytes);
    std::optional payload = record->payload;
    if (Channel::piece_of(*record) == all_together) {
      payload = channel.own_part(*record);
      size = data.bytes;
    } else if (Channel::piece_of(*record) != progress.piece || !Channel::is_of(*record, data.bytes)) {
      payload = std::nullopt;
    }
    if (!payload || payload->size() != size) {
      channel.misfit(member, channel.bytes_given(*record), data.bytes);
      return false;
    }
    data.unpack(progress.bytes, *payload);
    channel.next(member);
    progress.bytes += size;
    ++progress.piece;
  }
  return true;
}

}  // namespace llamada::mpi::coll
