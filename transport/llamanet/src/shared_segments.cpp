#include "shared_segments.hpp"

namespace llamada::llamanet {

Result<int> SharedSegments::share(std::uint32_t slot, std::uint64_t name, std::uint64_t size_bytes) {
  if (size_bytes == 0) return failure(Errc::invalid_argument, "shared memory of no bytes");
  auto found = segments_.find(name);
  if (found == segments_.end()) {
    if (segments_.size() >= segments_count_max)
      return failure(Errc::out_of_resources,
                     "the job has {} pieces of shared memory, and no more are allowed", segments_count_max);
    auto memory = memory_.create("llamada-shared", size_bytes);
    if (!memory)
      return failure(Errc::out_of_resources, "{} bytes of shared memory: {}", size_bytes,
                     memory.error().text());
    found = segments_.emplace(name, Segment{std::move(*memory), size_bytes, {}}).first;
  }
  auto& segment = found->second;
  if (segment.size_bytes != size_bytes)
    return failure(Errc::invalid_argument, "shared memory {:#x} has {} bytes, and {} were asked for", name,
                   segment.size_bytes, size_bytes);
  segment.holders.insert(slot);
  return segment.memory.get();
}

void SharedSegments::release(std::uint32_t slot, std::uint64_t name) {
  auto found = segments_.find(name);
  if (found == segments_.end()) return;
  found->second.holders.erase(slot);
  if (found->second.holders.empty()) segments_.erase(found);
}

void SharedSegments::leave(std::uint32_t slot) {
  for (auto entry = segments_.begin(); entry != segments_.end();) {
    auto& holders = entry->second.holders;
    const bool last = holders.erase(slot) > 0 && holders.empty();
    entry = last ? segments_.erase(entry) : std::next(entry);
  }
}

}  // namespace llamada::llamanet
