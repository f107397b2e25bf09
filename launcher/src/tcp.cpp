#include "tcp.hpp"

#include <arpa/inet.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <sys/socket.h>

#include <cerrno>

namespace llamada::launcher {
namespace {

constexpr int seconds_until_probe = 5, seconds_between_probes = 1, probes = 5;
constexpr int unacknowledged_ms_max = 10'000;
constexpr int waiting_connections_max = 4096;

void set(const FileDescriptor& socket, int level, int option, int value) {
  setsockopt(socket.get(), level, option, &value, sizeof value);
}

Result<sockaddr_in> own_end_of(const FileDescriptor& socket) {
  sockaddr_in end{};
  socklen_t size = sizeof end;
  if (getsockname(socket.get(), reinterpret_cast<sockaddr*>(&end), &size) != 0)
    return system_failure("getsockname");
  return end;
}

}  // namespace

Result<Listener> listen_for_nodes() {
  FileDescriptor socket(::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0));
  if (!socket) return system_failure("cannot make a socket for other nodes");
  sockaddr_in any{};
  any.sin_family = AF_INET;
  any.sin_addr.s_addr = htonl(INADDR_ANY);
  if (bind(socket.get(), reinterpret_cast<sockaddr*>(&any), sizeof any) != 0 ||
      listen(socket.get(), waiting_connections_max) != 0)
    return system_failure("cannot listen for other nodes");
  auto end = own_end_of(socket);
  if (!end) return propagate(end);
  return Listener{std::move(socket), ntohs(end->sin_port)};
}

void prepare_stream(const FileDescriptor& socket) {
  set(socket, IPPROTO_TCP, TCP_NODELAY, 1);
  set(socket, SOL_SOCKET, SO_KEEPALIVE, 1);
  set(socket, IPPROTO_TCP, TCP_KEEPIDLE, seconds_until_probe);
  set(socket, IPPROTO_TCP, TCP_KEEPINTVL, seconds_between_probes);
  set(socket, IPPROTO_TCP, TCP_KEEPCNT, probes);
  set(socket, IPPROTO_TCP, TCP_USER_TIMEOUT, unacknowledged_ms_max);
}

std::string own_address_of(const FileDescriptor& socket) {
  char text[INET_ADDRSTRLEN] = "";
  if (const auto end = own_end_of(socket)) inet_ntop(AF_INET, &end->sin_addr, text, sizeof text);
  return text;
}

Result<FileDescriptor> begin_to_connect(const std::string& address, std::uint16_t port) {
  sockaddr_in peer{};
  peer.sin_family = AF_INET;
  peer.sin_port = htons(port);
  if (inet_pton(AF_INET, address.c_str(), &peer.sin_addr) != 1)
    return failure(Errc::invalid_argument, "'{}' is not an IPv4 address", address);
  FileDescriptor socket(::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0));
  if (!socket) return system_failure("socket");
  if (connect(socket.get(), reinterpret_cast<sockaddr*>(&peer), sizeof peer) != 0 && errno != EINPROGRESS)
    return system_failure("connect");
  return socket;
}

}  // namespace llamada::launcher
