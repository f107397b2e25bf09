#include "coll/record.hpp"

#include <fmt/core.h>

namespace llamada::mpi::coll {

const char* to_string(Content content) {
  switch (content) {
    case Content::data:
      return "piece";
    case Content::segment:
      return "segment's piece";
    case Content::dealt_out:
      return "contribution dealt out as";
    case Content::step:
      return "step";
    case Content::card:
      return "card";
    case Content::loan:
      return "loan";
    case Content::loan_over:
      return "end of a loan";
    case Content::together:
      return "all parts together";
  }
  return "unknown content";
}

std::string to_string(Piece piece) {
  return fmt::format("{} {}", to_string(piece.content()), piece.number());
}

std::optional<std::span<const std::byte>> part_in(const log::Record& record, int rank) {
  const std::size_t place = sizeof(std::uint32_t) * static_cast<std::size_t>(rank);
  std::uint32_t bounds[2];
  if (record.payload.size() < place + sizeof(bounds)) return std::nullopt;
  std::memcpy(bounds, record.payload.data() + place, sizeof(bounds));
  if (bounds[0] > bounds[1] || bounds[1] > record.payload.size()) return std::nullopt;
  return record.payload.subspan(bounds[0], bounds[1] - bounds[0]);
}

std::uint64_t bytes_given(const log::Record& record, int rank) {
  const Piece piece = piece_of(record);
  if (piece.content() == Content::together) {
    const auto part = part_in(record, rank);
    return part ? part->size() : 0;
  }
  // An Offer, a Card and a Loan begin with the number of bytes.
  const bool describes =
      piece == Piece(Content::step) || piece == Piece(Content::card) || piece == Piece(Content::loan);
  const auto said = describes ? record.payload : record.extra;
  std::uint64_t bytes = record.payload.size();
  if (said.size() >= sizeof(bytes)) std::memcpy(&bytes, said.data(), sizeof(bytes));
  return bytes > 0 || describes ? bytes : record.payload.size();
}

}  // namespace llamada::mpi::coll
