#include "coll/pieces.hpp"

#include <fmt/core.h>

#include <algorithm>
#include <cerrno>
#include <cstring>

#include "llamada/base/check.hpp"
#include "llamada/base/copy.hpp"

namespace llamada::mpi::coll {

void Data::pack(std::size_t offset, std::span<std::byte> to) const {
  LLAMADA_CHECK(offset + to.size() <= bytes);
  if (to.empty()) return;
  if (auto* from = memory())
    copy_bytes_out(to.data(), from + offset, to.size());
  else
    type->pack(base, count, first_byte + offset, to);
}

void Data::unpack(std::size_t offset, std::span<const std::byte> from) const {
  LLAMADA_CHECK(offset + from.size() <= bytes);
  if (from.empty()) return;
  if (auto* to = memory())
    copy_piece(to + offset, from.data(), from.size(), bytes);
  else
    type->unpack(from, first_byte + offset, base, count);
}

/// Data with gaps are copied by way of so much memory.
constexpr std::size_t packed_bytes_max = std::size_t{64} * 1024;

void copy(const Data& from, const Data& to) {
  std::size_t bytes = std::min(from.bytes, to.bytes);
  if (bytes == 0) return;
  if (auto* memory = from.memory()) {
    std::byte* const place = to.memory();
    if (place == nullptr)
      to.unpack(0, {memory, bytes});
    else if (place != memory)
      copy_bytes(place, memory, bytes);
    return;
  }
  std::vector<std::byte> piece(std::min(bytes, packed_bytes_max));
  for (std::size_t done = 0; done < bytes; done += piece.size()) {
    std::span part(piece.data(), std::min(piece.size(), bytes - done));
    from.pack(done, part);
    to.unpack(done, part);
  }
}

void copy_own(Channel& channel, const Data& from, const Data& to) {
  if (from.bytes > to.bytes) channel.misfit_later(channel.self(), from.bytes, to.bytes);
  const std::size_t bytes = std::min(from.bytes, to.bytes);
  copy(from.part(0, bytes), to.part(0, bytes));
}

bool Sending::step_one() {
  if (piece_.number() == Piece::number_max) [[unlikely]] {
    channel_->fail(fmt::format("a contribution of {} bytes takes more than {} records: give less in one call",
                               data_.bytes, Piece::number_max));
    return false;
  }
  const auto* const memory = data_.memory();
  const std::size_t piece_bytes =
      piece_bytes_ > 0 ? piece_bytes_ : channel_->piece_bytes(memory ? data_.bytes : 0);
  const std::size_t left = data_.bytes - sent_, size = std::min(piece_bytes, left);
  if (memory) {
    if (!channel_->publish(piece_, audience_, {memory + sent_, size}, bytes_given_, left)) return false;
  } else {
    auto room = channel_->room(size);
    if (!room) return false;
    data_.pack(sent_, *room);
    channel_->commit(piece_, audience_, bytes_given_);
  }
  sent_ += size;
  piece_ = piece_.next();
  return true;
}

namespace {

Reached copy_lent(const Loan& loan, const Data& data) {
  const int lender = static_cast<int>(loan.lender.process);
  if (std::byte* const memory = data.memory()) return read_memory(lender, loan.address, {memory, data.bytes});
  std::vector<std::byte> packed(std::min(data.bytes, packed_bytes_max));
  for (std::size_t done = 0; done < data.bytes; done += packed.size()) {
    const std::span<std::byte> part(packed.data(), std::min(packed.size(), data.bytes - done));
    const Reached reached = read_memory(lender, loan.address + done, part);
    if (reached != Reached::done) return reached;
    data.unpack(done, part);
  }
  return Reached::done;
}

/// Whether the member's loan has been copied; else it refuses, is gone, or the channel has failed.
bool copy_from(Channel& channel, const Data& data, int member, Progress& progress) {
  const Loan& loan = channel.loans().borrowed(member);
  const bool is_reached = channel.loans().reaches(member, loan.lender);
  if (is_reached) {
    const Reached reached = copy_lent(loan, data);
    if (reached == Reached::refused) {
      channel.fail(fmt::format("rank {} of the communicator cannot reach the buffer of rank {}: {}",
                               channel.self(), member, std::strerror(errno)));
      channel.loans().give_back(member, true);  // It is not to wait for more.
    }
    if (reached != Reached::done) return false;
    progress.bytes = data.bytes;
  }
  channel.loans().give_back(member, is_reached);
  progress.is_lent = false;
  return is_reached;
}

/// False when that is all that can be done now.
bool accept_loan(Channel& channel, const Data& data, int member, const log::Record& record,
                 Progress& progress) {
  const std::uint64_t bytes = bytes_given(record, channel.members().rank());
  if (bytes != data.bytes || progress.bytes > 0) {
    channel.misfit(member, bytes, data.bytes);
    return false;
  }
  channel.loans().borrow(member, record);
  progress.is_lent = true;
  return true;
}

/// Whether the record's payload is what comes next of the data. A piece may be of any length, but says of how
/// many bytes it is one, unless it is so small that it is the last.
bool is_next(const log::Record& record, const Data& data, const Progress& progress) {
  if (piece_of(record) != progress.piece || !is_of(record, data.bytes)) return false;
  const std::size_t left = data.bytes - progress.bytes;
  return record.payload.size() == left || (record.payload.size() < left && !record.extra.empty());
}

/// This member's part of a record for all peers, if it is one and that part is all of the data.
std::optional<std::span<const std::byte>> part_for_this(const Channel& channel, const log::Record& record,
                                                        const Data& data) {
  if (piece_of(record).content() != Content::together) return std::nullopt;
  const auto part = part_in(record, channel.members().rank());
  return part && part->size() == data.bytes ? part : std::nullopt;
}

}  // namespace

bool take(Channel& channel, const Data& data, int member, Progress& progress) {
  while (progress.bytes < data.bytes) {
    if (progress.is_lent) {
      if (!copy_from(channel, data, member, progress)) return false;
      continue;
    }
    const auto record = channel.peek(member);
    if (!record) return false;
    if (is_loan(*record)) [[unlikely]] {
      if (!accept_loan(channel, data, member, *record, progress)) return false;
      continue;
    }
    std::span<const std::byte> payload;
    if (is_next(*record, data, progress)) [[likely]] {
      payload = record->payload;
    } else if (const auto part = part_for_this(channel, *record, data)) {
      payload = *part;
    } else {
      channel.misfit(member, bytes_given(*record, channel.members().rank()), data.bytes);
      return false;
    }
    data.unpack(progress.bytes, payload);
    progress.bytes += payload.size();
    progress.piece = progress.piece.next();
    channel.next(member);
  }
  return channel.loans().settle();
}

}  // namespace llamada::mpi::coll
