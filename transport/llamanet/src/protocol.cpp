#include "llamada/llamanet/protocol.hpp"

#include <algorithm>
#include <cstring>
#include <optional>
#include <type_traits>

namespace llamada::llamanet {
namespace {

// No message has more than two texts, so two of these and the fixed fields fit into one datagram.
constexpr std::size_t text_size_bytes_max = 30 * 1024;
constexpr std::size_t texts_count_max = 2;
static_assert(header_size_bytes + 64 + texts_count_max * (2 + text_size_bytes_max) <= message_size_bytes_max);
constexpr std::size_t roster_line_bytes = 20;
static_assert(header_size_bytes + 64 + 2 + text_size_bytes_max + roster_lines_max * roster_line_bytes <=
              message_size_bytes_max);

class Encoder {
 public:
  template <typename Integer>
  void integer(Integer value) {
    static_assert(std::is_integral_v<Integer>);
    auto* bytes = reinterpret_cast<const std::byte*>(&value);
    bytes_.insert(bytes_.end(), bytes, bytes + sizeof(value));
  }
  void text(const std::string& text) {
    auto size = std::min(text.size(), text_size_bytes_max);
    integer(static_cast<std::uint16_t>(size));
    auto* bytes = reinterpret_cast<const std::byte*>(text.data());
    bytes_.insert(bytes_.end(), bytes, bytes + size);
  }
  /// Of any length.
  void long_text(const std::string& text) {
    integer(static_cast<std::uint32_t>(text.size()));
    auto* bytes = reinterpret_cast<const std::byte*>(text.data());
    bytes_.insert(bytes_.end(), bytes, bytes + text.size());
  }
  const std::vector<std::byte>& bytes() const { return bytes_; }

 private:
  std::vector<std::byte> bytes_;
};

// Once something did not fit, everything after is empty and complete() is false.
class Decoder {
 public:
  explicit Decoder(std::span<const std::byte> bytes) : rest_(bytes) {}

  template <typename Integer>
  Integer integer() {
    Integer value{};
    auto bytes = take(sizeof(value));
    if (!bytes.empty()) std::memcpy(&value, bytes.data(), sizeof(value));
    return value;
  }
  std::string text() {
    auto size = integer<std::uint16_t>();
    if (size > text_size_bytes_max) failed_ = true;
    auto bytes = take(size);
    return {reinterpret_cast<const char*>(bytes.data()), bytes.size()};
  }
  std::string long_text() {
    auto bytes = take(integer<std::uint32_t>());
    return {reinterpret_cast<const char*>(bytes.data()), bytes.size()};
  }
  void refuse() { failed_ = true; }
  bool failed() const { return failed_; }
  bool complete() const { return !failed_ && rest_.empty(); }

 private:
  std::span<const std::byte> take(std::size_t size) {
    if (failed_ || rest_.size() < size) {
      failed_ = true;
      return {};
    }
    auto taken = rest_.first(size);
    rest_ = rest_.subspan(size);
    return taken;
  }

