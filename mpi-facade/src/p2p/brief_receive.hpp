#pragma once

#include <algorithm>

#include "llamada/base/copy.hpp"
#include "llamada/base/crash_point.hpp"
#include "p2p/engine.hpp"

// The way of a small message to a blocking receive that is waiting for it, from the log into the buffer: what
// can be looked at before it comes is, for all that follows is part of its latency.

namespace llamada::mpi {

inline bool Engine::receive_briefly(std::span<std::byte> room, int source, int tag,
                                    const Communicator& communicator, MPI_Status* status) {
  if (!has_nothing_else()) return false;
  const std::uint32_t context = communicator.context();
  const bool is_wildcard = source == MPI_ANY_SOURCE;
  int from = world_source(communicator, source);
  Stream* const stream = incoming_->one_stream(from);
  if (!stream || !matcher_.is_untouched(context, from)) return false;
  // Not before: what a probe has found is still the first for the receive after it, whatever came meanwhile.
  if (is_turn_of_others()) {
    progress();
    return false;
  }
  log::LogReader& reader = stream->reader;

  const bool answers = is_answer(from, *stream);
  if (answers) look_late(*stream);
  const unsigned looks_max = std::min(spin_rounds_, brief_looks_max);
  unsigned looks = 0;
  const log::Cell* cell = reader.peek_cell();
  for (; !cell; ++looks) {
    if (looks == looks_max || reader.is_announced()) return false;
    spend_look(*stream, looks);
    cell = reader.peek_cell();
  }

  const std::uint64_t label = cell->label;
  if (cell->kind != kind_message || cell->flags != 0 || label_context(label) != context) return false;
  if (tag != MPI_ANY_TAG && label_tag(label) != tag) return false;
  std::span<const std::byte> payload{cell->payload, cell->inline_size};
  const bool is_apart = payload.size() > log::inline_payload_max;
  if (is_apart) {
    const auto record = reader.peek();
    if (!record) return false;
    payload = record->payload;
    if (payload.size() >= EarlyCopies::bytes_min) return false;
  }
  if (payload.size() > room.size()) return false;

  reader.advance();
  const std::uint64_t ordinal = stream->ordinals.next(context);
  const std::uint64_t post_index = matcher_.pass(from, is_wildcard);
  if (is_wildcard) {
    determinants_->record_match(post_index, {from, ordinal});
    source = communicator.rank_of(from);
  }
  if (is_apart)
    copy_bytes_in(room.data(), payload.data(), payload.size());
  else
    log::copy_small(room.data(), payload.data(), payload.size());
  LLAMADA_CRASH_POINT("match:delivered");
  set_status(status, source, label_tag(label), payload.size());
  count_received(1, payload.size());
  stream->last_bytes = payload.size();
  if (answers) stream->first_look.found_after(looks);
  return true;
}

}  // namespace llamada::mpi
