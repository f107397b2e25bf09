// How a copy of an application waits to be its successor: docs/internals/driver-protocol.md, "Standbys".
#include <sys/syscall.h>
#include <unistd.h>

#include "claim.hpp"
#include "driver_connection.hpp"
#include "llamada/base/crash_point.hpp"
#include "llamada/llamanet/application.hpp"
#include "node_links.hpp"

namespace llamada::llamanet {
namespace {

constexpr std::size_t streams_count = 3;

}  // namespace

Result<std::vector<FileDescriptor>> Application::park(std::uint64_t call) {
  owner_pid_ = static_cast<std::int32_t>(::syscall(SYS_getpid));
  // In the place of the parent's, which must end with the parent.
  auto connection = DriverConnection::open(options_.socket_name, false);
  if (!connection) return propagate(connection);
  if (auto replaced = driver_->replace((*connection)->socket()); !replaced) return propagate(replaced);
  connection->reset();
  std::vector<FileDescriptor> streams;
  auto woken = driver_->ask<Woken>(Park{slot(), options_.token, call}, streams, streams_count);
  if (!woken) return propagate(woken);
  if (streams.size() != streams_count)
    return failure(Errc::parse_error, "the driver sent {} descriptors instead of {}", streams.size(),
                   streams_count);
  return streams;
}

Status Application::take_over() {
  std::vector<FileDescriptor> descriptors;
  auto attached = driver_->ask<Attached>(
      Attach{static_cast<std::uint32_t>(owner_pid_), slot(), options_.token, options_.name}, descriptors,
      with_book_descriptors_count);
  if (!attached) return propagate(attached);
  LLAMADA_CRASH_POINT("standby:attached");
  // What the others lead to is mapped and open already.
  if (links_) {
    if (descriptors.size() != with_book_descriptors_count)
      return failure(Errc::parse_error, "the driver sent {} descriptors instead of {}", descriptors.size(),
                     with_book_descriptors_count);
    if (auto renewed = links_->renew(slot(), std::move(descriptors[4]), std::move(descriptors[5])); !renewed)
      return renewed;
  }
  descriptors.clear();
  if (!Bell::enter_barriers() && !bell_->needs_fence())
    return failure(Errc::unsupported, "the kernel does not register the process for membarrier()");
  incarnation_ = attached->incarnation;
  identity_ = attached->identity;
  if (auto taken = own_->take_over(incarnation_, static_cast<std::uint32_t>(owner_pid_)); !taken)
    return taken;
  LLAMADA_CRASH_POINT("standby:arena-adopted");
  arena().set_state(log::ArenaState::attached);
  return {};
}

}  // namespace llamada::llamanet
