#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "llamada/base/result.hpp"
#include "llamada/llamanet/node_book.hpp"

// The bytes by which nodes tell each other, and their ranks, where everybody is: pure functions. The layouts
// are in docs/internals/driver-protocol.md, "Several nodes".

namespace llamada::llamanet {

/// Where one node and its ranks are, as its driver tells the others.
struct NodeEndpoints {
  std::uint32_t node = 0;
  BookNode driver;
  struct Slot {
    std::uint32_t slot = 0;
    BookEntry entry;
    bool operator==(const Slot&) const = default;
  };
  std::vector<Slot> slots;
};

std::string encode_endpoints(const NodeEndpoints& endpoints);
/// Errors: parse_error (not exactly the endpoints of one node).
Result<NodeEndpoints> decode_endpoints(std::string_view bytes);

std::vector<std::byte> encode_book(const NodeBook& book);
/// Errors: parse_error (not exactly one book).
Result<NodeBook> decode_book(std::span<const std::byte> bytes);

/// The two tables of a book.
struct EndpointsOfAll {
  std::vector<BookNode> nodes;
  std::vector<BookEntry> slots;
};
/// Joins what the driver of each node tells; `node_of_slot` is what this driver knows of the job. Errors:
/// parse_error (not well-formed; a slot that is missing, doubled or of another node).
Result<EndpointsOfAll> join_endpoints(std::span<const std::string> endpoints_of_nodes,
                                      std::span<const std::uint32_t> node_of_slot);
/// Adds what the drivers tell of slots that are not known yet to `slots`, which then has as many entries as
/// `node_of_slot`; gives where the drivers are. A slot of which nobody tells stays unknown; an empty text is
/// a node that is lost. Errors: parse_error (not well-formed; a slot that is known, or of another node), and
/// then nothing is added.
Result<std::vector<BookNode>> add_endpoints(std::span<const std::string> endpoints_of_nodes,
                                            std::span<const std::uint32_t> node_of_slot,
                                            std::vector<BookEntry>& slots);

}  // namespace llamada::llamanet
