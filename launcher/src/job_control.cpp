#include "llamada/launcher/job_control.hpp"

#include <type_traits>

#include "llamada/base/bytes.hpp"
#include "llamada/base/field_coder.hpp"

namespace llamada::launcher::control {
namespace {

class BodyWriter final : public FieldWriter {
 public:
  /// u32 count, and each text.
  void texts(const std::vector<std::string>& texts) {
    body_.number(static_cast<std::uint32_t>(texts.size()));
    for (const std::string& each : texts) text(each);
  }
};

class BodyReader final : public FieldReader {
 public:
  using FieldReader::FieldReader;

  void texts(std::vector<std::string>& texts) {
    // The texts are added as they are read, because a wrong count must not allocate memory.
    const auto count = body_.number<std::uint32_t>();
    for (std::uint32_t i = 0; i < count && body_.ok(); ++i) texts.push_back(body_.text());
  }
};

// The fields of each message, listed once for both directions, in the order of docs/internals/job-control.md.

template <typename Coder>
void fields(Coder& coder, typename Coder::template Value<Start>& message) {
  coder.numbers(message.rank_count, message.job_number);
  coder.text(message.program);
  coder.texts(message.arguments);
  coder.texts(message.environment);
  coder.text(message.working_directory);
  coder.text(message.profile);
  coder.text(message.profile_label);
  coder.texts(message.inject_rules);
  coder.text(message.crash_point_library_directory);
  coder.texts(message.cpu_places);
  coder.numbers(message.print_exit_codes, message.verbose);
}

template <typename Coder>
void fields(Coder& coder, typename Coder::template Value<Input>& message) {
  coder.text(message.bytes);
}

template <typename Coder>
void fields(Coder& coder, typename Coder::template Value<Signal>& message) {
  coder.numbers(message.number);
}

template <typename Coder>
void fields(Coder& coder, typename Coder::template Value<End>& message) {
  coder.numbers(message.exit_code, message.kill);
}

template <typename Coder>
void fields(Coder& coder, typename Coder::template Value<InputTaken>& message) {
  coder.numbers(message.size_bytes);
}

template <typename Coder>
void fields(Coder& coder, typename Coder::template Value<Output>& message) {
  coder.numbers(message.rank, message.stream);
  coder.text(message.bytes);
}

template <typename Coder>
void fields(Coder& coder, typename Coder::template Value<Notice>& message) {
  coder.text(message.text);
}

template <typename Coder>
void fields(Coder& coder, typename Coder::template Value<Finished>& message) {
  coder.numbers(message.exit_code);
  coder.text(message.report);
}

template <typename Coder>
void fields(Coder& coder, typename Coder::template Value<World>& message) {
  coder.numbers(message.first, message.count, message.number);
}

/// The alternative `type` of Message, read from `body`; nothing: there is no such type.
template <std::size_t index = 0>
std::optional<Message> read_type(std::uint32_t type, BodyReader& body) {
  if constexpr (index == std::variant_size_v<Message>) {
    return std::nullopt;
  } else {
    if (type != index) return read_type<index + 1>(type, body);
    std::variant_alternative_t<index, Message> message;
    fields(body, message);
    return message;
  }
}

}  // namespace

std::vector<std::byte> encode(const Message& message) {
  BodyWriter body;
  std::visit([&body](const auto& m) { fields(body, m); }, message);
  ByteWriter whole;
  whole.number(static_cast<std::uint32_t>(body.written().size()));
  whole.number(static_cast<std::uint32_t>(message.index()));
  whole.bytes(body.written());
  return whole.take();
}

void Decoder::append(std::span<const std::byte> bytes) {
  buffer_.erase(buffer_.begin(), buffer_.begin() + static_cast<std::ptrdiff_t>(at_));
  at_ = 0;
  buffer_.insert(buffer_.end(), bytes.begin(), bytes.end());
}

Result<std::optional<Message>> Decoder::next() {
  const auto rest = std::span<const std::byte>(buffer_).subspan(at_);
  if (rest.size() < header_size_bytes) return std::optional<Message>();
  ByteReader whole(rest);
  const auto size = whole.number<std::uint32_t>();
  const auto type = whole.number<std::uint32_t>();
  if (size > body_size_bytes_max)
    return failure(Errc::parse_error, "a message of {} bytes between mpirun and llamanetd is too long", size);
  if (whole.left_bytes() < size) return std::optional<Message>();
  at_ += header_size_bytes + size;
  BodyReader body(whole.next(size));
  auto message = read_type(type, body);
  if (!message)
    return failure(Errc::parse_error, "a message of unknown type {} between mpirun and llamanetd", type);
  if (!body.is_complete())
    return failure(Errc::parse_error, "a message of {} bytes between mpirun and llamanetd does not parse",
                   size);
  return message;
}

}  // namespace llamada::launcher::control
