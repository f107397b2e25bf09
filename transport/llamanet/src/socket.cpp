#include "socket.hpp"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/un.h>
#include <unistd.h>

#include <algorithm>
#include <cctype>
#include <cstdlib>
#include <cstring>

#include "llamada/base/check.hpp"
#include "llamada/llamanet/protocol.hpp"

#ifndef SO_PEERPIDFD
#define SO_PEERPIDFD 77
#endif

namespace llamada::llamanet {
namespace {

constexpr int backlog_max = 4096;            // the kernel cuts it to net.core.somaxconn
constexpr std::size_t passengers_max = 253;  // SCM_MAX_FD

struct Address {
  sockaddr_un name{};
  socklen_t size = 0;
};

Result<Address> abstract_address(std::string_view socket_name) {
  Address address;
  address.name.sun_family = AF_UNIX;
  if (socket_name.size() + 1 > sizeof(address.name.sun_path))
    return failure(Errc::invalid_argument, "the driver's name '{}' is longer than {} bytes", socket_name,
                   sizeof(address.name.sun_path) - 1);
  std::memcpy(address.name.sun_path + 1, socket_name.data(), socket_name.size());
  address.size = static_cast<socklen_t>(offsetof(sockaddr_un, sun_path) + 1 + socket_name.size());
  return address;
}

Result<FileDescriptor> seqpacket_socket(int flags) {
  FileDescriptor socket(::socket(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC | flags, 0));
  if (!socket) return system_failure("socket");
  return socket;
}

bool is_gone(int error) { return error == EPIPE || error == ECONNRESET || error == ENOTCONN; }

// ETOOMANYREFS: too many descriptors of this user are on their way; they arrive, then there is room again.
bool is_for_later(int error) {
  return error == EAGAIN || error == ETOOMANYREFS || error == ENOBUFS || error == ENOMEM;
}

std::vector<FileDescriptor> take_descriptors(msghdr& message) {
  std::vector<FileDescriptor> descriptors;
  for (auto* control = CMSG_FIRSTHDR(&message); control != nullptr;
       control = CMSG_NXTHDR(&message, control)) {
    if (control->cmsg_level != SOL_SOCKET || control->cmsg_type != SCM_RIGHTS) continue;
    std::size_t count = (control->cmsg_len - CMSG_LEN(0)) / sizeof(int);
    for (std::size_t i = 0; i < count; ++i) {
      int descriptor;
      std::memcpy(&descriptor, CMSG_DATA(control) + i * sizeof(int), sizeof(int));
      descriptors.emplace_back(descriptor);
    }
  }
  return descriptors;
}

/// Close-on-exec and non-blocking.
Result<FileDescriptor> with_flags(FileDescriptor socket) {
  if (::fcntl(socket.get(), F_SETFD, FD_CLOEXEC) != 0 || ::fcntl(socket.get(), F_SETFL, O_NONBLOCK) != 0)
    return system_failure("fcntl of a connection");
  return socket;
}

ssize_t receive_retrying(int socket, msghdr& message, int flags) {
  for (;;) {
    auto received = ::recvmsg(socket, &message, flags);
    if (received >= 0 || errno != EINTR) return received;
  }
}

}  // namespace

std::string name_prefix(uid_t uid) {
  const char* space = std::getenv(name_space_variable);
  if (space == nullptr || *space == '\0') return fmt::format("llamada/{}/", uid);
  return fmt::format("llamada/{}/{}/", uid, space);
}

Status check_name_space() {
  const char* space = std::getenv(name_space_variable);
  if (space == nullptr) return {};
  const std::string_view text = space;
  const bool legal = std::all_of(text.begin(), text.end(), [](unsigned char c) {
    return std::isalnum(c) != 0 || c == '.' || c == '_' || c == '-';
  });
  if (legal && text.size() <= name_space_bytes_max) return {};
  return failure(Errc::invalid_argument,
                 "{} is '{}': it may have at most {} letters, digits, '.', '_' and '-'", name_space_variable,
                 text, name_space_bytes_max);
}

std::string socket_name(uid_t uid, std::string_view name) { return name_prefix(uid).append(name); }

std::string held_by(std::string_view socket_name, const Credentials& holder) {
  const std::string process = holder.pid > 0 ? fmt::format("process {}", holder.pid) : "a process";
  return fmt::format("@{} is held by {} of user {}, not of user {}", socket_name, process, holder.uid,
                     ::geteuid());
}

Result<FileDescriptor> bind_at(std::string_view socket_name) {
  auto address = abstract_address(socket_name);
  if (!address) return propagate(address);
  auto socket = seqpacket_socket(SOCK_NONBLOCK);
  if (!socket) return socket;
  if (::bind(socket->get(), reinterpret_cast<sockaddr*>(&address->name), address->size) != 0) {
    if (errno == EADDRINUSE)
      return failure(Errc::already_exists, "a driver listens at @{} already", socket_name);
    return system_failure(fmt::format("bind to @{}", socket_name));
  }
  return socket;
}

Status start_listening(int socket) {
  if (::listen(socket, backlog_max) != 0) return system_failure("listen");
  return {};
}

Status limit_waits(int socket, std::chrono::milliseconds longest) {
  const timeval limit{longest.count() / 1000, longest.count() % 1000 * 1000};
  for (int option : {SO_RCVTIMEO, SO_SNDTIMEO})
    if (::setsockopt(socket, SOL_SOCKET, option, &limit, sizeof(limit)) != 0)
      return system_failure("setsockopt");
  return {};
}

Result<FileDescriptor> connect_to(std::string_view socket_name,
                                  std::optional<std::chrono::milliseconds> patience) {
  auto address = abstract_address(socket_name);
  if (!address) return propagate(address);
  auto socket = seqpacket_socket(0);
  if (!socket) return socket;
  if (patience)
    if (auto limited = limit_waits(socket->get(), *patience); !limited) return propagate(limited);
  while (::connect(socket->get(), reinterpret_cast<sockaddr*>(&address->name), address->size) != 0) {
    if (errno == EINTR) continue;
    if (errno == EAGAIN) return failure(Errc::would_block, "nobody accepts connections to @{}", socket_name);
    if (errno == ECONNREFUSED) return failure(Errc::closed, "no driver listens at @{}", socket_name);
    return system_failure(fmt::format("connect to @{}", socket_name));
  }
  return socket;
}

Result<FileDescriptor> accept_from(int listener) {
  for (;;) {
    // Filters of containers may refuse either. A driver starts no programs while it accepts.
    FileDescriptor connection(::accept(listener, nullptr, nullptr));
    if (!connection && is_refused(errno))
      connection = FileDescriptor(::accept4(listener, nullptr, nullptr, 0));
    if (connection) return with_flags(std::move(connection));
    if (errno == EINTR || errno == ECONNABORTED) continue;
    if (errno == EAGAIN) return failure(Errc::would_block, "nobody connects");
    return system_failure("accept");
  }
}

Status send_datagram(int socket, std::span<const std::byte> bytes, std::span<const int> descriptors) {
  iovec part{const_cast<std::byte*>(bytes.data()), bytes.size()};
  alignas(cmsghdr) char control[CMSG_SPACE(passengers_max * sizeof(int))] = {};
  msghdr message{};
  message.msg_iov = &part;
  message.msg_iovlen = 1;
  if (!descriptors.empty()) {
    LLAMADA_CHECK(descriptors.size() <= passengers_max);
    message.msg_control = control;
    message.msg_controllen = CMSG_SPACE(descriptors.size_bytes());
    auto* header = CMSG_FIRSTHDR(&message);
    header->cmsg_level = SOL_SOCKET;
    header->cmsg_type = SCM_RIGHTS;
    header->cmsg_len = CMSG_LEN(descriptors.size_bytes());
    std::memcpy(CMSG_DATA(header), descriptors.data(), descriptors.size_bytes());
  }
  for (;;) {
    if (::sendmsg(socket, &message, MSG_NOSIGNAL) >= 0) return {};
    if (errno == EINTR) continue;
    if (is_for_later(errno)) return failure(Errc::would_block, "the message cannot be sent now");
    if (is_gone(errno)) return failure(Errc::closed, "the other end of the driver's socket is gone");
    return system_failure("sendmsg");
  }
}

Result<Datagram> receive_datagram(int socket, bool wait, std::size_t descriptors_max) {
  Datagram datagram;
  datagram.bytes.resize(message_size_bytes_max);
  iovec part{datagram.bytes.data(), datagram.bytes.size()};
  alignas(cmsghdr) char control[CMSG_SPACE(passengers_max * sizeof(int))];
  msghdr message{};
  message.msg_iov = &part;
  message.msg_iovlen = 1;
  if (descriptors_max > 0) {
    message.msg_control = control;
    message.msg_controllen = CMSG_SPACE(descriptors_max * sizeof(int));
  }
  auto received = receive_retrying(socket, message, MSG_CMSG_CLOEXEC | (wait ? 0 : MSG_DONTWAIT));
  if (received < 0) {
    if (errno == EAGAIN) return failure(Errc::would_block, "no message");
    if (is_gone(errno)) return failure(Errc::closed, "the other end of the driver's socket is gone");
    return system_failure("recvmsg");
  }
  datagram.descriptors = take_descriptors(message);
  if (received == 0) return failure(Errc::closed, "the other end of the driver's socket is gone");
  if (message.msg_flags & MSG_TRUNC)
    return failure(Errc::parse_error, "a message is longer than {} bytes", message_size_bytes_max);
  if (descriptors_max > 0 && (message.msg_flags & MSG_CTRUNC))
    return failure(
        Errc::out_of_resources,
        "no room for the descriptors that came with a message; raise the limit of open files (ulimit -n)");
  datagram.bytes.resize(static_cast<std::size_t>(received));
  return datagram;
}

Result<Credentials> credentials_of(int socket) {
  ucred credentials{};
  socklen_t size = sizeof(credentials);
  if (::getsockopt(socket, SOL_SOCKET, SO_PEERCRED, &credentials, &size) != 0)
    return system_failure("getsockopt SO_PEERCRED");
  return Credentials{credentials.pid, credentials.uid};
}

Result<FileDescriptor> pidfd_of(int socket, pid_t pid) {
  int descriptor = -1;
  socklen_t size = sizeof(descriptor);
  if (::getsockopt(socket, SOL_SOCKET, SO_PEERPIDFD, &descriptor, &size) == 0) {
    FileDescriptor pidfd(descriptor);
    ::fcntl(pidfd.get(), F_SETFD, FD_CLOEXEC);
    return pidfd;
  }
  if (errno == ESRCH || errno == EINVAL) return failure(Errc::closed, "process {} is dead", pid);
  // Before Linux 6.5. The number cannot have passed to another process while its socket is connected, so this
  // is looked at after the pidfd is there.
  FileDescriptor pidfd(static_cast<int>(::syscall(SYS_pidfd_open, pid, 0)));
  if (!pidfd) {
    if (errno == ESRCH) return failure(Errc::closed, "process {} is dead", pid);
    return system_failure("pidfd_open");
  }
  pollfd connection{socket, 0, 0};
  if (::poll(&connection, 1, 0) > 0 && (connection.revents & POLLHUP) != 0)
    return failure(Errc::closed, "process {} is dead", pid);
  return pidfd;
}

}  // namespace llamada::llamanet
