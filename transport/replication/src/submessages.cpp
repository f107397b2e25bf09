#include "llamada/replication/submessages.hpp"

#include <algorithm>
#include <cstring>
#include <type_traits>

#include "llamada/base/check.hpp"
#include "llamada/base/rounding.hpp"
#include "llamada/log/arena_layout.hpp"

namespace llamada::replication {
namespace {

constexpr std::size_t alignment = 8;
constexpr std::size_t frame_room_min = 256;

/// The 16 bytes with which each record in RECORDS begins.
struct RecordHead {
  std::uint8_t kind = 0;
  std::uint8_t form = 0;
  std::uint16_t flags = 0;
  std::uint32_t size_bytes = 0;  // of a whole payload
  std::uint64_t label = 0;
};
static_assert(sizeof(RecordHead) == 16 && sizeof(SubmessageHead) == 8 && sizeof(Follow) == 40);
static_assert(sizeof(Credit) == 8 && sizeof(Pull) == 24 && sizeof(Gone) == 16 && sizeof(End) == 8);
static_assert(sizeof(Piece) == 32 && sizeof(Look) == 8 && sizeof(Unfollow) == 8 && sizeof(Unfollowed) == 8);

template <typename T>
std::optional<T> read_whole(std::span<const std::byte> body) {
  static_assert(std::is_trivially_copyable_v<T>);
  if (body.size() != sizeof(T)) return std::nullopt;
  T value;
  std::memcpy(&value, body.data(), sizeof(value));
  return value;
}

/// Takes a value from the front of bytes that are long enough.
template <typename T>
T take(std::span<const std::byte>& bytes) {
  T value;
  std::memcpy(&value, bytes.data(), sizeof(value));
  bytes = bytes.subspan(sizeof(value));
  return value;
}

bool has_extra(Form form, std::uint64_t size_bytes) {
  return form != Form::absent && size_bytes > log::inline_payload_max;
}

bool is_fixed_part_right(const Submessage& message) {
  switch (message.head.type) {
    case Type::records: {
      RecordsReader records(message.body);
      if (records.failed()) return false;
      std::size_t count = 0;
      while (records.next()) ++count;
      return count > 0 && !records.failed();
    }
    case Type::piece:
      return read_piece(message.body).has_value();
    case Type::follow:
      return read_follow(message.body).has_value();
    case Type::credit:
      return read_credit(message.body).has_value();
    case Type::pull:
      return read_pull(message.body).has_value();
    case Type::gone:
      return read_gone(message.body).has_value();
    case Type::end:
      return read_end(message.body).has_value();
    case Type::look:
      return read_look(message.body).has_value();
    case Type::unfollow:
      return read_unfollow(message.body).has_value();
    case Type::unfollowed:
      return read_unfollowed(message.body).has_value();
  }
  return false;
}

}  // namespace

std::uint64_t record_cost(Form form, std::uint64_t payload_bytes) {
  const bool lies_apart = form != Form::absent && payload_bytes > log::inline_payload_max;
  return log::cell_size_bytes + (lies_apart ? rounded_up(payload_bytes, log::cell_size_bytes) : 0);
}

std::optional<Submessage> SubmessageReader::next() {
  if (rest_.empty() || failed_) return std::nullopt;
  failed_ = true;
  if (rest_.size() < sizeof(SubmessageHead)) return std::nullopt;
  const auto head = take<SubmessageHead>(rest_);
  if (head.size_bytes > rest_.size()) return std::nullopt;
  const auto body = rest_.first(head.size_bytes);
  // The last one's padding is not sent.
  rest_ = rest_.subspan(std::min<std::size_t>(rounded_up(head.size_bytes, alignment), rest_.size()));
  failed_ = false;
  return Submessage{head, body};
}

std::optional<Follow> read_follow(std::span<const std::byte> body) {
  auto follow = read_whole<Follow>(body);
  if (follow && follow->from == 0) return std::nullopt;
  return follow;
}
std::optional<Credit> read_credit(std::span<const std::byte> body) { return read_whole<Credit>(body); }
std::optional<Pull> read_pull(std::span<const std::byte> body) {
  auto pull = read_whole<Pull>(body);
  if (pull && (pull->record == 0 || pull->bytes == 0 || pull->bytes > UINT64_MAX - pull->offset))
    return std::nullopt;
  return pull;
}
std::optional<Gone> read_gone(std::span<const std::byte> body) { return read_whole<Gone>(body); }
std::optional<End> read_end(std::span<const std::byte> body) { return read_whole<End>(body); }
std::optional<Look> read_look(std::span<const std::byte> body) { return read_whole<Look>(body); }
std::optional<Unfollow> read_unfollow(std::span<const std::byte> body) { return read_whole<Unfollow>(body); }
std::optional<Unfollowed> read_unfollowed(std::span<const std::byte> body) {
  return read_whole<Unfollowed>(body);
}

std::optional<PieceBody> read_piece(std::span<const std::byte> body) {
  if (body.size() <= sizeof(Piece)) return std::nullopt;
  const auto piece = take<Piece>(body);
  const bool lies_within = piece.offset <= piece.size_bytes && body.size() <= piece.size_bytes - piece.offset;
  if (piece.record == 0 || !lies_within) return std::nullopt;
  return PieceBody{piece, body};
}

RecordsReader::RecordsReader(std::span<const std::byte> body) : rest_(body) {
  failed_ = body.size() < sizeof(std::uint64_t);
  if (failed_) return;
  number_ = take<std::uint64_t>(rest_);
  // No log has so many records that counting on from here could overflow.
  failed_ = number_ == 0 || number_ > UINT64_MAX / 2;
}

std::optional<WireRecord> RecordsReader::fail() {
  failed_ = true;
  return std::nullopt;
}

std::optional<WireRecord> RecordsReader::next() {
  if (failed_ || rest_.empty()) return std::nullopt;
  if (rest_.size() < sizeof(RecordHead)) return fail();
  const auto head = take<RecordHead>(rest_);
  WireRecord record{.kind = head.kind,
                    .form = static_cast<Form>(head.form),
                    .flags = head.flags,
                    .label = head.label,
                    .size_bytes = head.size_bytes};
  if (!log::is_of_record(head.kind) || head.form > static_cast<std::uint8_t>(Form::begins)) return fail();
  if (record.form != Form::whole) {
    if (rest_.size() < sizeof(std::uint64_t) || head.size_bytes != 0) return fail();
    record.size_bytes = take<std::uint64_t>(rest_);
    // What begins lies apart; and its size must leave room to round it up.
    if (record.size_bytes == 0 || record.size_bytes > UINT64_MAX / 2) return fail();
    if (record.form == Form::begins && record.size_bytes <= log::inline_payload_max) return fail();
  }
  if (has_extra(record.form, record.size_bytes)) {
    if (rest_.size() < log::extra_bytes_max) return fail();
    record.extra = rest_.first(log::extra_bytes_max);
    rest_ = rest_.subspan(log::extra_bytes_max);
  }
  if (record.form == Form::whole) {
    if (rest_.size() < rounded_up(record.size_bytes, alignment)) return fail();
    record.payload = rest_.first(record.size_bytes);
    rest_ = rest_.subspan(rounded_up(record.size_bytes, alignment));
  }
  ++number_;
  return record;
}

bool is_well_formed(std::span<const std::byte> body) {
  SubmessageReader reader(body);
  while (auto message = reader.next())
    if (!is_fixed_part_right(*message)) return false;
  return !reader.failed();
}

FrameWriter::FrameWriter(std::span<std::byte> room, std::size_t frame_bytes_max)
    : room_(room.first(std::min(room.size(), frame_bytes_max))),
      frame_bytes_max_(frame_bytes_max),
      used_(frame_head_bytes) {
  LLAMADA_CHECK(room_.size() >= frame_room_min);
}

void FrameWriter::append(std::span<const std::byte> bytes) {
  if (bytes.empty()) return;
  std::memcpy(room_.data() + used_, bytes.data(), bytes.size());
  used_ += bytes.size();
}

void FrameWriter::pad() {
  const std::size_t padded = rounded_up(used_, alignment);
  std::memset(room_.data() + used_, 0, padded - used_);
  used_ = padded;
}

bool FrameWriter::put_bytes(Type type, std::uint8_t flags, LogNumber log, std::span<const std::byte> body,
                            std::size_t more_bytes) {
  LLAMADA_CHECK(records_at_ == 0 && tail_.empty());
  const SubmessageHead head{type, flags, log, static_cast<std::uint32_t>(body.size() + more_bytes)};
  if (rounded_up(body.size(), alignment) + sizeof(head) > room_.size() - used_) return false;
  append(std::as_bytes(std::span(&head, 1)));
  append(body);
  if (more_bytes == 0) pad();
  return true;
}

bool FrameWriter::put(LogNumber log, const Follow& body) {
  return put_bytes(Type::follow, 0, log, std::as_bytes(std::span(&body, 1)));
}
bool FrameWriter::put(LogNumber log, const Credit& body) {
  return put_bytes(Type::credit, 0, log, std::as_bytes(std::span(&body, 1)));
}
bool FrameWriter::put(LogNumber log, const Pull& body) {
  return put_bytes(Type::pull, 0, log, std::as_bytes(std::span(&body, 1)));
}
bool FrameWriter::put(LogNumber log, const Gone& body) {
  return put_bytes(Type::gone, 0, log, std::as_bytes(std::span(&body, 1)));
}
bool FrameWriter::put(LogNumber log, const End& body) {
  return put_bytes(Type::end, 0, log, std::as_bytes(std::span(&body, 1)));
}
bool FrameWriter::put(LogNumber log, const Look& body) {
  return put_bytes(Type::look, 0, log, std::as_bytes(std::span(&body, 1)));
}

bool FrameWriter::put(LogNumber log, const Unfollow& body) {
  return put_bytes(Type::unfollow, 0, log, std::as_bytes(std::span(&body, 1)));
}
bool FrameWriter::put(LogNumber log, const Unfollowed& body) {
  return put_bytes(Type::unfollowed, 0, log, std::as_bytes(std::span(&body, 1)));
}

bool FrameWriter::begin_records(LogNumber log, std::uint64_t first) {
  const std::size_t at = used_;
  if (!put_bytes(Type::records, 0, log, std::as_bytes(std::span(&first, 1)))) return false;
  records_at_ = at;
  return true;
}

bool FrameWriter::add(const WireRecord& record) {
  LLAMADA_CHECK(records_at_ != 0);
  const bool is_whole = record.form == Form::whole;
  const bool extra = has_extra(record.form, record.size_bytes);
  const std::size_t needed =
      sizeof(RecordHead) + (extra ? log::extra_bytes_max : 0) +
      (is_whole ? rounded_up(record.payload.size(), alignment) : sizeof(std::uint64_t));
  if (needed > room_.size() - used_) return false;
  LLAMADA_CHECK(!extra || record.extra.size() == log::extra_bytes_max);
  const RecordHead head{record.kind, static_cast<std::uint8_t>(record.form), record.flags,
                        is_whole ? static_cast<std::uint32_t>(record.payload.size()) : 0, record.label};
  append(std::as_bytes(std::span(&head, 1)));
  if (!is_whole) append(std::as_bytes(std::span(&record.size_bytes, 1)));
  if (extra) append(record.extra);
  if (is_whole) append(record.payload);
  pad();
  return true;
}

void FrameWriter::end_records() {
  LLAMADA_CHECK(records_at_ != 0);
  const auto size_bytes = static_cast<std::uint32_t>(used_ - records_at_ - sizeof(SubmessageHead));
  std::memcpy(room_.data() + records_at_ + offsetof(SubmessageHead, size_bytes), &size_bytes,
              sizeof(size_bytes));
  records_at_ = 0;
}

std::size_t FrameWriter::room_for_piece() const {
  constexpr std::size_t heads = sizeof(SubmessageHead) + sizeof(Piece);
  if (heads > room_.size() - used_ || heads >= frame_bytes_max_ - used_) return 0;
  return frame_bytes_max_ - used_ - heads;
}

bool FrameWriter::put_piece(LogNumber log, std::uint8_t flags, const Piece& piece,
                            std::span<const std::byte> bytes) {
  if (bytes.empty() || bytes.size() > room_for_piece()) return false;
  if (!put_bytes(Type::piece, flags, log, std::as_bytes(std::span(&piece, 1)), bytes.size())) return false;
  tail_ = bytes;
  return true;
}

std::span<std::byte> FrameWriter::put_room_for_piece(LogNumber log, std::uint8_t flags, const Piece& piece,
                                                     std::size_t bytes) {
  constexpr std::size_t heads = sizeof(SubmessageHead) + sizeof(Piece);
  if (bytes == 0 || bytes > room_for_piece() || heads + bytes > room_.size() - used_) return {};
  if (!put_bytes(Type::piece, flags, log, std::as_bytes(std::span(&piece, 1)), bytes)) return {};
  const auto place = room_.subspan(used_, bytes);
  used_ += bytes;
  return place;
}

Datagram FrameWriter::seal(const FrameHead& head, const SipHashKey& key) {
  LLAMADA_CHECK(records_at_ == 0);
  const auto frame = room_.first(used_);
  seal_frame(frame, tail_, head, key);
  return {frame, tail_};
}

}  // namespace llamada::replication
