#include "served_log.hpp"

#include <algorithm>

namespace llamada::replication {
namespace {

/// What a frame with one record has beside a payload of more than 48 bytes.
constexpr std::size_t whole_overhead_bytes = frame_head_bytes + 8 + 8 + 16 + log::extra_bytes_max + 8;

/// So few pieces come sooner in order, on the link on which their record begins.
constexpr std::size_t frames_on_small_link_max = 6;

/// At records and chunks that are passed over.
constexpr int looks_at_a_time = 1024;

}  // namespace

ServedLog::ServedLog(LogNumber alias, const Follow& follow, std::size_t frame_bytes_max,
                     std::uint64_t eager_bytes_max)
    : name_{follow.writer, {follow.key_high, follow.key_low}},
      alias_(alias),
      whole_bytes_max_(frame_bytes_max - whole_overhead_bytes),
      bulk_bytes_min_(frames_on_small_link_max * frame_bytes_max),
      eager_bytes_max_(eager_bytes_max),
      next_(follow.from),
      credit_(follow.credit_bytes) {}

bool ServedLog::attach(const LogSource& source, log::CursorEntry* cursor) {
  source_ = source;
  reader_ = ServedReader::of_own(source, cursor);
  if (!begin(reader_.first_number(source_))) return false;
  // What the keeper has is not to hold the writer, which may be waiting for just that.
  (void)peek();
  reader_.release_passed();
  return true;
}

bool ServedLog::attach_history(const LogSource& source, const ServedLog* before) {
  source_ = source;
  has_begun_ = has_ended_ = false;
  if (before != nullptr && before->is_history() && before->at_ <= next_) {
    at_ = before->at_;
    const auto place = before->reader_.position();
    reader_ = place.chunk != 0 ? before->reader_.at(source_, place, whole_bytes_max_) : ServedReader();
    if (place.chunk != 0 && !reader_.has_stopped()) return begin(at_);
  }
  reader_ = ServedReader::of_history(source, whole_bytes_max_);
  return begin(reader_.first_number(source_));
}

/// `first`: the number of the record where the reader stands; nothing if the log has none yet.
bool ServedLog::begin(std::optional<std::uint64_t> first) {
  is_attached_ = true;
  const log::LogEntry& entry = source_.arena.log(source_.index);
  keeps_all_ = (entry.flags.load(std::memory_order_relaxed) & log::log_keeps_all) != 0;
  at_ = first.value_or(1);
  return at_ <= next_;
}

void ServedLog::set_credit(std::uint64_t bytes) { credit_ = std::max(credit_, bytes); }

/// Moves over what the keeper has already. False: the log has not so much, or more is to be passed over. Of a
/// history so much at a time, for its server has others to serve.
bool ServedLog::pass_over() {
  is_passing_ = false;
  for (int looks = 0; at_ < next_;) {
    is_passing_ = looks >= looks_at_a_time && is_history();
    if (is_passing_) return false;
    if (const auto at = reader_.pass_chunks(next_); at && *at > at_) {
      at_ = *at;
      looks += log::HistoryReader::chunks_passed_max;
      continue;
    }
    if (!reader_.peek()) return false;
    reader_.advance();
    ++at_;
    ++looks;
  }
  return true;
}

std::optional<log::Record> ServedLog::peek() {
  if (!is_attached_ || !pass_over()) return std::nullopt;
  return reader_.peek();
}

WireRecord ServedLog::to_wire(const log::Record& record) const {
  WireRecord wire{.kind = record.kind,
                  .form = Form::whole,
                  .flags = record.flags,
                  .label = record.label,
                  .size_bytes = record.absent_bytes != 0 ? record.absent_bytes : record.payload.size()};
  if (record.absent_bytes != 0 || (keeps_all_ && wire.size_bytes > eager_bytes_max_)) {
    wire.form = Form::absent;
    return wire;
  }
  wire.extra = record.extra;
  if (wire.size_bytes > whole_bytes_max_)
    wire.form = Form::begins;
  else
    wire.payload = record.payload;
  return wire;
}

Item ServedLog::write(FrameWriter& writer) {
  Item item;
  while (sent_cost_ < credit_) {
    const auto record = peek();
    if (!record) break;
    const WireRecord wire = to_wire(*record);
    if (item.count == 0) {
      item = {.kind = Item::Kind::records, .log = alias_, .record = next_, .place = reader_.position()};
      if (!writer.begin_records(alias_, next_)) return {};
    }
    if (!writer.add(wire)) break;
    ++item.count;
    item.chunk_ordinal = record->chunk_ordinal;
    sent_cost_ += record_cost(wire.form, wire.size_bytes);
    if (wire.form == Form::begins) {
      has_begun_ = true;
      begun_bytes_ = wire.size_bytes;
      offset_ = 0;
      break;
    }
    if (wire.form == Form::absent) absent_.push_back({next_, reader_.position()});
    reader_.advance();
    at_ = ++next_;
  }
  if (item.count == 0) return {};
  writer.end_records();
  return item;
}

Item ServedLog::write_piece(FrameWriter& writer) {
  const auto record = peek();
  if (!record) {
    has_begun_ = false;
    return {};
  }
  const std::uint64_t size_bytes = record->payload.size();
  const Item item{.kind = Item::Kind::piece,
                  .log = alias_,
                  .count = static_cast<std::uint32_t>(piece_bytes(size_bytes - offset_, writer)),
                  .record = next_,
                  .offset = offset_,
                  .begun_by = has_begun_bulk() ? begun_by_ : 0,
                  .place = reader_.position(),
                  .chunk_ordinal = record->chunk_ordinal};
  if (!put_piece(reader_, *record, item, writer)) {
    has_begun_ = !reader_.has_stopped();
    return {};
  }
  offset_ += item.count;
  if (offset_ == size_bytes) {
    has_begun_ = false;
    reader_.advance();
    at_ = ++next_;
  }
  return item;
}

/// How much of what is left of a payload the frame takes. Pieces of a history begin at multiples of 8 bytes.
std::uint64_t ServedLog::piece_bytes(std::uint64_t rest, const FrameWriter& writer) const {
  const std::uint64_t room = writer.room_for_piece();
  if (rest <= room) return rest;
  constexpr std::uint64_t grain = 8;
  return reader_.is_own() ? room : room / grain * grain;
}

bool ServedLog::put_piece(ServedReader& reader, const log::Record& record, const Item& item,
                          FrameWriter& writer) const {
  const Piece piece{item.record, item.offset, record.payload.size(), item.begun_by};
  const std::uint8_t flags = item.kind == Item::Kind::pulled ? piece_was_pulled : 0;
  if (reader.is_own())
    return writer.put_piece(alias_, flags, piece, record.payload.subspan(item.offset, item.count));
  const auto room = writer.put_room_for_piece(alias_, flags, piece, item.count);
  return !room.empty() && reader.copy(record, item.offset, room);
}

bool ServedLog::write_again(const Item& item, FrameWriter& writer) const {
  if (!is_attached_) return false;
  ServedReader reader = reader_.at(source_, item.place, whole_bytes_max_);
  if (item.kind != Item::Kind::records) {
    const auto record = reader.peek();
    return record && item.offset + item.count <= record->payload.size() &&
           put_piece(reader, *record, item, writer);
  }
  if (!writer.begin_records(alias_, item.record)) return false;
  std::uint32_t count = 0;
  for (; count < item.count; ++count) {
    const auto record = reader.peek();
    if (!record || !writer.add(to_wire(*record))) break;
    reader.advance();
  }
  writer.end_records();
  return count == item.count;
}

void ServedLog::applied(const Item& item) {
  if (item.kind == Item::Kind::records || item.kind == Item::Kind::piece) reader_.release(item.chunk_ordinal);
}

/// `absent_` has the places of the records that were sent as absent. A keeper that follows anew may ask for
/// an older one.
std::optional<log::LogPosition> ServedLog::find_place(std::uint64_t record) const {
  const auto found = std::ranges::lower_bound(absent_, record, {}, &Absent::record);
  if (found != absent_.end() && found->record == record) return found->place;
  ServedReader reader = reader_.at_start(source_, 0);
  const auto first = reader.first_number(source_);
  if (!first || *first > record) return std::nullopt;
  for (std::uint64_t at = *first; reader.peek(); reader.advance(), ++at)
    if (at == record) return reader.position();
  return std::nullopt;
}

std::optional<ServedLog::Payload> ServedLog::find_payload(std::uint64_t record) const {
  if (!is_attached_) return std::nullopt;
  const auto place = find_place(record);
  if (!place) return std::nullopt;
  ServedReader reader = reader_.at(source_, *place, 0);
  const auto there = reader.peek();
  // What is absent here, too, can only be pulled elsewhere.
  if (!there || there->payload.empty()) return std::nullopt;
  return Payload{*place, there->payload.size()};
}

Item ServedLog::write_pulled(std::uint64_t record, const Payload& payload, std::uint64_t offset,
                             std::uint64_t end, FrameWriter& writer) const {
  const Item item{.kind = Item::Kind::pulled,
                  .log = alias_,
                  .count = static_cast<std::uint32_t>(piece_bytes(end - offset, writer)),
                  .record = record,
                  .offset = offset,
                  .place = payload.place};
  return write_again(item, writer) ? item : Item{};
}

bool ServedLog::is_at_end() {
  if (!is_history() || has_ended_ || has_begun_) return false;
  return reader_.has_stopped() || (sent_cost_ < credit_ && !peek() && !is_passing_);
}

bool ServedLog::go_on() {
  if (!is_history() || !peek()) return false;
  has_ended_ = false;
  return true;
}

}  // namespace llamada::replication
