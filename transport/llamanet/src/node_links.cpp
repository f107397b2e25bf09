#include "node_links.hpp"

#include <sys/socket.h>

#include <utility>

#include "book_codec.hpp"
#include "book_links.hpp"
#include "llamada/llamanet/shared_memory.hpp"

namespace llamada::llamanet {
namespace {

/// The mapping is gone afterwards: all incarnations of a rank do the same, whatever the book's size.
Result<NodeBook> read_book(int file) {
  auto size = size_of(file);
  if (!size) return propagate(size);
  auto mapping = Mapping::map(file, *size, Mapping::Access::read_only);
  if (!mapping) return propagate(mapping);
  return decode_book(mapping->bytes());
}

}  // namespace

Result<std::unique_ptr<NodeLinks>> NodeLinks::open(std::uint32_t own_slot, FileDescriptor book,
                                                   FileDescriptor small, FileDescriptor bulk) {
  auto links = std::make_unique<NodeLinks>();
  if (auto taken = links->take_book(std::move(book)); !taken) return propagate(taken);
  if (own_slot >= links->book_.entries.size())
    return failure(Errc::parse_error, "the address book of the job does not have slot {}", own_slot);
  if (auto opened = links->renew(own_slot, std::move(small), std::move(bulk)); !opened)
    return propagate(opened);
  return links;
}

Status NodeLinks::renew(std::uint32_t own_slot, FileDescriptor small, FileDescriptor bulk) {
  auto small_link = open_small_link(book_, book_.entries[own_slot].ethernet, std::move(small));
  if (!small_link) return propagate(small_link);
  small_.link = std::move(*small_link);
  auto bulk_link = open_bulk_link(book_, std::move(bulk));
  if (!bulk_link) return propagate(bulk_link);
  bulk_.link = std::move(*bulk_link);
  return {};
}

Status NodeLinks::take_book(FileDescriptor book) {
  auto read = read_book(book.get());
  if (!read) return propagate(read);
  book_ = std::move(*read);
  return {};
}

void NodeLinks::add_to(Bell& bell) {
  bell.add(small_);
  bell.add(bulk_);
}

int NodeLinks::closed_descriptor() const {
  for (const End* end : {&small_, &bulk_}) {
    sockaddr_storage bound{};
    socklen_t length = sizeof(bound);
    const int descriptor = end->link->descriptor();
    if (::getsockname(descriptor, reinterpret_cast<sockaddr*>(&bound), &length) != 0) return descriptor;
  }
  return -1;
}

}  // namespace llamada::llamanet
