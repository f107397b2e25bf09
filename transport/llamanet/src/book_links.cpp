#include "book_links.hpp"

#include <utility>

namespace llamada::llamanet {
namespace {

template <typename Kind>
Result<std::unique_ptr<replication::Link>> as_link(Result<std::unique_ptr<Kind>> opened) {
  if (!opened) return propagate(opened);
  return std::unique_ptr<replication::Link>(std::move(*opened));
}

}  // namespace

Result<std::unique_ptr<replication::Link>> open_small_link(const NodeBook& book, const EthernetPlace& own,
                                                           FileDescriptor socket) {
  if (book.links.uses_ethernet())
    return as_link(links::EthernetLink::adopt(
        std::move(socket), ethernet_options(book.job_number, own.lane, book.links.ethernet_mtu)));
  return as_link(links::UdpLink::adopt(std::move(socket), udp_options(false, book.links.udp_bytes)));
}

Result<std::unique_ptr<replication::Link>> open_bulk_link(const NodeBook& book, FileDescriptor socket) {
  return as_link(links::UdpLink::adopt(std::move(socket), udp_options(true, book.links.udp_bytes)));
}

}  // namespace llamada::llamanet
