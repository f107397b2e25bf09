#include "llamada/llamanet/driver_guard.hpp"

#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "claim.hpp"

namespace llamada::llamanet {

Result<DriverGuard> DriverGuard::raise(const std::string& socket_name) {
  auto connection = connect_to_own(socket_name);
  if (!connection) return propagate(connection);
  const int socket = connection->get();
  // libc's getpid() is the MPI library's within a rank.
  const auto self = static_cast<int>(::syscall(SYS_getpid));
  const int flags = ::fcntl(socket, F_GETFL);
  if (flags < 0 || ::fcntl(socket, F_SETOWN, self) != 0 || ::fcntl(socket, F_SETSIG, SIGKILL) != 0 ||
      ::fcntl(socket, F_SETFL, flags | O_ASYNC) != 0)
    return system_failure("fcntl");
  // The signal is for what comes from now on.
  pollfd ended{socket, POLLIN, 0};
  if (::poll(&ended, 1, 0) != 0) return failure(Errc::closed, "the driver has ended");
  return DriverGuard(std::move(*connection));
}

}  // namespace llamada::llamanet
