#include "llamada/llamanet/mapped_arena.hpp"

#include <algorithm>

namespace llamada::llamanet {

Result<MappedArena> MappedArena::map(int file, std::uint64_t size_bytes) {
  auto file_bytes = size_of(file);
  if (!file_bytes) return propagate(file_bytes);
  auto mapping = Mapping::map(file, size_bytes, Mapping::Access::read_only);
  if (!mapping) return propagate(mapping);
  MappedArena arena;
  arena.mapping_ = std::move(*mapping);
  arena.file_bytes_ = std::min<std::uint64_t>(*file_bytes, arena.mapping_.size());
  return arena;
}

}  // namespace llamada::llamanet
