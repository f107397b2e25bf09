#pragma once

#include <compare>
#include <cstddef>
#include <map>
#include <memory>
#include <utility>

#include "llamada/base/copy.hpp"
#include "p2p/incoming.hpp"

namespace llamada::mpi {

/// Copies of large payloads that came before they were asked for, out of logs that are used again. Messages
/// whose sender shows one payload again and again (KeptPayloads) have one copy, so that they take no more
/// memory than was written.
///
/// Threads: the engine's.
class SharedPayloads {
 public:
  /// Smaller ones are copied each by itself.
  static constexpr std::size_t bytes_min = 64 << 10;

  std::shared_ptr<const std::byte[]> copy_of(const IncomingMessage& message) {
    std::erase_if(copies_, [](const auto& known) { return known.second.expired(); });
    std::weak_ptr<const std::byte[]>& known =
        copies_[{message.source, message.chunk, message.payload.data(), message.payload.size()}];
    if (auto copy = known.lock()) return copy;
    auto copy = std::make_unique_for_overwrite<std::byte[]>(message.payload.size());
    copy_bytes(copy.get(), message.payload.data(), message.payload.size());
    std::shared_ptr<const std::byte[]> shared = std::move(copy);
    known = shared;
    return shared;
  }

 private:
  struct Place {
    int source;
    std::uint64_t chunk;
    const std::byte* payload;
    std::size_t size_bytes;
    auto operator<=>(const Place&) const = default;
  };
  std::map<Place, std::weak_ptr<const std::byte[]>> copies_;
};

}  // namespace llamada::mpi
