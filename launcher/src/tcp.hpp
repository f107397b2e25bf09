#pragma once

#include <cstdint>
#include <string>

#include "llamada/base/file_descriptor.hpp"
#include "llamada/base/result.hpp"

// The TCP sockets between the coordinator of a job and the nodes. IPv4.

namespace llamada::launcher {

/// A socket at which nodes can connect, at all addresses of this host, and its port.
struct Listener {
  FileDescriptor socket;
  std::uint16_t port = 0;
};
Result<Listener> listen_for_nodes();

/// A peer that has vanished without a word (its host, or the network) counts as gone after about ten seconds.
/// Small messages leave at once.
void prepare_stream(const FileDescriptor& socket);

/// The IP address of this end of a connection.
std::string own_address_of(const FileDescriptor& socket);

/// Begins to connect, without waiting. Errors: invalid_argument for what is no IPv4 address; system.
Result<FileDescriptor> begin_to_connect(const std::string& address, std::uint16_t port);

}  // namespace llamada::launcher
