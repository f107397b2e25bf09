#include "llamada/types/deserialize.hpp"

namespace llamada::types::detail {

namespace {

/// Length codes 5 to 7 take the member's own first word, a count of 1, 4 or 8 bytes, for the length as well.
std::uint64_t shared_length(std::uint32_t code, std::uint32_t count) {
  const std::uint64_t unit = code == 5 ? 1 : code == 6 ? 4 : 8;
  return sizeof(std::uint32_t) + unit * count;
}

}  // namespace

MemberHeader read_member_header(Xcdr2Reader& reader) {
  const auto word = reader.get<std::uint32_t>();
  const std::uint32_t code = word >> 28 & 7;
  MemberHeader header{word & 0x0fffffff, (word >> 31) != 0, 1u << code};
  if (code < 4 || reader.failed()) return header;
  const auto next = reader.get<std::uint32_t>();
  if (reader.failed()) return header;
  if (code == 4) {
    header.length_bytes = next;
    return header;
  }
  reader.rewind(sizeof(std::uint32_t));
  const std::uint64_t length = shared_length(code, next);
  if (length > reader.remaining()) {
    reader.fail(
        fmt::format("member id {} has {} bytes where {} are left", header.id, length, reader.remaining()));
    return header;
  }
  header.length_bytes = static_cast<std::uint32_t>(length);
  return header;
}

Status check_all_taken(const Xcdr2Reader& reader) {
  if (reader.failed()) return reader.status();
  if (reader.remaining() > 0) return failure(Errc::parse_error, "{} bytes too many", reader.remaining());
  return {};
}

}  // namespace llamada::types::detail
