#include "p2p/incoming.hpp"

#include <algorithm>
#include <cstdlib>
#include <cstring>

namespace llamada::mpi {
namespace {

/// Taken from one stream before the others have their turn.
constexpr int records_in_a_row_max = 64;

template <typename T>
T read_payload(const log::Record& record) {
  T value{};
  std::memcpy(&value, record.payload.data(), std::min(sizeof(T), record.payload.size()));
  return value;
}

/// A message as the head of its record describes it.
inline IncomingMessage message_of(int from, const Stream& stream, std::uint64_t label, std::uint16_t flags) {
  IncomingMessage message;
  message.stays = !stream.source.is_copy;
  message.context = label_context(label);
  message.source = from;
  message.tag = label_tag(label);
  message.synchronous = (flags & flag_synchronous) != 0;
  return message;
}

}  // namespace

Incoming::Incoming(World& world, MessageSink& sink, std::uint64_t told_after)
    : world_(world), sink_(sink), told_after_(told_after) {
  for (int rank = 0; rank < world.world_size(); ++rank) meet(world.world_first() + rank);
}

void Incoming::meet(int rank) {
  const auto index = static_cast<std::size_t>(rank);
  if (index >= streams_.size()) streams_.resize(index + 1);
  Stream& stream = streams_[index];
  if (stream.met) return;
  stream.met = true;
  stream.is_far = !world_.is_local(rank);
  stream.source = world_.source(rank, message_log_key(world_.rank(), world_.checkpoint()));
  missing_.push_back(rank);
}

void Incoming::part_if_silent(std::span<const int> ranks) {
  std::erase_if(missing_, [&](int rank) {
    const bool part = std::find(ranks.begin(), ranks.end(), rank) != ranks.end();
    if (!part) return false;
    streams_[static_cast<std::size_t>(rank)] = Stream{};
    world_.part(rank);
    return true;
  });
}

bool Incoming::has_met(int rank) const {
  const auto index = static_cast<std::size_t>(rank);
  return index < streams_.size() && streams_[index].met;
}

bool Incoming::open_reader(int from, log::LogKey key, log::DirectoryScan& scan, log::LogReader& reader) {
  const World::Source source = world_.source(from, key);
  auto index = log::find_log(source.arena, source.key, scan);
  if (!index) return false;
  auto cursor = world_.arena().cursor(key, static_cast<std::uint32_t>(from));
  if (!cursor) world_.aborted(1, cursor.error().text());
  reader = log::LogReader::open(source.arena, *index, *cursor);
  return true;
}

bool Incoming::find(int from, Stream& stream) {
  if (!has_new_logs(stream)) return false;
  stream.open =
      open_reader(from, message_log_key(world_.rank(), world_.checkpoint()), stream.scan, stream.reader);
  stream.may_be_brief = stream.open && told_after_ == 0;
  return stream.open;
}

bool Incoming::find_bulk(int from, Stream& stream) {
  stream.bulk_open =
      open_reader(from, bulk_log_key(world_.rank(), world_.checkpoint()), stream.bulk_scan, stream.bulk);
  return stream.bulk_open;
}

Status Incoming::take_over() {
  for (std::size_t index = 0; index < streams_.size(); ++index) {
    Stream& stream = streams_[index];
    if (!stream.met) continue;
    stream.reader.take_over_cursor();
    stream.bulk.take_over_cursor();
    if (!stream.source.is_copy) continue;
    const int from = static_cast<int>(index);
    const log::LogKey key = message_log_key(world_.rank(), world_.checkpoint());
    stream.source = world_.source_behind(from, key, stream.reader.records_before());
    stream.scan = {};
    stream.released = 0;
    if (!stream.open) continue;
    if (!open_reader(from, key, stream.scan, stream.reader))
      return failure(Errc::not_found, "there is no copy of the log of rank {}", from);
    // Enters the chunk that says how many records came before it.
    (void)stream.reader.peek();
  }
  return {};
}

void Incoming::find_streams() {
  for (std::size_t i = 0; i < missing_.size();) {
    const int rank = missing_[i];
    if (!find(rank, streams_[static_cast<std::size_t>(rank)])) {
      ++i;
      continue;
    }
    open_.push_back(rank);
    missing_[i] = missing_.back();
    missing_.pop_back();
  }
}

bool Incoming::poll() {
  if (is_time_to_look()) find_streams();
  ++polls_;
  bool found = false;
  const std::size_t count = open_.size();
  for (std::size_t step = 0; step < count; ++step) {
    if (++next_ >= count) next_ = 0;
    const int from = open_[next_];
    Stream& stream = streams_[static_cast<std::size_t>(from)];
    if (stream.reader.ready())
      found |= drain(from, stream);
    else if (stream.reader.is_announced())
      found |= sink_.message_announced(from, stream.reader);
    else
      stream.reader.expect();
    if (stream.bulk_open && stream.bulk.ready()) found |= drain_bulk(from, stream);
  }
  return found;
}

bool Incoming::ready() {
  if (!missing_.empty()) {
    const std::size_t before = open_.size();
    find_streams();
    if (open_.size() != before) return true;
  }
  for (const int from : open_) {
    const Stream& stream = streams_[static_cast<std::size_t>(from)];
    if (stream.reader.ready() || (stream.bulk_open && stream.bulk.ready())) return true;
  }
  return false;
}

bool Incoming::drain(int from, Stream& stream) {
  int taken = 0;
  for (; taken < records_in_a_row_max; ++taken) {
    // What nobody waits for yet has time: who waits is answered first.
    const int awaited = sink_.take_awaited(from, stream, records_in_a_row_max - taken);
    if (awaited < 0) break;
    taken += awaited;
    if (awaited > 0) break;
    const log::Cell* cell = stream.reader.peek_cell();
    if (!cell && !stream.reader.at_start()) break;
    if (cell && take_small(from, stream, *cell)) continue;
    const auto record = stream.reader.peek();
    if (!record) break;
    stream.reader.advance();
    handle(from, stream, *record);
  }
  if (stream.reader.failed()) broken(from, stream.reader);
  if (is_to_release(stream)) release(from, stream);
  if (told_after_ > 0) [[unlikely]]
    look_whether_to_tell(from, stream);
  return taken > 0;
}

void Incoming::look_whether_to_tell(int from, Stream& stream) {
  const std::uint64_t count = stream.ordinals.total();
  if (count - stream.told_taken_in < told_after_) return;
  stream.told_taken_in = count;
  sink_.tell_taken_in(from, count);
}

/// What lies in chunks before the position is done with; the writer may be waiting for the room.
void Incoming::release(int from, Stream& stream) {
  stream.released = stream.reader.position_chunk();
  stream.reader.release(stream.released);
  world_.wake(from);
}

bool Incoming::drain_bulk(int from, Stream& stream) {
  bool taken = false;
  while (const auto record = stream.bulk.peek()) {
    sink_.bulk_arrived(from, record->payload);
    stream.bulk.advance();
    stream.bulk.release(stream.bulk.position_chunk());
    taken = true;
  }
  if (stream.bulk.failed()) broken(from, stream.bulk);
  // The writer may be waiting for the room.
  if (taken) world_.wake(from);
  return taken;
}

/// The usual record, without a detour. False when it is another.
bool Incoming::take_small(int from, Stream& stream, const log::Cell& cell) {
  const std::uint8_t size = cell.inline_size;
  if (cell.kind != kind_message || size > log::inline_payload_max) return false;
  stream.reader.advance();
  IncomingMessage message = message_of(from, stream, cell.label, cell.flags);
  message.ordinal = stream.ordinals.next(message.context);
  message.bytes = stream.last_bytes = size;
  message.payload = {cell.payload, size};
  sink_.message_arrived(message);
  return true;
}

void Incoming::handle(int from, Stream& stream, const log::Record& record) {
  if (record.absent_bytes > 0) world_.damaged(from, "a record has left its payload elsewhere");
  const std::uint32_t context = label_context(record.label);
  IncomingMessage message = message_of(from, stream, record.label, record.flags);
  switch (record.kind) {
    case kind_message:
      message.ordinal = stream.ordinals.next(context);
      message.bytes = stream.last_bytes = record.payload.size();
      message.payload = record.payload;
      if ((record.flags & flag_patched) != 0) message.patch = stream.patch;
      message.chunk = record.chunk_ordinal;
      return sink_.message_arrived(message);
    case kind_announcement: {
      message.announcement = read_payload<Announcement>(record);
      message.ordinal = stream.ordinals.next(context);
      message.rendezvous = true;
      message.bytes = stream.last_bytes = message.announcement.size;
      if (!stream.bulk_open) find_bulk(from, stream);
      return sink_.message_arrived(message);
    }
    case kind_patch:
      stream.patch.assign(record.payload.begin(), record.payload.end());
      return;
    case kind_acknowledgement:
      return sink_.acknowledged(from, context, read_payload<std::uint64_t>(record));
    case kind_taken_in:
      return sink_.taken_in(from, read_payload<std::uint64_t>(record));
    case kind_revoked:
      return sink_.revoked(context);
    case kind_grant:
      return sink_.granted(from, read_payload<Grant>(record));
    case kind_direct_grant:
      return sink_.granted_directly(from, read_payload<DirectGrant>(record));
    default:
      world_.damaged(from, fmt::format("its log to rank {} has a record of the unknown kind {}",
                                       world_.rank(), record.kind));
  }
}

void Incoming::release_consumed() {
  releases_ = true;
  for (const int from : open_) release(from, streams_[static_cast<std::size_t>(from)]);
}

void Incoming::broken(int from, const log::LogReader& reader) {
  world_.damaged(from, fmt::format("its log to rank {}: {}", world_.rank(), reader.error().text()));
  std::abort();  // Not reached.
}

void Incoming::look_for_damage() {
  for (const int from : open_) {
    Stream& stream = streams_[static_cast<std::size_t>(from)];
    look_for_damage(from, stream.reader);
    if (stream.bulk_open) look_for_damage(from, stream.bulk);
  }
  for (const int from : missing_) {
    const Stream& stream = streams_[static_cast<std::size_t>(from)];
    if (!stream.source.arena.is_damaged()) continue;
    // A copy lies in the arena of this rank.
    world_.damaged(stream.source.is_copy ? world_.rank() : from, "its header has changed");
  }
}

void Incoming::look_for_lost_logs() {
  const log::PeerArena own = world_.arena().reading();
  for (std::uint32_t index = 0; index < own.cursor_count(); ++index) {
    const log::CursorEntry& cursor = own.cursor(index);
    const bool is_retired = cursor.consumed.load(std::memory_order_relaxed) == log::retired_cursor;
    const auto writer = static_cast<int>(cursor.writer);
    if (is_retired || writer >= world_.size() || writer == world_.rank()) continue;
    // Logs of an earlier checkpoint may be gone.
    if (checkpoint_of_log({cursor.key_high, cursor.key_low}) != world_.checkpoint()) continue;
    // Copies are this rank's own, and so are the cursors of their writers' keepers.
    if (!world_.is_local(writer)) continue;
    std::uint32_t scanned = 0;
    const World::Source source = world_.source(writer, {cursor.key_high, cursor.key_low});
    if (!log::find_log(source.arena, source.key, scanned))
      world_.damaged(writer,
                     fmt::format("a log that rank {} had read can no longer be found", world_.rank()));
  }
}

void Incoming::look_for_damage(int from, log::LogReader& reader) {
  if (reader.is_cursor_damaged())
    world_.damaged(world_.rank(), fmt::format("its cursor in the log from rank {} has changed", from));
  if (const char* why = reader.find_damage())
    world_.damaged(from, fmt::format("its log to rank {}: {}", world_.rank(), why));
}

}  // namespace llamada::mpi
