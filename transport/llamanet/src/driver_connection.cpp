#include "driver_connection.hpp"

#include <fcntl.h>
#include <sys/socket.h>
#include <unistd.h>

#include "claim.hpp"
#include "llamada/base/crash_point.hpp"

namespace llamada::llamanet {

Result<std::unique_ptr<DriverConnection>> DriverConnection::open(const std::string& socket_name,
                                                                 bool is_outlived) {
  auto socket = connect_to_own(socket_name);
  if (!socket) return propagate(socket);
  std::unique_ptr<DriverConnection> connection(new DriverConnection(std::move(*socket), is_outlived));
  if (auto checked = check_owner(connection->socket(), socket_name); !checked) return propagate(checked);
  return connection;
}

Status DriverConnection::check() {
  // Another thread may be asking: then the answer is not for us, and it sees it if the driver is gone.
  std::unique_lock lock(mutex_, std::try_to_lock);
  if (!lock) return {};
  // The driver says nothing that it was not asked for, except why it closes the connection.
  auto datagram = receive_datagram(socket_.get(), false, 0);
  if (!datagram && datagram.error().code() == Errc::would_block) return {};
  lose();
  if (!datagram) return failure(Errc::closed, "the driver is gone");
  auto envelope = decode(datagram->bytes);
  if (envelope)
    if (auto* error = std::get_if<ErrorMessage>(&envelope->message))
      return failure(Errc::closed, "the driver closed the connection: {}", error->text);
  return failure(Errc::closed, "the driver sent a message that nobody had asked for");
}

Status DriverConnection::replace(const FileDescriptor& socket, const std::function<void()>& take_over) {
  const std::lock_guard lock(mutex_);
  if (::dup3(socket.get(), socket_.get(), O_CLOEXEC) < 0) return system_failure("dup3");
  take_over();
  is_lost_.store(false, std::memory_order_relaxed);
  return {};
}

Status DriverConnection::replace(int socket) {
  const std::lock_guard lock(mutex_);
  if (::dup3(socket, socket_.get(), O_CLOEXEC) < 0) return system_failure("dup3");
  return {};
}

bool DriverConnection::is_open() const {
  int type = 0;
  socklen_t size = sizeof type;
  return ::getsockopt(socket_.get(), SOL_SOCKET, SO_TYPE, &type, &size) == 0;
}

}  // namespace llamada::llamanet
