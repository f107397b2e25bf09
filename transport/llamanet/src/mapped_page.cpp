#include "llamada/llamanet/mapped_page.hpp"

#include "llamada/log/arena_layout.hpp"

namespace llamada::llamanet {

Result<MappedPage> MappedPage::map(int file) {
  auto size = size_of(file);
  if (!size) return propagate(size);
  auto mapping = Mapping::map(file, *size, Mapping::Access::read_only);
  if (!mapping) return propagate(mapping);
  if (!is_page(mapping->data(), mapping->size(), sizeof(log::ArenaHeader)))
    return failure(Errc::parse_error, "the driver's page is not one that this version of Llamada knows");
  MappedPage page;
  page.mapping_ = std::move(*mapping);
  return page;
}

}  // namespace llamada::llamanet