  std::span<const std::byte> rest_;
  bool failed_ = false;
};

// One pair of functions a message: what write() puts, read() takes.

void write(Encoder& to, const Attach& message) {
  to.integer(message.pid);
  to.integer(message.slot);
  to.integer(message.token);
  to.text(message.name);
}
void read(Decoder& from, Attach& message) {
  message.pid = from.integer<std::uint32_t>();
  message.slot = from.integer<std::uint32_t>();
  message.token = from.integer<std::uint64_t>();
  message.name = from.text();
}

void write(Encoder& to, const Attached& message) {
  to.integer(message.slot);
  to.integer(message.incarnation);
  to.integer(message.slot_count);
  to.integer(message.flags);
  to.text(message.qos);
  to.text(message.identity);
}
void read(Decoder& from, Attached& message) {
  message.slot = from.integer<std::uint32_t>();
  message.incarnation = from.integer<std::uint32_t>();
  message.slot_count = from.integer<std::uint32_t>();
  message.flags = from.integer<std::uint32_t>();
  message.qos = from.text();
  message.identity = from.text();
}

void write(Encoder& to, const Peers& message) {
  to.integer(message.first);
  to.integer(message.count);
}
void read(Decoder& from, Peers& message) {
  message.first = from.integer<std::uint32_t>();
  message.count = from.integer<std::uint32_t>();
  if (message.count > peers_count_max) from.refuse();
}

void write(Encoder& to, const PeersAre& message) {
  to.integer(message.first);
  auto count = std::min<std::size_t>(message.peers.size(), peers_count_max);
  to.integer(static_cast<std::uint32_t>(count));
  for (std::size_t i = 0; i < count; ++i) {
    to.integer(message.peers[i].incarnation);
    to.integer(message.peers[i].arena);
  }
}
void read(Decoder& from, PeersAre& message) {
  message.first = from.integer<std::uint32_t>();
  auto count = from.integer<std::uint32_t>();
  if (count > peers_count_max) return from.refuse();
  for (std::uint32_t i = 0; i < count && !from.failed(); ++i) {
    Peer peer;
    peer.incarnation = from.integer<std::uint32_t>();
    peer.arena = from.integer<std::uint32_t>();
    message.peers.push_back(peer);
  }
}

void write(Encoder& to, const Say& message) {
  to.integer(static_cast<std::uint32_t>(message.kind));
  to.integer(message.code);
  to.text(message.text);
}
void read(Decoder& from, Say& message) {
  auto kind = from.integer<std::uint32_t>();
  if (kind < static_cast<std::uint32_t>(SayKind::note) || kind > static_cast<std::uint32_t>(SayKind::damaged))
    return from.refuse();
  message.kind = static_cast<SayKind>(kind);
  message.code = from.integer<std::int32_t>();
  message.text = from.text();
}

void write(Encoder& to, const Inspected& message) {
  to.integer(message.slot_count);
  to.text(message.name);
  to.text(message.profile);
}
void read(Decoder& from, Inspected& message) {
  message.slot_count = from.integer<std::uint32_t>();
  message.name = from.text();
  message.profile = from.text();
}

void write(Encoder& to, const ErrorMessage& message) {
  to.integer(static_cast<std::uint32_t>(message.code));
  to.text(message.text);
}
void read(Decoder& from, ErrorMessage& message) {
  auto code = from.integer<std::uint32_t>();
  if (code > static_cast<std::uint32_t>(Errc::diverged)) return from.refuse();
  message.code = static_cast<Errc>(code);
  message.text = from.text();
}

void write(Encoder&, const Inspect&) {}
void read(Decoder&, Inspect&) {}
void write(Encoder&, const Bye&) {}
void read(Decoder&, Bye&) {}

void write(Encoder& to, const Share& message) {
  to.integer(message.name);
  to.integer(message.size_bytes);
}
void read(Decoder& from, Share& message) {
  message.name = from.integer<std::uint64_t>();
  message.size_bytes = from.integer<std::uint64_t>();
}

void write(Encoder& to, const Shared& message) {
  to.integer(static_cast<std::uint32_t>(message.granted ? 1 : 0));
  to.integer(static_cast<std::uint32_t>(message.code));
  to.text(message.text);
}
void read(Decoder& from, Shared& message) {
  auto granted = from.integer<std::uint32_t>();
  auto code = from.integer<std::uint32_t>();
  if (granted > 1 || code > static_cast<std::uint32_t>(Errc::diverged)) return from.refuse();
  message.granted = granted == 1;
  message.code = static_cast<Errc>(code);
  message.text = from.text();
}

void write(Encoder& to, const Release& message) { to.integer(message.name); }
void read(Decoder& from, Release& message) { message.name = from.integer<std::uint64_t>(); }
void write(Encoder&, const Released&) {}
void read(Decoder&, Released&) {}
void write(Encoder&, const Lengthen&) {}
void read(Decoder&, Lengthen&) {}
void write(Encoder&, const Lengthened&) {}
void read(Decoder&, Lengthened&) {}
void write(Encoder&, const Reached&) {}
void read(Decoder&, Reached&) {}

void write(Encoder& to, const Reach& message) {
  to.integer(static_cast<std::uint32_t>(message.place));
  to.integer(static_cast<std::uint32_t>(message.is_single));
}
void read(Decoder& from, Reach& message) {
  auto place = from.integer<std::uint32_t>();
  auto is_single = from.integer<std::uint32_t>();
  if (place < static_cast<std::uint32_t>(ReplayPlace::last_call_begins) ||
      place > static_cast<std::uint32_t>(ReplayPlace::over) || is_single > 1)
    return from.refuse();
  message.place = static_cast<ReplayPlace>(place);
  message.is_single = is_single != 0;
}

void write(Encoder& to, const Spawn& message) {
  to.integer(static_cast<std::uint32_t>(message.commands.size()));
  for (const SpawnCommand& command : message.commands) {
    to.integer(command.process_count);
    to.long_text(command.program);
    to.long_text(command.working_directory);
    to.long_text(command.search_path);
    to.long_text(command.host);
    to.integer(static_cast<std::uint32_t>(command.arguments.size()));
    for (const std::string& argument : command.arguments) to.long_text(argument);
  }
}
void read(Decoder& from, Spawn& message) {
  // No count is believed before its parts are there: each takes some bytes.
  auto commands = from.integer<std::uint32_t>();
  for (std::uint32_t i = 0; i < commands && !from.failed(); ++i) {
    SpawnCommand& command = message.commands.emplace_back();
    command.process_count = from.integer<std::uint32_t>();
    command.program = from.long_text();
    command.working_directory = from.long_text();
    command.search_path = from.long_text();
    command.host = from.long_text();
    auto arguments = from.integer<std::uint32_t>();
    for (std::uint32_t k = 0; k < arguments && !from.failed(); ++k)
      command.arguments.push_back(from.long_text());
  }
}

void write(Encoder& to, const Spawned& message) {
  to.integer(message.first);
  to.integer(message.count);
  to.text(message.error);
}
void read(Decoder& from, Spawned& message) {
  message.first = from.integer<std::uint32_t>();
  message.count = from.integer<std::uint32_t>();
  message.error = from.text();
}

void write(Encoder& to, const Name& message) {
  to.integer(static_cast<std::uint32_t>(message.space));
  to.integer(static_cast<std::uint32_t>(message.action));
  to.text(message.name);
  to.text(message.value);
}
void read(Decoder& from, Name& message) {
  auto space = from.integer<std::uint32_t>();
  auto action = from.integer<std::uint32_t>();
  if (space > static_cast<std::uint32_t>(NameSpace::ports) ||
      action > static_cast<std::uint32_t>(NameAction::look_up))
    return from.refuse();
  message.space = static_cast<NameSpace>(space);
  message.action = static_cast<NameAction>(action);
  message.name = from.text();
  message.value = from.text();
}

void write(Encoder& to, const Named& message) {
  to.integer(static_cast<std::uint32_t>(message.done));
  to.integer(static_cast<std::uint32_t>(message.code));
  to.text(message.value);
}
void read(Decoder& from, Named& message) {
  auto done = from.integer<std::uint32_t>();
  auto code = from.integer<std::uint32_t>();
  if (done > 1 || code > static_cast<std::uint32_t>(Errc::diverged)) return from.refuse();
  message.done = done != 0;
  message.code = static_cast<Errc>(code);
  message.value = from.text();
}

void write(Encoder& to, const Rejoin& message) {
  to.integer(message.slot);
  to.integer(message.arena);
  to.integer(message.arena_size_bytes);
  to.integer(message.driver_start_ns);
  to.integer(message.arena_last);
  to.text(message.name);
  auto count = std::min<std::size_t>(message.roster.size(), roster_lines_max);
  to.integer(static_cast<std::uint32_t>(count));
  for (std::size_t i = 0; i < count; ++i) {
    to.integer(message.roster[i].slot);
    to.integer(message.roster[i].arena);
    to.integer(message.roster[i].pid);
    to.integer(message.roster[i].process_start);
  }
}
void read(Decoder& from, Rejoin& message) {
  message.slot = from.integer<std::uint32_t>();
  message.arena = from.integer<std::uint32_t>();
  message.arena_size_bytes = from.integer<std::uint64_t>();
  message.driver_start_ns = from.integer<std::uint64_t>();
  message.arena_last = from.integer<std::uint32_t>();
  message.name = from.text();
  auto count = from.integer<std::uint32_t>();
  if (count > roster_lines_max) return from.refuse();
  for (std::uint32_t i = 0; i < count && !from.failed(); ++i) {
    RosterLine& line = message.roster.emplace_back();
    line.slot = from.integer<std::uint32_t>();
    line.arena = from.integer<std::uint32_t>();
    line.pid = from.integer<std::uint32_t>();
    line.process_start = from.integer<std::uint64_t>();
  }
}

void write(Encoder& to, const Part& message) {
  to.integer(message.slot);
  to.integer(message.arena);
}
void read(Decoder& from, Part& message) {
  message.slot = from.integer<std::uint32_t>();
  message.arena = from.integer<std::uint32_t>();
}

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
static_assert(std::variant_size_v<Message> == static_cast<std::size_t>(MessageType::part));

template <std::size_t index = 0>
std::optional<Message> read_type(std::uint16_t type, Decoder& from) {
  if constexpr (index == std::variant_size_v<Message>) {
    return std::nullopt;
  } else {
    if (type != index + 1) return read_type<index + 1>(type, from);
    std::variant_alternative_t<index, Message> message;
    read(from, message);
    return message;
  }
}

}  // namespace

std::vector<std::byte> encode(const Envelope& envelope) {
  Encoder body;
  std::visit([&body](const auto& message) { write(body, message); }, envelope.message);
  Encoder datagram;
  datagram.integer(message_magic);
  datagram.integer(protocol_version);
  datagram.integer(static_cast<std::uint16_t>(envelope.message.index() + 1));
  datagram.integer(static_cast<std::uint32_t>(body.bytes().size()));
  datagram.integer(envelope.request);
  auto bytes = datagram.bytes();
  bytes.insert(bytes.end(), body.bytes().begin(), body.bytes().end());
  return bytes;
}

Result<Envelope> decode(std::span<const std::byte> datagram) {
  if (datagram.size() > message_size_bytes_max)
    return failure(Errc::parse_error, "a message of {} bytes; the most is {}", datagram.size(),
                   message_size_bytes_max);
  Decoder from(datagram);
  auto magic = from.integer<std::uint32_t>();
  auto version = from.integer<std::uint16_t>();
  auto type = from.integer<std::uint16_t>();
  auto size = from.integer<std::uint32_t>();
  auto request = from.integer<std::uint32_t>();
  if (from.failed() || magic != message_magic)
    return failure(Errc::parse_error, "what came is not a message of llamaNET's driver protocol");
  if (version != protocol_version)
    return failure(Errc::parse_error, "protocol version {}; this is version {}", version, protocol_version);
  if (size != datagram.size() - header_size_bytes)
    return failure(Errc::parse_error, "a message says that {} bytes follow, but {} do", size,
                   datagram.size() - header_size_bytes);
  auto message = read_type(type, from);
  if (!message) return failure(Errc::parse_error, "there is no message of type {}", type);
  if (!from.complete())
    return failure(Errc::parse_error, "the body of a message of type {} is malformed", type);
  return Envelope{request, std::move(*message)};
}

}  // namespace llamada::llamanet
