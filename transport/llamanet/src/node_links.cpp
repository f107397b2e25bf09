#include "node_links.hpp"

#include <utility>

#include "book_codec.hpp"
#include "link_options.hpp"
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

Result<std::unique_ptr<NodeLinks>> NodeLinks::open(FileDescriptor book, FileDescriptor small,
                                                   FileDescriptor bulk) {
  auto links = std::make_unique<NodeLinks>();
  auto read = read_book(book.get());
  if (!read) return propagate(read);
  links->book_ = std::move(*read);
  auto small_link = links::UdpLink::adopt(std::move(small), small_link_options);
  if (!small_link) return propagate(small_link);
  links->small_.link = std::move(*small_link);
  auto bulk_link = links::UdpLink::adopt(std::move(bulk), bulk_link_options);
  if (!bulk_link) return propagate(bulk_link);
  links->bulk_.link = std::move(*bulk_link);
  return links;
}

void NodeLinks::add_to(Bell& bell) {
  bell.add(small_);
  bell.add(bulk_);
}

int NodeLinks::closed_descriptor() const {
  for (const End* end : {&small_, &bulk_})
    if (!end->link->address()) return end->link->descriptor();
  return -1;
}

}  // namespace llamada::llamanet
