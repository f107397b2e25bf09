#include <algorithm>
#include <cstring>
#include <vector>

#include "llamada/base/random.hpp"
#include "llamada/replication/submessages.hpp"
#include "test.hpp"

using namespace llamada;
using namespace llamada::replication;

namespace {

const Identity identity{.job = 0x12345678, .endpoint = 5, .incarnation = 2, .key = {11, 22}};

FrameHead head_to(const Identity& to) {
  FrameHead head;
  head.job = to.job;
  head.from = 3;
  head.to = to.endpoint;
  head.from_incarnation = 1;
  head.to_incarnation = to.incarnation;
  head.number = 9;
  head.seen = {7, 0b101};
  head.cut = 21;
  return head;
}

std::vector<std::byte> joined(const Datagram& datagram) {
  std::vector<std::byte> bytes(datagram.head.begin(), datagram.head.end());
  bytes.insert(bytes.end(), datagram.tail.begin(), datagram.tail.end());
  return bytes;
}

std::vector<std::byte> some_bytes(std::size_t size, std::uint64_t seed = 1) {
  Random random(seed);
  std::vector<std::byte> bytes(size);
  for (std::byte& byte : bytes) byte = static_cast<std::byte>(random.next());
  return bytes;
}

struct Room {
  std::vector<std::byte> memory = std::vector<std::byte>(1472);
  FrameWriter writer{memory, 1472};
};

WireRecord whole(const std::vector<std::byte>& payload, const std::vector<std::byte>& extra) {
  return {.kind = 4,
          .form = Form::whole,
          .flags = 0xfedc,
          .label = 0x1122334455667788,
          .size_bytes = payload.size(),
          .extra = payload.size() > 48 ? std::span<const std::byte>(extra) : std::span<const std::byte>(),
          .payload = payload};
}

std::vector<std::byte> frame_with_all() {
  Room room;
  const auto extra = some_bytes(32), small = some_bytes(5), large = some_bytes(100), piece = some_bytes(333);
  CHECK(
      room.writer.put(3, Follow{.writer = 3, .key_high = 1, .key_low = 2, .from = 1, .credit_bytes = 65536}));
  CHECK(room.writer.put(3, Credit{1 << 20}));
  CHECK(room.writer.put(3, Pull{7, 4096, 1 << 18}));
  CHECK(room.writer.put(3, Gone{12, 9}));
  CHECK(room.writer.put(3, End{44}));
  CHECK(room.writer.put(0, Look{}));
  CHECK(room.writer.begin_records(2, 100));
  CHECK(room.writer.add(whole(small, extra)));
  CHECK(room.writer.add(whole(large, extra)));
  CHECK(room.writer.add({.kind = 1, .form = Form::absent, .size_bytes = 1ULL << 33}));
  CHECK(room.writer.add({.kind = 1, .form = Form::begins, .size_bytes = 9000, .extra = extra}));
  room.writer.end_records();
  CHECK(room.writer.put_piece(2, piece_was_pulled, Piece{102, 1000, 2000, 77}, piece));
  return joined(room.writer.seal(head_to(identity), identity.key));
}

}  // namespace

TEST_CASE("frame: what was written is read again, field by field", "[replication]") {
  const auto frame = frame_with_all();
  const CheckedFrame checked = check_frame(frame, identity);
  REQUIRE(checked.fault == FrameFault::none);
  CHECK((checked.head.number == 9 && checked.head.seen == Seen{7, 0b101} && checked.head.from == 3 &&
         checked.head.cut == 21));
  REQUIRE(is_well_formed(checked.body));
  SubmessageReader reader(checked.body);

  auto message = reader.next();
  REQUIRE((message && message->head.type == Type::follow && message->head.log == 3));
  const auto follow = read_follow(message->body);
  CHECK((follow->writer == 3 && follow->key_low == 2 && follow->from == 1 && follow->credit_bytes == 65536));
  CHECK(read_credit(reader.next()->body)->bytes == 1 << 20);
  const auto pull = read_pull(reader.next()->body);
  CHECK((pull->record == 7 && pull->offset == 4096 && pull->bytes == 1 << 18));
  const auto gone = read_gone(reader.next()->body);
  CHECK((gone->from == 12 && gone->holder == 9));
  CHECK(read_end(reader.next()->body)->record == 44);
  message = reader.next();
  REQUIRE((message && message->head.type == Type::look));
  CHECK(read_look(message->body));

  message = reader.next();
  REQUIRE((message && message->head.type == Type::records && message->head.log == 2));
  RecordsReader records(message->body);
  CHECK(records.number() == 100);
  auto record = records.next();
  CHECK((record->kind == 4 && record->flags == 0xfedc && record->label == 0x1122334455667788));
  CHECK((std::ranges::equal(record->payload, some_bytes(5)) && record->extra.empty()));
  record = records.next();
  CHECK((std::ranges::equal(record->payload, some_bytes(100)) &&
         std::ranges::equal(record->extra, some_bytes(32))));
  record = records.next();
  CHECK((record->form == Form::absent && record->size_bytes == 1ULL << 33 && record->extra.empty()));
  record = records.next();
  CHECK((record->form == Form::begins && record->size_bytes == 9000 && record->extra.size() == 32));
  CHECK((!records.next() && !records.failed() && records.number() == 104));

  message = reader.next();
  REQUIRE((message && message->head.type == Type::piece && message->head.flags == piece_was_pulled));
  const auto piece = read_piece(message->body);
  CHECK((piece->piece.record == 102 && piece->piece.offset == 1000 && piece->piece.size_bytes == 2000 &&
         piece->piece.begun_by == 77));
  CHECK(std::ranges::equal(piece->bytes, some_bytes(333)));
  CHECK((!reader.next() && !reader.failed()));
}

