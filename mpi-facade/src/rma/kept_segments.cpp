#include "rma/kept_segments.hpp"

#include <algorithm>
#include <cstring>

namespace llamada::mpi::rma {

void KeptSegments::keep(Reference<Group> group, WindowSegment segment, std::span<std::byte> own) {
  if (segment.memory.size() > segment_bytes_max) return;
  entries_.push_back({std::move(group), std::move(segment), own});
  while (entries_.size() > count_max || bytes() > all_bytes_max) entries_.pop_front();
}

std::optional<WindowSegment> KeptSegments::take(const Group& group, WindowSegment::Kind kind) {
  const auto is_fitting = [&](const Entry& entry) {
    return entry.segment.kind == kind && std::ranges::equal(entry.group->members(), group.members());
  };
  const auto found = std::find_if(entries_.rbegin(), entries_.rend(), is_fitting);
  if (found == entries_.rend()) return std::nullopt;
  Entry entry = std::move(*found);
  entries_.erase(std::prev(found.base()));
  entry.segment.control(group).clear(static_cast<std::size_t>(group.rank()),
                                     kind == WindowSegment::Kind::dynamic);
  if (!entry.own.empty()) std::memset(entry.own.data(), 0, entry.own.size());
  return std::move(entry.segment);
}

std::size_t KeptSegments::bytes() const {
  std::size_t sum = 0;
  for (const Entry& entry : entries_) sum += entry.segment.memory.size();
  return sum;
}

}  // namespace llamada::mpi::rma
