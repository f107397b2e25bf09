#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>

#include "llamada/replication/frame.hpp"

// What lies behind a frame's head: submessages, each aligned to 8 bytes. Byte layout:
// docs/internals/replication.md.

namespace llamada::replication {

/// 3 is reserved.
enum class Type : std::uint8_t {
  records = 1,
  piece = 2,
  follow = 4,
  credit = 5,
  pull = 6,
  unfollow = 7,
  unfollowed = 8,
  gone = 9,
  end = 10,
  look = 11
};

/// The alias of a followed log between two endpoints: its keeper chooses it.
using LogNumber = std::uint16_t;

struct SubmessageHead {
  Type type = Type::records;
  std::uint8_t flags = 0;
  LogNumber log = 0;
  std::uint32_t size_bytes = 0;  ///< of what follows, without padding
};

/// Keeper to holder: send me this log from record `from` on, and call it by the submessage's `log`.
struct Follow {
  std::uint32_t writer = 0;  ///< slot of the rank whose log it is
  std::uint32_t flags = 0;   ///< 0
  std::uint64_t key_high = 0;
  std::uint64_t key_low = 0;
  std::uint64_t from = 0;          ///< from 1
  std::uint64_t credit_bytes = 0;  ///< as in Credit
};
/// Keeper to holder: a record may come while those that came since the FOLLOW, or were sent and are under
/// way, cost less than this (record_cost()).
struct Credit {
  std::uint64_t bytes = 0;
};
/// Keeper to holder: send me so many bytes, from `offset` on, of an absent record's payload.
struct Pull {
  std::uint64_t record = 0;
  std::uint64_t offset = 0;
  std::uint64_t bytes = 0;
};
/// Holder to keeper: what you ask for is no longer here.
struct Gone {
  std::uint64_t from = 0;    ///< the first record that is here, or the one whose payload was asked for
  std::uint32_t holder = 0;  ///< an endpoint that may have it; that of the sender: nobody known
  std::uint32_t of = of_follow;
  static constexpr std::uint32_t of_follow = 0, of_pull = 1;
};
/// Holder to keeper: the history that is served here ends with this record by now; the writer has what
/// follows.
struct End {
  std::uint64_t record = 0;
};
/// Keeper to holder, for all histories that it follows there: those that have more by now than what END was
/// said for go on. The log of the submessage is 0.
struct Look {
  std::uint64_t reserved = 0;
};
/// Keeper to holder: send no more of this log; its records need not be kept for this keeper.
struct Unfollow {
  std::uint64_t reserved = 0;  ///< 0
};
/// Holder to keeper, behind all datagrams that bear the alias: the alias may stand for another log.
struct Unfollowed {
  std::uint64_t reserved = 0;  ///< 0
};
/// What a PIECE begins with; its bytes follow.
struct Piece {
  std::uint64_t record = 0;
  std::uint64_t offset = 0;
  std::uint64_t size_bytes = 0;  ///< of the whole payload
  /// On the bulk link, for a record that RECORDS has begun: the number of that datagram on the small link.
  /// Otherwise 0.
  std::uint64_t begun_by = 0;
};
/// SubmessageHead::flags of a PIECE: it answers a PULL. Without it continues a record that RECORDS began.
inline constexpr std::uint8_t piece_was_pulled = 1;

/// How a record's payload travels.
enum class Form : std::uint8_t {
  whole = 0,   ///< it follows here
  absent = 1,  ///< it stays with the holder until it is pulled
  begins = 2   ///< it follows in PIECEs
};

struct WireRecord {
  std::uint8_t kind = 0;
  Form form = Form::whole;
  std::uint16_t flags = 0;
  std::uint64_t label = 0;
  std::uint64_t size_bytes = 0;      ///< of the payload, wherever it is
  std::span<const std::byte> extra;  ///< 32 bytes if the payload has more than 48 and the form is not absent
  std::span<const std::byte> payload;  ///< of Form::whole
};

/// What a record takes in a copy of the log, in bytes: both ends count by it what CREDIT bounds.
std::uint64_t record_cost(Form form, std::uint64_t payload_bytes);

struct Submessage {
  SubmessageHead head;
  std::span<const std::byte> body;
};

/// Goes over the submessages of a body. Never reads behind it; stops at one that cannot be.
class SubmessageReader {
 public:
  explicit SubmessageReader(std::span<const std::byte> body) : rest_(body) {}
  std::optional<Submessage> next();
  bool failed() const { return failed_; }

