#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <span>

#include "llamada/log/log_reader.hpp"
#include "llamada/replication/submessages.hpp"

namespace llamada::replication {

/// What one datagram under way carries: enough to build it again out of the log, never its bytes.
struct Item {
  enum class Kind : std::uint8_t { none, control, records, piece, pulled };
  Kind kind = Kind::none;
  Type control_type = Type::credit;
  LogNumber log = 0;
  std::uint32_t count = 0;     ///< of records, or of a piece's bytes
  std::uint64_t record = 0;    ///< number of the first one, or of the piece's
  std::uint64_t offset = 0;    ///< of the piece in its payload
  std::uint64_t begun_by = 0;  ///< Piece::begun_by
  log::LogPosition place;      ///< of that record
  /// When the peer has applied the datagram it has all that lies in chunks with lower ordinals.
  std::uint64_t chunk_ordinal = 0;
  std::array<std::byte, sizeof(Follow)> control{};

  template <typename Body>
  static Item of_control(Type type, LogNumber log, const Body& body) {
    static_assert(sizeof(Body) <= sizeof(Follow));
    Item item{.kind = Kind::control, .control_type = type, .log = log};
    std::memcpy(item.control.data(), &body, sizeof(body));
    return item;
  }
  template <typename Body>
  Body control_as() const {
    Body body;
    std::memcpy(&body, control.data(), sizeof(body));
    return body;
  }
};

}  // namespace llamada::replication
