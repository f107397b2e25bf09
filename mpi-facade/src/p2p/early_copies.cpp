#include "p2p/early_copies.hpp"

#include <algorithm>
#include <cstring>

#include "llamada/base/copy.hpp"
#include "p2p/record.hpp"

namespace llamada::mpi {
namespace {

/// Smaller messages come as fast out of a log whose memory was made long ago.
constexpr std::size_t proposed_bytes_min = 256 << 10;
/// Out of the sender's memory at once, before there is a look at the log again.
constexpr std::size_t piece_bytes = 32 << 10;

MessageSource read_source(const log::Record& record) {
  MessageSource source;
  std::memcpy(&source, record.extra.data(), sizeof(source));
  return source;
}

}  // namespace

MessageSource EarlyCopies::source(std::span<const std::byte> message) {
  const auto address = reinterpret_cast<std::uint64_t>(message.data());
  const bool is_proposed = message.size() >= proposed_bytes_min && is_log_made_at_start_;
  return {address, is_proposed ? own_card() : ProcessCard{}};
}

bool EarlyCopies::copy(int from, const log::LogReader& reader, const log::Record& record, Request& request) {
  const auto index = static_cast<std::size_t>(from);
  if (index >= senders_.size()) senders_.resize(index + 1);
  Sender& sender = senders_[index];
  Copy& copy = sender.copy;
  const log::LogPosition position = reader.position();
  if (copy.request != &request || copy.record != position) {
    const MessageSource source = read_source(record);
    copy = {&request, position, record.payload.data(),
            source,   0,        source.card.process != 0 && sender.reach.of(source.card)};
  }
  const std::span<std::byte> to{request.buffer.contiguous(), record.payload.size()};
  const std::size_t before = copy.bytes;
  while (copy.bytes < to.size()) {
    const std::size_t filled = reader.announced_bytes(record);
    if (filled > copy.bytes) {
      copy_bytes(to.data() + copy.bytes, record.payload.data() + copy.bytes, filled - copy.bytes);
      copy.bytes = filled;
    } else if (!copy.reaches_source || !copy_piece_of_source(copy, reader, to)) {
      break;
    }
  }
  return copy.bytes > before;
}

/// False when there is no more to be had in this way.
bool EarlyCopies::copy_piece_of_source(Copy& copy, const log::LogReader& reader, std::span<std::byte> to) {
  const auto piece = to.subspan(copy.bytes, std::min(piece_bytes, to.size() - copy.bytes));
  const auto reached =
      read_memory(static_cast<int>(copy.source.card.process), copy.source.address + copy.bytes, piece);
  // Once it is committed, the sender may have changed its memory under our hands.
  copy.reaches_source = reached == Reached::done && reader.is_announced();
  if (!copy.reaches_source) return false;
  copy.is_of_log = false;
  copy.bytes += piece.size();
  return true;
}

std::size_t EarlyCopies::take(int from, const log::LogReader& reader, const log::Record& record,
                              const Request& request) {
  const auto index = static_cast<std::size_t>(from);
  if (index >= senders_.size()) return 0;
  const Copy copy = std::exchange(senders_[index].copy, {});
  // A patched message refers to what was there before it was announced, and is there still.
  const bool same =
      copy.record == reader.position() ||
      ((record.flags & flag_patched) != 0 && copy.is_of_log && copy.payload == record.payload.data());
  return same && copy.request == &request ? std::min(copy.bytes, record.payload.size()) : 0;
}

bool EarlyCopies::has_begun(const Request& request) const {
  return std::any_of(senders_.begin(), senders_.end(),
                     [&](const Sender& sender) { return sender.copy.request == &request; });
}

}  // namespace llamada::mpi
