#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <span>
#include <vector>

#include "llamada/replication/submessages.hpp"

using namespace llamada::replication;

namespace {

const Identity own{.job = 1, .endpoint = 2, .incarnation = 1, .key = {3, 4}};

void require(bool condition) {
  if (!condition) std::abort();
}

/// Writes the submessage again; false if it does not fit, which cannot be.
bool write(FrameWriter& writer, const Submessage& message) {
  const LogNumber log = message.head.log;
  switch (message.head.type) {
    case Type::records: {
      RecordsReader records(message.body);
      if (!writer.begin_records(log, records.number())) return false;
      while (const auto record = records.next())
        if (!writer.add(*record)) return false;
      writer.end_records();
      return true;
    }
    case Type::piece: {
      const auto piece = read_piece(message.body);
      return writer.put_piece(log, message.head.flags, piece->piece, piece->bytes);
    }
    case Type::follow:
      return writer.put(log, *read_follow(message.body));
    case Type::credit:
      return writer.put(log, *read_credit(message.body));
    case Type::pull:
      return writer.put(log, *read_pull(message.body));
    case Type::gone:
      return writer.put(log, *read_gone(message.body));
    case Type::end:
      return writer.put(log, *read_end(message.body));
    case Type::look:
      return writer.put(log, *read_look(message.body));
    case Type::unfollow:
      return writer.put(log, *read_unfollow(message.body));
    case Type::unfollowed:
      return writer.put(log, *read_unfollowed(message.body));
  }
  return false;
}

/// Each submessage that parses, written by itself, is well-formed and parses to a body of the same size.
void check_body(std::span<const std::byte> body) {
  std::vector<std::byte> room(body.size() + 512);
  SubmessageReader reader(body);
  while (const auto message = reader.next()) {
    require(message->body.data() >= body.data() &&
            message->body.data() + message->body.size() <= body.data() + body.size());
    FrameWriter writer(room, room.size());
    require(write(writer, *message));
    const Datagram datagram = writer.seal({.job = own.job, .to = own.endpoint}, own.key);
    std::vector<std::byte> frame(datagram.head.begin(), datagram.head.end());
    frame.insert(frame.end(), datagram.tail.begin(), datagram.tail.end());
    const CheckedFrame checked = check_frame(frame, own);
    require(checked.fault == FrameFault::none && is_well_formed(checked.body));
    SubmessageReader again(checked.body);
    const auto same = again.next();
    require(same && same->head.type == message->head.type && same->head.log == message->head.log);
    require(same->body.size() >= message->body.size());
  }
}

}  // namespace

// The input is a datagram: once as it is, and once with a head that is right for what follows it, so that the
// submessages are reached.
extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const auto datagram = std::as_bytes(std::span(data, size));
  (void)check_frame(datagram, own);
  if (size < frame_head_bytes) return 0;
  std::vector<std::byte> frame(datagram.begin(), datagram.end());
  FrameHead head;
  std::memcpy(&head, frame.data(), sizeof(head));
  head.mark = frame_mark;
  head.version = frame_version;
  head.job = own.job;
  head.to = own.endpoint;
  seal_frame(frame, {}, head, own.key);
  const CheckedFrame checked = check_frame(frame, own);
  require(checked.fault == FrameFault::none);
  if (is_well_formed(checked.body)) check_body(checked.body);
  return 0;
}