 private:
  std::span<const std::byte> rest_;
  bool failed_ = false;
};

/// The fixed body of a submessage; nothing if the size is another.
std::optional<Follow> read_follow(std::span<const std::byte> body);
std::optional<Credit> read_credit(std::span<const std::byte> body);
std::optional<Pull> read_pull(std::span<const std::byte> body);
std::optional<Gone> read_gone(std::span<const std::byte> body);
std::optional<End> read_end(std::span<const std::byte> body);
std::optional<Look> read_look(std::span<const std::byte> body);
std::optional<Unfollow> read_unfollow(std::span<const std::byte> body);
std::optional<Unfollowed> read_unfollowed(std::span<const std::byte> body);

struct PieceBody {
  Piece piece;
  std::span<const std::byte> bytes;
};
/// Nothing if the bytes are none, or lie outside the payload that the piece names.
std::optional<PieceBody> read_piece(std::span<const std::byte> body);

/// Goes over the records of a RECORDS submessage.
class RecordsReader {
 public:
  explicit RecordsReader(std::span<const std::byte> body);
  /// The number of the record that next() gives next.
  std::uint64_t number() const { return number_; }
  std::optional<WireRecord> next();
  bool failed() const { return failed_; }

 private:
  std::optional<WireRecord> fail();
  std::span<const std::byte> rest_;
  std::uint64_t number_ = 0;
  bool failed_ = false;
};

/// Whether every submessage of the body, and every record in it, is one that can be. Unknown types are not.
bool is_well_formed(std::span<const std::byte> body);

/// Writes a frame into memory of the caller: room for the head, then submessages. Nothing is written beyond
/// the room: what does not fit is refused, and leaves what is there as it was.
class FrameWriter {
 public:
  FrameWriter() = default;
  /// `room` has at least 256 bytes; a frame may be as long as `frame_bytes_max`, what the link takes, of
  /// which a piece's bytes need no room.
  FrameWriter(std::span<std::byte> room, std::size_t frame_bytes_max);

  bool put(LogNumber log, const Follow& body);
  bool put(LogNumber log, const Credit& body);
  bool put(LogNumber log, const Pull& body);
  bool put(LogNumber log, const Gone& body);
  bool put(LogNumber log, const End& body);
  bool put(LogNumber log, const Look& body);
  bool put(LogNumber log, const Unfollow& body);
  bool put(LogNumber log, const Unfollowed& body);

  /// Begins RECORDS; add() them, then end_records(). `first` is the first one's number.
  bool begin_records(LogNumber log, std::uint64_t first);
  bool add(const WireRecord& record);
  void end_records();

  /// The last submessage: its bytes are not copied, and must stay until the frame is sent.
  bool put_piece(LogNumber log, std::uint8_t flags, const Piece& piece, std::span<const std::byte> bytes);
  /// The same for bytes that are copied into the room, which must be as long as the frame: the place for
  /// them, to be filled before the frame is sealed. Empty: they do not fit.
  std::span<std::byte> put_room_for_piece(LogNumber log, std::uint8_t flags, const Piece& piece,
                                          std::size_t bytes);
  /// How many bytes put_piece() can take; 0 if there is no room for its head.
  std::size_t room_for_piece() const;

  bool has_content() const { return used_ > frame_head_bytes; }
  std::size_t size_bytes() const { return used_ + tail_.size(); }
  /// The finished frame; valid until the room or the piece's bytes change.
  Datagram seal(const FrameHead& head, const SipHashKey& key);

 private:
  bool put_bytes(Type type, std::uint8_t flags, LogNumber log, std::span<const std::byte> body,
                 std::size_t more_bytes = 0);
  void append(std::span<const std::byte> bytes);
  void pad();

  std::span<std::byte> room_;
  std::size_t frame_bytes_max_ = 0;
  std::size_t used_ = 0;
  std::size_t records_at_ = 0;  // where the head of open RECORDS lies
  std::span<const std::byte> tail_;
};

}  // namespace llamada::replication