TEST_CASE("frame: a stranger's, a forged and a damaged one are told apart", "[replication]") {
  const auto frame = frame_with_all();
  const auto fault_with = [&](std::size_t byte, std::byte change) {
    auto other = frame;
    other[byte] ^= change;
    return check_frame(other, identity).fault;
  };
  CHECK(check_frame(std::span(frame).first(63), identity).fault == FrameFault::foreign);
  CHECK(check_frame({}, identity).fault == FrameFault::foreign);
  CHECK(fault_with(0, std::byte{1}) == FrameFault::foreign);
  CHECK(fault_with(2, std::byte{2}) == FrameFault::foreign);
  CHECK(fault_with(4, std::byte{1}) == FrameFault::other_job);
  CHECK(fault_with(12, std::byte{1}) == FrameFault::not_for_us);
  for (std::size_t byte = 16; byte < 64; ++byte) CHECK(fault_with(byte, std::byte{4}) == FrameFault::forged);
  for (std::size_t byte = 64; byte < frame.size(); ++byte)
    CHECK(fault_with(byte, std::byte{0x40}) == FrameFault::damaged);
  CHECK(check_frame(std::span(frame).first(frame.size() - 1), identity).fault == FrameFault::damaged);
  auto longer = frame;
  longer.push_back({});
  CHECK(check_frame(longer, identity).fault == FrameFault::damaged);
  Identity other = identity;
  other.key.high ^= 1;
  CHECK(check_frame(frame, other).fault == FrameFault::forged);
}

TEST_CASE("frame: what does not fit leaves the frame as it was", "[replication]") {
  std::vector<std::byte> memory(256);
  FrameWriter writer(memory, 256);
  const auto extra = some_bytes(32), payload = some_bytes(100);
  REQUIRE(writer.begin_records(1, 1));
  CHECK(writer.add(whole(payload, extra)));
  const std::size_t size = writer.size_bytes();
  CHECK_FALSE(writer.add(whole(payload, extra)));
  CHECK(writer.size_bytes() == size);
  writer.end_records();
  CHECK(writer.put(1, Credit{3}));
  CHECK_FALSE(writer.put(1, Follow{.from = 1}));
  CHECK(writer.room_for_piece() == 0);
  CHECK_FALSE(writer.put_piece(1, 0, Piece{1, 0, 100}, payload));
  const auto frame = joined(writer.seal(head_to(identity), identity.key));
  const auto checked = check_frame(frame, identity);
  CHECK((checked.fault == FrameFault::none && is_well_formed(checked.body)));
}

TEST_CASE("frame: a piece takes exactly the room that is said", "[replication]") {
  Room room;
  const auto bytes = some_bytes(2000);
  const std::size_t most = room.writer.room_for_piece();
  CHECK_FALSE(room.writer.put_piece(1, 0, Piece{1, 0, 2000}, std::span(bytes).first(most + 1)));
  REQUIRE(room.writer.put_piece(1, 0, Piece{1, 0, 2000}, std::span(bytes).first(most)));
  const Datagram datagram = room.writer.seal(head_to(identity), identity.key);
  CHECK(datagram.size_bytes() <= room.memory.size());
  CHECK(datagram.tail.data() == bytes.data());
  CHECK(check_frame(joined(datagram), identity).fault == FrameFault::none);
}

TEST_CASE("frame: submessages that cannot be are refused", "[replication]") {
  // Each row changes one byte of a body that is right.
  const auto frame = frame_with_all();
  const auto body = std::span(frame).subspan(frame_head_bytes);
  const auto is_right_with = [&](std::size_t byte, int value) {
    std::vector<std::byte> other(body.begin(), body.end());
    other[byte] = static_cast<std::byte>(value);
    return is_well_formed(other);
  };
  REQUIRE(is_well_formed(body));
  for (const int type : {0, 3, 7, 8, 11, 12, 255}) CHECK_FALSE(is_right_with(0, type));
  CHECK_FALSE(is_right_with(4, 39));      // size of the FOLLOW
  CHECK_FALSE(is_right_with(7, 0x7f));    // far behind the end
  CHECK_FALSE(is_right_with(8 + 24, 0));  // from record 0
  const std::size_t records = 48 + 16 + 32 + 24 + 16 + 16;
  REQUIRE(body[records] == std::byte{1});
  CHECK_FALSE(is_right_with(records + 8, 0));          // first record 0
  CHECK_FALSE(is_right_with(records + 15, 0xff));      // more records than can be
  CHECK_FALSE(is_right_with(records + 16, 0));         // a link
  CHECK_FALSE(is_right_with(records + 16, 255));       // a withdrawn cell
  CHECK_FALSE(is_right_with(records + 17, 3));         // an unknown form
  CHECK_FALSE(is_right_with(records + 20 + 3, 0x7f));  // a payload beyond the submessage
  for (std::size_t size = 1; size < body.size(); ++size) {
    const auto cut = body.first(size);
    SubmessageReader reader(cut);
    while (auto message = reader.next())
      CHECK(message->body.data() + message->body.size() <= cut.data() + size);
  }
}
