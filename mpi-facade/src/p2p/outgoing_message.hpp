#pragma once

#include <cstddef>
#include <span>

#include "llamada/base/copy.hpp"
#include "p2p/request.hpp"

namespace llamada::mpi {

/// What is sent: of a buffered send the copy.
inline std::size_t message_bytes(const Request& request) {
  return request.mode == SendMode::buffered ? request.kept->message.size() : request.buffer.bytes();
}
inline const std::byte* message_memory(const Request& request) {
  return request.mode == SendMode::buffered ? request.kept->message.data() : request.buffer.contiguous();
}
inline void pack_message(const Request& request, std::size_t first, std::span<std::byte> out) {
  if (out.empty()) return;
  if (const std::byte* memory = message_memory(request))
    copy_bytes_out(out.data(), memory + first, out.size());
  else
    request.buffer.pack(first, out);
}

}  // namespace llamada::mpi
