#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "llamada/base/file_descriptor.hpp"
#include "llamada/base/result.hpp"
#include "llamada/llamanet/driver.hpp"
#include "llamada/llamanet/node_book.hpp"
#include "llamada/replication/link.hpp"

namespace llamada::llamanet {

/// What a driver has for a job on several nodes: the sockets by which its own slots and it itself reach the
/// others, and the book. It keeps the sockets, so that each successor in a slot receives where its
/// predecessor did.
class DriverLinks {
 public:
  /// Makes two sockets for each slot of the own node and for the driver, bound to the node's address. Errors:
  /// invalid_argument (the address is no IP address), those of the system.
  static Result<DriverLinks> open(const JobNodes& nodes);

  /// Where the driver and the own slots are, for meet() on each node.
  std::string endpoints() const;
  /// Makes the book from what endpoints() says on each node, by node; once. Errors: parse_error,
  /// already_exists, those of the system.
  Status meet(std::span<const std::string> endpoints_of_nodes);
  bool has_book() const { return static_cast<bool>(book_); }
  /// From meet() on.
  const NodeBook& book() const { return met_; }
  /// The driver's own sockets, for small frames and for bulk; once.
  std::pair<FileDescriptor, FileDescriptor> take_own() {
    return {std::move(driver_.small), std::move(driver_.bulk)};
  }
  /// What the application of an own slot gets: the book (read-only), the sockets for small frames and for
  /// bulk. They stay this object's.
  std::vector<int> descriptors(std::uint32_t slot) const;

 private:
  struct Sockets {
    std::uint32_t slot = 0;
    FileDescriptor small;
    FileDescriptor bulk;
    replication::Address small_address;
    replication::Address bulk_address;
  };
  static Result<Sockets> make_sockets(std::uint32_t slot, const replication::Address& address);

  JobNodes nodes_;
  std::uint64_t machine_ = 0;
  Sockets driver_;
  std::vector<Sockets> own_;  // in the slots' order
  NodeBook met_;
  FileDescriptor book_;  // none before meet()
};

}  // namespace llamada::llamanet
