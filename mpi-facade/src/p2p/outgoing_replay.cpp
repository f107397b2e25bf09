#include <algorithm>
#include <cstring>

#include "llamada/base/crash_point.hpp"
#include "llamada/base/plain_bytes.hpp"
#include "p2p/outgoing.hpp"
#include "p2p/outgoing_message.hpp"
#include "p2p/patch.hpp"
#include "replay/reopened_log.hpp"

// What a replacement would send, compared with what its predecessors sent.

namespace llamada::mpi {

std::optional<log::Record> Outgoing::predecessors_message(Destination& to) {
  while (to.predecessor.left > 0) {
    const auto record = to.predecessor.reader.peek();
    if (!record) {
      owner_.differs(fmt::format("the log to rank {} ends too early", to.rank));
      return std::nullopt;
    }
    if (record->kind == kind_message || record->kind == kind_announcement) return record;
    if (record->kind == kind_patch) to.predecessor.patch = record->payload;
    take_predecessors_message(to);
  }
  return std::nullopt;
}

void Outgoing::take_predecessors_message(Destination& to) {
  --to.predecessor.left;
  to.predecessor.reader.advance();
}

/// They lie among the messages, at places that depend on when the acknowledged messages came.
void Outgoing::find_acknowledgements(Destination& to) {
  log::LogReader reader = to.predecessor.reader;
  for (std::uint64_t left = to.predecessor.left; left > 0; --left) {
    const auto record = reader.peek();
    if (!record) return;
    reader.advance();
    if (record->kind != kind_acknowledgement) continue;
    std::uint64_t ordinal = 0;
    std::memcpy(&ordinal, record->payload.data(), std::min(sizeof(ordinal), record->payload.size()));
    to.predecessor.acknowledgements.insert({label_context(record->label), ordinal});
  }
}

/// What the sender has been told is not told again.
bool Outgoing::repeats_acknowledgement(Destination& to, std::uint32_t context, std::uint64_t ordinal) {
  return to.predecessor.acknowledgements.erase({context, ordinal}) > 0;
}

void Outgoing::compare(Destination& to, const Request& request, const log::Record& record) {
  const std::uint64_t label = make_label(request.context, request.tag);
  const std::size_t bytes = message_bytes(request);
  const std::uint64_t ordinal = to.ordinals.last(request.context) + 1;
  const bool synchronous = request.mode == SendMode::synchronous;
  if (record.kind != kind_message || record.label != label ||
      ((record.flags & flag_synchronous) != 0) != synchronous)
    return owner_.differs(fmt::format("{}: where its predecessor sent tag {} in communicator {}{}",
                                      name(to, label, ordinal), label_tag(record.label),
                                      label_context(record.label),
                                      (record.flags & flag_synchronous) != 0 ? ", synchronous" : ""));
  if (record.payload.size() != bytes)
    return owner_.differs(fmt::format("{}: {} bytes, where its predecessor sent {}", name(to, label, ordinal),
                                      bytes, record.payload.size()));
  std::vector<std::byte> packed;
  const std::byte* memory = message_memory(request);
  if (!memory && bytes > 0) {
    packed.resize(bytes);
    pack_message(request, 0, packed);
    memory = packed.data();
  }
  const std::byte* sent = record.payload.data();
  std::vector<std::byte> patched;
  if ((record.flags & flag_patched) != 0) {
    patched.assign(record.payload.begin(), record.payload.end());
    const auto put = [&](std::size_t offset, std::span<const std::byte> piece) {
      std::memcpy(patched.data() + offset, piece.data(), piece.size());
    };
    if (!apply_patch(to.predecessor.patch, bytes, put))
      return owner_.differs(fmt::format("{}: the log has no patch for it", name(to, label, ordinal)));
    sent = patched.data();
  }
  if (bytes > 0 && std::memcmp(memory, sent, bytes) != 0) {
    const auto at = std::mismatch(memory, memory + bytes, sent).first - memory;
    return owner_.differs(fmt::format("{}: byte {} of {} differs from what its predecessor sent",
                                      name(to, label, ordinal), at, bytes));
  }
  arena_.count(log::Counter::sends_compared);
  arena_.count(log::Counter::bytes_compared, bytes);
  LLAMADA_CRASH_POINT("send:compared");
}

std::string Outgoing::name(const Destination& to, std::uint64_t label, std::uint64_t ordinal) const {
  return fmt::format("message {} to rank {}, tag {}, communicator {}", ordinal, to.rank, label_tag(label),
                     label_context(label));
}

std::string Outgoing::left_over() {
  if (!options_.compares) return {};
  // Destinations that have not been opened may have a log, too.
  for (std::size_t rank = 0; rank < destinations_.size(); ++rank) {
    Destination* to = destinations_[rank].get();
    if (!to->open && !world_.arena().find_log(message_log_key(to->rank, world_.checkpoint()))) continue;
    destination(to->rank);
    if (const auto record = predecessors_message(*to))
      return name(*to, record->label, to->ordinals.last(label_context(record->label)) + 1);
    if (to->predecessor.acknowledgements.empty()) continue;
    const auto& [context, ordinal] = *to->predecessor.acknowledgements.begin();
    return fmt::format("the receipt of message {} from rank {}, communicator {}, a synchronous send", ordinal,
                       to->rank, context);
  }
  return {};
}

Status Outgoing::take_over() {
  options_.compares = true;
  live_ = has_short_way_ = false;
  for (const auto& to : destinations_)
    if (to->open)
      if (auto taken = take_over(*to); !taken) return taken;
  return {};
}

Status Outgoing::take_over(Destination& to) {
  const std::uint64_t sent = to.log.published();
  auto log =
      replay::reopen(world_.arena(), to.log, message_log_key(to.rank, world_.checkpoint()), log_options());
  if (!log) return propagate(log);
  to.log = std::move(log->writer);
  to.scan = {};  // readers are to be found again
  world_.publish_to(to.log, message_log_key(to.rank, world_.checkpoint()), std::span(&to.rank, 1));
  to.predecessor = {};
  to.predecessor.left = to.log.published() - sent;
  to.predecessor.reader = log->since;
  find_acknowledgements(to);
  return {};
}

void Outgoing::went_live() {
  live_ = true;
  has_short_way_ = options_.has_short_way;
  for (auto& to : destinations_)
    if (to->first || !to->controls.empty()) mark_busy(*to);
  (void)advance();
}

}  // namespace llamada::mpi
