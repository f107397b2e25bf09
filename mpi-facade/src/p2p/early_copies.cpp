#include "p2p/early_copies.hpp"

#include <algorithm>
#include <cstring>

namespace llamada::mpi {
namespace {

/// Between two looks whether the record is committed.
constexpr std::size_t piece_bytes = 128 << 10;

MessageSource read_source(const topics::Record& record) {
  MessageSource source;
  std::memcpy(&source, record.extra.data(), sizeof(source));
  return source;
}

}  // namespace

MessageSource EarlyCopies::source(const std::byte* memory) {
  const ProcessCard& own = own_card();
  return {reinterpret_cast<std::uint64_t>(memory), static_cast<std::uint32_t>(own.process),
          world_.incarnation(), own.probe_address, own.probe_value};
}

bool EarlyCopies::copy(int from, const topics::LogReader& reader, const topics::Record& record,
                       Request& request) {
  const auto index = static_cast<std::size_t>(from);
  if (index >= senders_.size()) senders_.resize(index + 1);
  Sender& sender = senders_[index];
  Copy& copy = sender.copy;
  const MessageSource source = read_source(record);
  const std::uint64_t number = reader.records_before();
  if (copy.request != &request || copy.record != number || copy.source != source)
    copy = {&request, number, source, 0, false};
  if (copy.over) return false;
  copy.over = true;
  if (source.process == 0 || !sender.reach.of({source.process, source.probe_address, source.probe_value}))
    return false;
  while (copy.bytes < record.payload.size()) {
    const std::size_t piece = std::min(piece_bytes, record.payload.size() - copy.bytes);
    const auto reached = read_memory(static_cast<int>(source.process), source.address + copy.bytes,
                                     {request.buffer.contiguous() + copy.bytes, piece});
    // Once it is committed, the sender may have changed its memory under our hands.
    if (reached != Reached::done || !reader.is_announced()) break;
    copy.bytes += piece;
  }
  return true;
}

std::size_t EarlyCopies::take(int from, const topics::LogReader& reader, const topics::Record& record,
                              const Request& request) {
  const auto index = static_cast<std::size_t>(from);
  if (index >= senders_.size()) return 0;
  const Copy copy = std::exchange(senders_[index].copy, {});
  const bool same = copy.request == &request && copy.record == reader.records_before() &&
                    record.extra.size() == sizeof(MessageSource) && copy.source == read_source(record);
  return same ? std::min(copy.bytes, record.payload.size()) : 0;
}

bool EarlyCopies::has_begun(const Request& request) const {
  return std::any_of(senders_.begin(), senders_.end(),
                     [&](const Sender& sender) { return sender.copy.request == &request; });
}

}  // namespace llamada::mpi
