#pragma once

#include <memory>

#include "llamada/base/file_descriptor.hpp"
#include "llamada/base/result.hpp"
#include "llamada/llamanet/bell.hpp"
#include "llamada/llamanet/node_book.hpp"

namespace llamada::llamanet {

/// An application's way to other nodes: the book, and a link on each of the two sockets that its driver made.
class NodeLinks {
 public:
  /// Errors: parse_error (the book), those of the system.
  static Result<std::unique_ptr<NodeLinks>> open(std::uint32_t own_slot, FileDescriptor book,
                                                 FileDescriptor small, FileDescriptor bulk);

  /// In a copy of the process that has taken over: new links in the place of those of its original, on the
  /// sockets of the new incarnation. Errors: those of the system.
  Status renew(std::uint32_t own_slot, FileDescriptor small, FileDescriptor bulk);
  const NodeBook& book() const { return book_; }
  /// The driver's next book takes the place of this one. Errors: parse_error, those of the system.
  Status take_book(FileDescriptor book);
  replication::Link& small() { return *small_.link; }
  replication::Link& bulk() { return *bulk_.link; }
  /// Whatever comes by these links ends the sleeps on this bell.
  void add_to(Bell& bell);
  /// A socket that is no longer one: the program has closed it. -1: both are.
  int closed_descriptor() const;

 private:
  struct End final : Bell::Source {
    std::unique_ptr<replication::Link> link;
    int descriptor() const override { return link->descriptor(); }
    /// Whoever slept looks at the link.
    Status on_ready() override { return {}; }
  };

  NodeBook book_;
  End small_, bulk_;
};

}  // namespace llamada::llamanet
