#include "llamada/llamanet/protocol.hpp"

#include <algorithm>
#include <optional>
#include <type_traits>

#include "llamada/base/bytes.hpp"
#include "llamada/base/field_coder.hpp"

namespace llamada::llamanet {
namespace {

// No message has more than two texts, so two of these and the fixed fields fit into one datagram.
constexpr std::size_t text_size_bytes_max = 30 * 1024;
constexpr std::size_t texts_count_max = 2;
static_assert(header_size_bytes + 64 + texts_count_max * (2 + text_size_bytes_max) <= message_size_bytes_max);
constexpr std::size_t roster_line_bytes = 20;
static_assert(header_size_bytes + 64 + 2 + text_size_bytes_max + roster_lines_max * roster_line_bytes <=
              message_size_bytes_max);

class Encoder final : public FieldWriter {
 public:
  void boolean(bool value) { body_.number(std::uint32_t{value}); }
  template <typename Kind>
  void kind(Kind value, Kind /*first*/, Kind /*last*/) {
    body_.number(static_cast<std::uint32_t>(value));
  }
  /// u16 length; cut to text_size_bytes_max.
  void text(std::string_view text) {
    text = text.substr(0, text_size_bytes_max);
    body_.number(static_cast<std::uint16_t>(text.size()));
    body_.bytes(std::as_bytes(std::span(text)));
  }
  /// u32 length, any.
  void long_text(const std::string& text) { FieldWriter::text(text); }
  /// u32 count, and each element by `fields_of`; cut to `count_max`.
  template <typename Element, typename FieldsOf>
  void list(const std::vector<Element>& elements, std::uint32_t count_max, const FieldsOf& fields_of) {
    const std::size_t count = std::min<std::size_t>(elements.size(), count_max);
    body_.number(static_cast<std::uint32_t>(count));
    for (std::size_t i = 0; i < count; ++i) fields_of(elements[i]);
  }
  void require(bool) {}
};

/// Fails where a field has a value that its kind does not have.
class Decoder final : public FieldReader {
 public:
  using FieldReader::FieldReader;

