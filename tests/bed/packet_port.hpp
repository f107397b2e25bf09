#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <span>
#include <string>
#include <vector>

#include "llamada/base/file_descriptor.hpp"
#include "llamada/base/result.hpp"

namespace llamada::bed {

/// Where whole Ethernet frames of one interface come in and go out, whatever they are.
class PacketPort {
 public:
  /// Of an interface of this process's network namespace. Errors: those of the system.
  static Result<PacketPort> open(const std::string& interface);

  int descriptor() const { return socket_.get(); }
  /// Calls `take` with each frame that has come, at most some hundred. A checksum that the sender has left to
  /// its network card is filled in, since the frame may be damaged on its way.
  void receive(const std::function<void(std::span<std::byte>)>& take);
  /// A frame that the kernel does not take is gone.
  void send(std::span<const std::byte> frame) const;
  /// Frames that came faster than they were taken, since the last call.
  std::uint64_t take_overruns() const;

 private:
  FileDescriptor socket_;
  std::vector<std::byte> buffer_;
};

/// Fills in the Internet checksum at `start` + `offset` over all bytes from `start` on, of which that place
/// holds the pseudo header's sum.
void complete_checksum(std::span<std::byte> frame, std::size_t start, std::size_t offset);

}  // namespace llamada::bed
