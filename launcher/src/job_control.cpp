#include "llamada/launcher/job_control.hpp"

#include <cstring>
#include <type_traits>

namespace llamada::launcher::control {
namespace {

class Writer {
 public:
  template <typename Number>
  std::enable_if_t<std::is_integral_v<Number>> put(Number number) {
    bytes_.append(reinterpret_cast<const char*>(&number), sizeof number);
  }
  void put(const std::string& text) {
    put(static_cast<std::uint32_t>(text.size()));
    bytes_ += text;
  }
  void put(const std::vector<std::string>& texts) {
    put(static_cast<std::uint32_t>(texts.size()));
    for (const std::string& text : texts) put(text);
  }
  std::string take() { return std::move(bytes_); }

 private:
  std::string bytes_;
};

class Reader {
 public:
  explicit Reader(std::string_view bytes) : rest_(bytes) {}

  template <typename Number>
  std::enable_if_t<std::is_integral_v<Number>> put(Number& number) {
    if (!need(sizeof number)) return;
    std::memcpy(&number, rest_.data(), sizeof number);
    rest_.remove_prefix(sizeof number);
  }
  void put(std::string& text) {
    std::uint32_t size = 0;
    put(size);
    if (!need(size)) return;
    text = rest_.substr(0, size);
    rest_.remove_prefix(size);
  }
  void put(std::vector<std::string>& texts) {
    std::uint32_t count = 0;
    put(count);
    // Each text takes at least its size: a count beyond that is not believed, so that nothing large is
    // allocated.
    if (!need(static_cast<std::size_t>(count) * sizeof(std::uint32_t))) return;
    texts.resize(count);
    for (std::string& text : texts) put(text);
  }
  bool well_formed() const { return good_ && rest_.empty(); }

 private:
  bool need(std::size_t size) {
    good_ = good_ && rest_.size() >= size;
    return good_;
  }

  std::string_view rest_;
  bool good_ = true;
};

// The fields of each message, once for both directions.
template <typename Codec, typename M>
requires std::is_same_v<std::remove_const_t<M>, Start>
void fields(Codec& codec, M& m) {
  codec.put(m.rank_count), codec.put(m.job_number), codec.put(m.program), codec.put(m.arguments);
  codec.put(m.environment), codec.put(m.working_directory), codec.put(m.profile), codec.put(m.profile_label);
  codec.put(m.inject_rules), codec.put(m.crash_point_library_directory);
  codec.put(m.cpu_places), codec.put(m.print_exit_codes), codec.put(m.verbose);
}
template <typename Codec, typename M>
requires std::is_same_v<std::remove_const_t<M>, Input>
void fields(Codec& codec, M& m) { codec.put(m.bytes); }
template <typename Codec, typename M>
requires std::is_same_v<std::remove_const_t<M>, Signal>
void fields(Codec& codec, M& m) { codec.put(m.number); }
template <typename Codec, typename M>
requires std::is_same_v<std::remove_const_t<M>, End>
void fields(Codec& codec, M& m) { codec.put(m.exit_code), codec.put(m.kill); }
template <typename Codec, typename M>
requires std::is_same_v<std::remove_const_t<M>, InputTaken>
void fields(Codec& codec, M& m) { codec.put(m.size_bytes); }
template <typename Codec, typename M>
requires std::is_same_v<std::remove_const_t<M>, Output>
void fields(Codec& codec, M& m) { codec.put(m.rank), codec.put(m.stream), codec.put(m.bytes); }
template <typename Codec, typename M>
requires std::is_same_v<std::remove_const_t<M>, Notice>
void fields(Codec& codec, M& m) { codec.put(m.text); }
template <typename Codec, typename M>
requires std::is_same_v<std::remove_const_t<M>, Finished>
void fields(Codec& codec, M& m) { codec.put(m.exit_code), codec.put(m.report); }

template <typename Codec, typename M>
requires std::is_same_v<std::remove_const_t<M>, World>
void fields(Codec& codec, M& m) { codec.put(m.first), codec.put(m.count), codec.put(m.number); }

template <typename M>
Result<std::optional<Message>> decode_as(std::string_view body) {
  M message;
  Reader reader(body);
  fields(reader, message);
  if (!reader.well_formed())
    return failure(Errc::parse_error, "a message of {} bytes between mpirun and llamanetd does not parse",
                   body.size());
  return std::optional<Message>(std::move(message));
}

template <std::size_t... index>
Result<std::optional<Message>> decode_body(std::size_t type, std::string_view body,
                                           std::index_sequence<index...>) {
  Result<std::optional<Message>> result =
      failure(Errc::parse_error, "a message of unknown type {} between mpirun and llamanetd", type);
  static_cast<void>(
      ((type == index && (result = decode_as<std::variant_alternative_t<index, Message>>(body), true)) ||
       ...));
  return result;
}

}  // namespace

std::string encode(const Message& message) {
  Writer body_writer;
  std::visit([&](const auto& m) { fields(body_writer, m); }, message);
  const std::string body = body_writer.take();
  Writer writer;
  writer.put(static_cast<std::uint32_t>(body.size()));
  writer.put(static_cast<std::uint32_t>(message.index()));
  return writer.take() + body;
}

void Decoder::append(std::span<const char> bytes) {
  buffer_.erase(0, at_);
  at_ = 0;
  buffer_.append(bytes.data(), bytes.size());
}

Result<std::optional<Message>> Decoder::next() {
  const std::string_view rest = std::string_view(buffer_).substr(at_);
  if (rest.size() < header_size_bytes) return std::optional<Message>();
  std::uint32_t header[2];
  std::memcpy(header, rest.data(), sizeof header);
  if (header[0] > body_size_bytes_max)
    return failure(Errc::parse_error, "a message of {} bytes between mpirun and llamanetd is too long",
                   header[0]);
  if (rest.size() < header_size_bytes + header[0]) return std::optional<Message>();
  at_ += header_size_bytes + header[0];
  return decode_body(header[1], rest.substr(header_size_bytes, header[0]),
                     std::make_index_sequence<std::variant_size_v<Message>>());
}

}  // namespace llamada::launcher::control
