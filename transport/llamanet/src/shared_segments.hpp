#pragma once

#include <cstdint>
#include <map>
#include <set>

#include "llamada/base/file_descriptor.hpp"
#include "llamada/base/result.hpp"
#include "llamada/llamanet/memory_source.hpp"

namespace llamada::llamanet {

/// The memory that applications share for writing, by name. A segment is there from the first who asks for it
/// until the last who has asked has let go of it. That an application dies lets go of nothing while its slot
/// waits for a successor: who asks again through the same slot counts once.
class SharedSegments {
 public:
  /// `memory` is borrowed.
  explicit SharedSegments(const MemorySource& memory) : memory_(memory) {}

  /// Each is a descriptor of the driver.
  static constexpr std::size_t segments_count_max = 16 * 1024;

  /// For the application of `slot`: the segment's memory, which stays this object's. Errors: invalid_argument
  /// (no bytes, or another size than the first has asked for), out_of_resources.
  Result<int> share(std::uint32_t slot, std::uint64_t name, std::uint64_t size_bytes);
  /// Nothing happens when the slot does not hold it.
  void release(std::uint32_t slot, std::uint64_t name);
  /// The slot lets go of all that it holds.
  void leave(std::uint32_t slot);
  std::size_t size() const { return segments_.size(); }

 private:
  struct Segment {
    FileDescriptor memory;
    std::uint64_t size_bytes = 0;
    std::set<std::uint32_t> holders;  // slots
  };
  const MemorySource& memory_;
  std::map<std::uint64_t, Segment> segments_;
};

}  // namespace llamada::llamanet
