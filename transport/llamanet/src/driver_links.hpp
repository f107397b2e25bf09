#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "link_probe.hpp"
#include "llamada/base/file_descriptor.hpp"
#include "llamada/base/result.hpp"
#include "llamada/links/ethernet_link.hpp"
#include "llamada/llamanet/driver.hpp"
#include "llamada/llamanet/node_book.hpp"
#include "llamada/replication/link.hpp"

namespace llamada::llamanet {

/// What a driver has for a job on several nodes: the sockets by which its own slots and it itself reach the
/// others, and the book. It keeps the sockets, so that each successor in a slot receives where its
/// predecessor did.
class DriverLinks {
 public:
  /// Makes two UDP sockets for each slot of the own node and for the driver, bound to the node's address, and
  /// finds out whether there could be raw Ethernet, too. Errors: invalid_argument (the address is no IP
  /// address), those of the system.
  static Result<DriverLinks> open(const JobNodes& nodes);

  /// Where the driver and the own slots are, for probe() and meet() on each node.
  std::string endpoints() const;
  /// Why this node cannot use raw Ethernet, a sentence without a full stop; empty: it can, as far as it
  /// knows.
  const std::string& why_no_ethernet() const { return why_no_ethernet_; }
  /// The links to the drivers of the other nodes for probes, from what endpoints() says on each node; empty:
  /// it is not to be asked. Once. Errors: parse_error, already_exists, those of the system.
  Result<std::unique_ptr<LinkProbe>> probe(std::span<const std::string> endpoints_of_nodes);
  /// Makes the book from what endpoints() says on each node, by node, and the sockets for the links that were
  /// chosen; once. Errors: parse_error, already_exists, those of the system.
  Status meet(std::span<const std::string> endpoints_of_nodes, const LinkChoice& choice);
  /// More slots behind the others, by the node of each: makes sockets for those of the own node. Gives where
  /// these are, for meet_more() on each node. Errors: those of the system, and then the slots stay without
  /// sockets.
  Result<std::string> add(std::span<const std::uint32_t> nodes);
  /// Makes the next book, in which the slots are that add() has told of on each node, by node. Errors:
  /// parse_error, those of the system, and then the book stays what it was.
  Status meet_more(std::span<const std::string> endpoints_of_nodes);
  bool has_book() const { return static_cast<bool>(book_); }
  /// The book's file, read-only; the next meet_more() closes it.
  int book_file() const { return book_.get(); }
  /// From meet() on.
  const NodeBook& book() const { return met_; }
  /// Descriptors of the driver's own sockets, for small frames and for bulk. This object keeps its own for
  /// stop_hearing(). Errors: system.
  Result<std::pair<FileDescriptor, FileDescriptor>> own_sockets() const;
  /// From now on this node takes no frames of these nodes; none: of all. From meet() on, for links by UDP.
  /// Errors: unsupported (raw Ethernet), those of UdpLink::set_filter().
  Status stop_hearing(std::vector<std::uint32_t> nodes);
  /// A successor is to attach to the slot. A ring of raw frames that was read before cannot be read by
  /// another process, so there is a new socket for the same lane.
  void renew(std::uint32_t slot);
  /// What the application of an own slot gets: the book (read-only), the sockets for small frames and for
  /// bulk. They stay this object's. Errors: those of the last renew().
  Result<std::vector<int>> descriptors(std::uint32_t slot) const;

 private:
  struct Sockets {
    std::uint32_t slot = 0;
    FileDescriptor small;
    FileDescriptor bulk;
    replication::Address small_address;
    replication::Address bulk_address;
    EthernetPlace ethernet{};
    std::optional<Error> error{};  // why there are no sockets
  };
  static Result<Sockets> make_sockets(std::uint32_t slot, const replication::Address& address,
                                      const JobNodes& nodes);
  void offer_ethernet_to(Sockets& own) const;
  Status use_ethernet(Sockets& of) const;
  Status filter(const Sockets& of) const;
  Result<FileDescriptor> make_raw_socket(std::uint16_t lane, std::uint32_t mtu) const;
  Status open_probe(const replication::Address& address);
  /// Why there is none; empty: there may be.
  std::string offer_ethernet(const Result<links::NetworkInterface>& interface);
  Result<std::vector<Sockets>> make_own(std::uint32_t first, std::span<const std::uint32_t> nodes) const;
  std::string endpoints_of(std::span<const Sockets> own) const;
  Status write_book(NodeBook book);

  JobNodes nodes_;
  replication::Address address_;
  std::uint64_t machine_ = 0;
  Sockets driver_;
  std::vector<Sockets> own_;  // in the slots' order
  std::vector<std::uint32_t> not_heard_;
  std::string why_no_ethernet_;
  std::string interface_;  // of raw Ethernet
  std::uint16_t mtu_ = 0, ethernet_mtu_ = 0;
  struct {
    FileDescriptor udp, raw;  // until probe()
    std::uint16_t port = 0;
  } probe_;
  NodeBook met_;
  FileDescriptor book_;  // none before meet()
};

}  // namespace llamada::llamanet