  void boolean(bool& value) {
    const auto number = body_.number<std::uint32_t>();
    require(number <= 1);
    value = number == 1;
  }
  template <typename Kind>
  void kind(Kind& value, Kind first, Kind last) {
    const auto number = body_.number<std::uint32_t>();
    require(number >= static_cast<std::uint32_t>(first) && number <= static_cast<std::uint32_t>(last));
    if (body_.ok()) value = static_cast<Kind>(number);
  }
  void text(std::string& text) {
    const auto size = body_.number<std::uint16_t>();
    require(size <= text_size_bytes_max);
    text = ByteReader::text_of(body_.next(size));
  }
  void long_text(std::string& text) { FieldReader::text(text); }
  template <typename Element, typename FieldsOf>
  void list(std::vector<Element>& elements, std::uint32_t count_max, const FieldsOf& fields_of) {
    // No count is believed before its elements are there: each takes some bytes.
    const auto count = body_.number<std::uint32_t>();
    require(count <= count_max);
    for (std::uint32_t i = 0; i < count && body_.ok(); ++i) fields_of(elements.emplace_back());
  }
  void require(bool condition) { body_.require(condition); }
};

// The fields of each message, listed once for both directions, in the order of
// docs/internals/driver-protocol.md.

constexpr std::uint32_t any_count = 0xffffffff;

template <typename Coder, typename Code>
void error_code(Coder& coder, Code& code) {
  coder.kind(code, Errc{}, Errc::diverged);
}

template <typename Coder>
void fields(Coder& coder, typename Coder::template Value<Attach>& message) {
  coder.numbers(message.pid, message.slot, message.token);
  coder.text(message.name);
}

template <typename Coder>
void fields(Coder& coder, typename Coder::template Value<Attached>& message) {
  coder.numbers(message.slot, message.incarnation, message.slot_count, message.flags);
  coder.text(message.qos);
  coder.text(message.identity);
}

template <typename Coder>
void fields(Coder& coder, typename Coder::template Value<Peers>& message) {
  coder.numbers(message.first, message.count);
  coder.require(message.count <= peers_count_max);
}

template <typename Coder>
void fields(Coder& coder, typename Coder::template Value<PeersAre>& message) {
  coder.numbers(message.first);
  coder.list(message.peers, peers_count_max,
             [&](auto& peer) { coder.numbers(peer.incarnation, peer.arena); });
}

template <typename Coder>
void fields(Coder& coder, typename Coder::template Value<Say>& message) {
  coder.kind(message.kind, SayKind::note, SayKind::finalized);
  coder.numbers(message.code);
  coder.text(message.text);
}

template <typename Coder>
void fields(Coder&, typename Coder::template Value<Inspect>&) {}

template <typename Coder>
void fields(Coder& coder, typename Coder::template Value<Inspected>& message) {
  coder.numbers(message.slot_count);
  coder.text(message.name);
  coder.text(message.profile);
}

template <typename Coder>
void fields(Coder& coder, typename Coder::template Value<ErrorMessage>& message) {
  error_code(coder, message.code);
  coder.text(message.text);
}

template <typename Coder>
void fields(Coder&, typename Coder::template Value<Bye>&) {}

template <typename Coder>
void fields(Coder& coder, typename Coder::template Value<Share>& message) {
  coder.numbers(message.name, message.size_bytes);
}

template <typename Coder>
void fields(Coder& coder, typename Coder::template Value<Shared>& message) {
  coder.boolean(message.granted);
  error_code(coder, message.code);
  coder.text(message.text);
}

template <typename Coder>
void fields(Coder& coder, typename Coder::template Value<Release>& message) {
  coder.numbers(message.name);
}

template <typename Coder>
void fields(Coder&, typename Coder::template Value<Released>&) {}

template <typename Coder>
void fields(Coder& coder, typename Coder::template Value<Spawn>& message) {
  coder.list(message.commands, any_count, [&](auto& command) {
    coder.numbers(command.process_count);
    coder.long_text(command.program);
    coder.long_text(command.working_directory);
    coder.long_text(command.search_path);
    coder.long_text(command.host);
    coder.list(command.arguments, any_count, [&](auto& argument) { coder.long_text(argument); });
  });
}

template <typename Coder>
void fields(Coder& coder, typename Coder::template Value<Spawned>& message) {
  coder.numbers(message.first, message.count);
  coder.text(message.error);
}

template <typename Coder>
void fields(Coder& coder, typename Coder::template Value<Name>& message) {
  coder.kind(message.space, NameSpace::services, NameSpace::ports);
  coder.kind(message.action, NameAction::publish, NameAction::look_up);
  coder.text(message.name);
  coder.text(message.value);
}

template <typename Coder>
void fields(Coder& coder, typename Coder::template Value<Named>& message) {
  coder.boolean(message.done);
  error_code(coder, message.code);
  coder.text(message.value);
}

template <typename Coder>
void fields(Coder&, typename Coder::template Value<Lengthen>&) {}

template <typename Coder>
void fields(Coder&, typename Coder::template Value<Lengthened>&) {}

template <typename Coder>
void fields(Coder& coder, typename Coder::template Value<Reach>& message) {
  coder.kind(message.place, ReplayPlace::last_call_begins, ReplayPlace::unusable);
  coder.boolean(message.is_single);
  coder.numbers(message.number, message.output, message.errors);
}

template <typename Coder>
void fields(Coder& coder, typename Coder::template Value<Reached>& message) {
  coder.numbers(message.output, message.errors);
}

template <typename Coder>
void fields(Coder& coder, typename Coder::template Value<Rejoin>& message) {
  coder.numbers(message.slot, message.arena, message.arena_size_bytes, message.driver_start_ns,
                message.arena_last);
  coder.text(message.name);
  coder.list(message.roster, roster_lines_max,
             [&](auto& line) { coder.numbers(line.slot, line.arena, line.pid, line.process_start); });
}

template <typename Coder>
void fields(Coder& coder, typename Coder::template Value<Part>& message) {
  coder.numbers(message.slot, message.arena);
}

template <typename Coder>
void fields(Coder& coder, typename Coder::template Value<Inject>& message) {
  coder.text(message.rule);
}

template <typename Coder>
void fields(Coder& coder, typename Coder::template Value<Injected>& message) {
  coder.boolean(message.accepted);
  coder.text(message.text);
}

template <typename Coder>
void fields(Coder&, typename Coder::template Value<Survey>&) {}

template <typename Coder>
void fields(Coder& coder, typename Coder::template Value<Surveyed>& message) {
  coder.numbers(message.number);
}

template <typename Coder>
void fields(Coder& coder, typename Coder::template Value<Move>& message) {
  coder.numbers(message.number, message.operation);
  coder.kind(message.kind, MoveKind::read, MoveKind::release);
  coder.numbers(message.operand);
}

template <typename Coder>
void fields(Coder& coder, typename Coder::template Value<Moved>& message) {
  coder.boolean(message.done);
  coder.numbers(message.before);
}

template <typename Coder>
void fields(Coder&, typename Coder::template Value<Book>&) {}

template <typename Coder>
void fields(Coder&, typename Coder::template Value<BookIs>&) {}

template <typename Coder>
void fields(Coder& coder, typename Coder::template Value<Agree>& message) {
  auto& vote = message.vote;
  coder.numbers(vote.group, vote.sequence, vote.flags, vote.common, vote.own, vote.count);
  coder.list(vote.members, agreement_members_max, [&](auto& slot) { coder.numbers(slot); });
  coder.list(vote.known_lost, agreement_members_max, [&](auto& slot) { coder.numbers(slot); });
}

template <typename Coder>
void fields(Coder& coder, typename Coder::template Value<Agreed>& message) {
  auto& decision = message.decision;
  coder.boolean(message.is_decided);
  coder.numbers(decision.flags, decision.common, decision.own, decision.count);
  coder.list(decision.lost, agreement_members_max, [&](auto& slot) { coder.numbers(slot); });
  coder.boolean(decision.all_knew);
}

template <typename Coder>
void fields(Coder& coder, typename Coder::template Value<Park>& message) {
  coder.numbers(message.slot, message.token, message.call);
}

template <typename Coder>
void fields(Coder&, typename Coder::template Value<Woken>&) {}

// The variant's alternatives stand in the order of the type numbers, which begin at 1.
static_assert(
    std::is_same_v<std::variant_alternative_t<static_cast<std::size_t>(MessageType::attach) - 1, Message>,
                   Attach>);
static_assert(
    std::is_same_v<std::variant_alternative_t<static_cast<std::size_t>(MessageType::bye) - 1, Message>, Bye>);
static_assert(
    std::is_same_v<std::variant_alternative_t<static_cast<std::size_t>(MessageType::reached) - 1, Message>,
                   Reached>);
static_assert(
    std::is_same_v<std::variant_alternative_t<static_cast<std::size_t>(MessageType::rejoin) - 1, Message>,
                   Rejoin>);
static_assert(std::is_same_v<
              std::variant_alternative_t<static_cast<std::size_t>(MessageType::part) - 1, Message>, Part>);
static_assert(
    std::is_same_v<std::variant_alternative_t<static_cast<std::size_t>(MessageType::injected) - 1, Message>,
                   Injected>);
static_assert(std::variant_size_v<Message> == static_cast<std::size_t>(MessageType::woken));

template <std::size_t index = 0>
std::optional<Message> read_type(std::uint16_t type, Decoder& body) {
  if constexpr (index == std::variant_size_v<Message>) {
    return std::nullopt;
  } else {
    if (type != index + 1) return read_type<index + 1>(type, body);
    std::variant_alternative_t<index, Message> message;
    fields(body, message);
    return message;
  }
}

}  // namespace

std::vector<std::byte> encode(const Envelope& envelope) {
  Encoder encoder;
  std::visit([&encoder](const auto& message) { fields(encoder, message); }, envelope.message);
  const auto body = encoder.take();
  ByteWriter datagram;
  datagram.number(message_magic);
  datagram.number(protocol_version);
  datagram.number(static_cast<std::uint16_t>(envelope.message.index() + 1));
  datagram.number(static_cast<std::uint32_t>(body.size()));
  datagram.number(envelope.request);
  datagram.bytes(body);
  return datagram.take();
}

Result<Envelope> decode(std::span<const std::byte> datagram) {
  if (datagram.size() > message_size_bytes_max)
    return failure(Errc::parse_error, "a message of {} bytes; the most is {}", datagram.size(),
                   message_size_bytes_max);
  ByteReader header(datagram);
  const auto magic = header.number<std::uint32_t>();
  const auto version = header.number<std::uint16_t>();
  const auto type = header.number<std::uint16_t>();
  const auto size = header.number<std::uint32_t>();
  const auto request = header.number<std::uint32_t>();
  if (!header.ok() || magic != message_magic)
    return failure(Errc::parse_error, "the bytes received are no message of llamaNET's driver protocol");
  if (version != protocol_version)
    return failure(Errc::parse_error, "protocol version {}; this is version {}", version, protocol_version);
  if (size != header.left_bytes())
    return failure(Errc::parse_error, "a message announces {} bytes, but has {}", size, header.left_bytes());
  Decoder body(header.rest());
  auto message = read_type(type, body);
  if (!message) return failure(Errc::parse_error, "there is no message of type {}", type);
  if (!body.is_complete())
    return failure(Errc::parse_error, "the body of a message of type {} is malformed", type);
  return Envelope{request, std::move(*message)};
}

}  // namespace llamada::llamanet
