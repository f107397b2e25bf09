#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <optional>
#include <span>
#include <string>
#include <utility>

#include "llamada/log/log_reader.hpp"
#include "llamada/log/log_writer.hpp"
#include "llamada/mpi/collective_record.hpp"
#include "world/peer_memory.hpp"

// The format of the records in collective logs (docs/internals/collectives.md). What tools need of it is in
// llamada/mpi/collective_record.hpp.

namespace llamada::mpi::coll {

const char* to_string(Content content);
/// Whether a member that meant to take something would take such a record; the others only say something of
/// data that lie in memory.
constexpr bool carries_data(Content content) {
  return content == Content::data || content == Content::segment || content == Content::dealt_out ||
         content == Content::loan || content == Content::together;
}

/// The name of a record among those that a member publishes in one collective.
class Piece {
 public:
  static constexpr std::uint32_t number_max = (1U << 24) - 1;

  constexpr Piece() = default;
  /// `number` is at most number_max.
  constexpr Piece(Content content, std::uint32_t number = 0)  // NOLINT: implicit by intent
      : bits_(static_cast<std::uint32_t>(content) << 24 | number) {}
  static constexpr Piece data(std::uint32_t number) { return {Content::data, number}; }
  static constexpr Piece from_bits(std::uint32_t bits) {
    Piece piece;
    piece.bits_ = bits;
    return piece;
  }

  constexpr Content content() const { return static_cast<Content>(bits_ >> 24); }
  constexpr std::uint32_t number() const { return bits_ & number_max; }
  constexpr Piece next() const { return from_bits(bits_ + 1); }
  constexpr std::uint32_t bits() const { return bits_; }
  constexpr bool operator==(const Piece&) const = default;

 private:
  std::uint32_t bits_ = 0;
};
/// "piece 3", "loan 0": for messages.
std::string to_string(Piece piece);

/// The audience of a record that all members read.
inline constexpr int everybody = -1;

/// Says by whom and when a record was published and who is to read it: what a log keeps beside the payload.
///   kind   Kind
///   flags  0 for everybody, else 1 + the member that it is for
///   label  ordinal u32 << 32 | content u8 << 24 | number u24
///   extra  beside a payload of more than 48 bytes: how many bytes the member gives in all (u64); 0: as many
///          as the payload has
struct RecordHead {
  Kind kind = Kind::barrier;
  std::uint32_t ordinal = 0;  ///< of the collective
  Piece piece;
  int audience = everybody;

  std::uint8_t record_kind() const { return static_cast<std::uint8_t>(kind); }
  std::uint16_t flags() const { return flags_for(audience); }
  std::uint64_t label() const { return label_of(ordinal, piece); }
  bool is_of(const log::Record& record) const {
    return record.kind == record_kind() && record.flags == flags() && record.label == label();
  }

  static std::uint16_t flags_for(int audience) { return static_cast<std::uint16_t>(audience + 1); }
  static std::uint64_t label_of(std::uint32_t ordinal, Piece piece) {
    return std::uint64_t{ordinal} << 32 | piece.bits();
  }
  static RecordHead of(const log::Record& record) {
    return {static_cast<Kind>(record.kind), static_cast<std::uint32_t>(record.label >> 32),
            Piece::from_bits(static_cast<std::uint32_t>(record.label)), record.flags - 1};
  }
};

inline Piece piece_of(const log::Record& record) {
  return Piece::from_bits(static_cast<std::uint32_t>(record.label));
}
inline std::uint32_t ordinal_of(const log::Record& record) {
  return static_cast<std::uint32_t>(record.label >> 32);
}
/// How many collectives `ordinal` is behind `reference`. Ordinals wrap around; two that are compared are
/// always less than half the range apart.
constexpr std::int32_t age(std::uint32_t ordinal, std::uint32_t reference) {
  return static_cast<std::int32_t>(ordinal - reference);
}
inline bool is_for(const log::Record& record, int member) {
  return record.flags == 0 || record.flags == RecordHead::flags_for(member);
}

/// Where a part lies that another member may copy .
struct Loan {
  std::uint64_t bytes = 0;
  std::uint64_t address = 0;
  ProcessCard lender;
};
static_assert(sizeof(Loan) <= log::inline_payload_max);

inline bool is_loan(const log::Record& record) {
  return piece_of(record).content() == Content::loan && record.payload.size() == sizeof(Loan);
}
inline bool is_loan_over(const log::Record& record) {
  return piece_of(record).content() == Content::loan_over;
}

/// The part of this rank (its place among the peers of the record's member) in a record of
/// Content::together; none when the payload has no such part.
std::optional<std::span<const std::byte>> part_in(const log::Record& record, int rank);
/// Of how many bytes for this rank the record is a piece, as far as it says.
std::uint64_t bytes_given(const log::Record& record, int rank);
/// Whether it is a piece of so many bytes, as far as it says.
inline bool is_of(const log::Record& record, std::uint64_t bytes) {
  if (record.extra.empty()) return true;
  std::uint64_t given;
  std::memcpy(&given, record.extra.data(), sizeof(given));
  return (given == 0 ? record.payload.size() : given) == bytes;
}

}  // namespace llamada::mpi::coll
