#pragma once

#include <sys/types.h>

#include <cerrno>
#include <chrono>
#include <cstddef>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "llamada/base/file_descriptor.hpp"
#include "llamada/base/result.hpp"

// UNIX SOCK_SEQPACKET sockets in the abstract name space, with descriptors as passengers.

namespace llamada::llamanet {

struct Datagram {
  std::vector<std::byte> bytes;
  std::vector<FileDescriptor> descriptors;
};

struct Credentials {
  pid_t pid = 0;
  uid_t uid = 0;
};

/// Drivers and programs with the same value find each other, and no others: for tests, and for whoever wants
/// several nodes on one machine.
inline constexpr const char* name_space_variable = "LLAMADA_NAMESPACE";
inline constexpr std::size_t name_space_bytes_max = 32;

/// Whether the environment's name space can be a part of a name. Errors: invalid_argument.
Status check_name_space();
/// "llamada/<uid>/", or with a name space "llamada/<uid>/<name space>/".
std::string name_prefix(uid_t uid);
/// The prefix with a driver's name behind it: the abstract name without its leading NUL.
std::string socket_name(uid_t uid, std::string_view name);

/// "@llamada/1000/node is held by process 17 of user 1001, not of user 1000"; without a number for pid 0.
std::string held_by(std::string_view socket_name, const Credentials& holder);

/// A non-blocking socket that has the name and does not listen yet. already_exists: another socket has it.
Result<FileDescriptor> bind_at(std::string_view socket_name);
Status start_listening(int socket);

/// No wait on the socket is longer; 0: without end.
Status limit_waits(int socket, std::chrono::milliseconds longest);

/// A connected socket. closed: nobody listens there. With a `patience` no wait on it is longer: what takes
/// longer fails with would_block, this, too.
Result<FileDescriptor> connect_to(std::string_view socket_name,
                                  std::optional<std::chrono::milliseconds> patience = std::nullopt);

/// Whether a system call that failed in this way may succeed under another name: filters and old kernels
/// refuse some.
inline bool is_refused(int error_number) { return error_number == EPERM || error_number == ENOSYS; }

/// The next connection. would_block: there is none.
Result<FileDescriptor> accept_from(int listener);

/// Sends one datagram whole. would_block: not now, nothing was sent; closed: the other end is gone.
/// The descriptors stay the caller's.
Status send_datagram(int socket, std::span<const std::byte> bytes, std::span<const int> descriptors = {});

/// Receives one datagram. would_block; closed: the other end is gone. `wait`: block until there is one.
/// Descriptors are close-on-exec; out_of_resources when this process had no room for them.
Result<Datagram> receive_datagram(int socket, bool wait, std::size_t descriptors_max);

/// Who was at the other end when the connection was made.
Result<Credentials> credentials_of(int socket);

/// A pidfd of the process at the other end. closed: it is dead already.
Result<FileDescriptor> pidfd_of(int socket, pid_t pid);

/// Whether a process of `theirs` may deal with one of `ours`: the same user, or root.
constexpr bool may_deal_with(uid_t ours, uid_t theirs) { return theirs == ours || theirs == 0; }

}  // namespace llamada::llamanet
