#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <utility>

#include "llamada/log/arena_layout.hpp"

namespace llamada::log {

/// Pieces of an arena's pool that are free for chunks of any shape. No two of them are neighbours: those that
/// would be are one.
class FreeExtents {
 public:
  struct Extent {
    Offset offset = 0;
    std::uint64_t size_bytes = 0;
    Offset end() const { return offset + size_bytes; }
    bool operator==(const Extent&) const = default;
  };

  bool empty() const { return by_place_.empty(); }
  /// The one that ends at this offset, and the one that begins there.
  std::optional<Extent> before(Offset offset) const;
  std::optional<Extent> at(Offset offset) const;
  /// The smallest that has so many bytes and leaves either nothing or at least `rest_min_bytes`.
  std::optional<Extent> find(std::uint64_t size_bytes, std::uint64_t rest_min_bytes) const;

  void add(const Extent& extent);
  void remove(const Extent& extent);

 private:
  std::map<Offset, std::uint64_t> by_place_;
  std::set<std::pair<std::uint64_t, Offset>> by_size_;
};

}  // namespace llamada::log
