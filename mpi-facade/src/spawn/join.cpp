#include <errno.h>
#include <fmt/format.h>
#include <poll.h>
#include <string.h>
#include <unistd.h>

#include <array>
#include <charconv>
#include <string_view>

#include "coll/intercommunicator.hpp"
#include "p2p/engine.hpp"
#include "runtime/runtime.hpp"
#include "spawn/ports.hpp"
#include "world/world.hpp"

namespace llamada::mpi {
namespace {

/// What each end writes: a line "SLOT TAG JOB", filled up with NULs.
constexpr std::size_t greeting_bytes = 256;
using Greeting = std::array<char, greeting_bytes>;

struct End {
  int slot = -1;
  int tag = 0;
  std::string job;
};

Greeting write_greeting(const End& end) {
  Greeting bytes{};
  const std::string line = fmt::format("{} {} {}", end.slot, end.tag, end.job);
  line.copy(bytes.data(), bytes.size() - 1);
  return bytes;
}

Result<End> read_greeting(const Greeting& bytes) {
  const std::string_view line(bytes.data(), strnlen(bytes.data(), bytes.size()));
  End end;
  const char* last = line.data() + line.size();
  const auto slot = std::from_chars(line.data(), last, end.slot);
  const auto tag = std::from_chars(std::min(slot.ptr + 1, last), last, end.tag);
  if (slot.ec != std::errc() || tag.ec != std::errc() || tag.ptr == last || *tag.ptr != ' ')
    return failure(Errc::invalid_argument, "the other end of the socket has not called MPI_Comm_join");
  end.job.assign(tag.ptr + 1, last);
  return end;
}

/// Moves bytes as the socket takes or gives them, and goes on with everything else meanwhile.
template <typename Move>
Status move_all(int socket, short direction, Move move) {
  std::size_t done = 0;
  Status status;
  runtime().engine->wait_until([&] {
    pollfd one{socket, direction, 0};
    while (done < greeting_bytes && ::poll(&one, 1, 0) == 1) {
      const ssize_t count = move(done, greeting_bytes - done);
      if (count < 0 && errno == EINTR) continue;
      if (count <= 0) {
        status = count == 0 ? failure(Errc::closed, "the other end of the socket is closed")
                            : Status(system_failure("the socket of MPI_Comm_join"));
        return true;
      }
      done += static_cast<std::size_t>(count);
    }
    return done == greeting_bytes;
  });
  return status;
}

Result<End> greet(int socket, const End& own) {
  Greeting bytes = write_greeting(own);
  auto moved = move_all(socket, POLLOUT, [&](std::size_t at, std::size_t size) {
    return ::write(socket, bytes.data() + at, size);
  });
  if (moved)
    moved = move_all(socket, POLLIN, [&](std::size_t at, std::size_t size) {
      return ::read(socket, bytes.data() + at, size);
    });
  if (!moved) return propagate(moved);
  return read_greeting(bytes);
}

}  // namespace

Result<Communicator*> join(int socket) {
  Runtime& self = runtime();
  const End own{self.world_rank, next_bridge_tag(), self.world->job_name()};
  auto other = greet(socket, own);
  if (!other) return propagate(other);
  if (other->job != own.job) return nullptr;
  if (other->slot == own.slot)
    return failure(Errc::invalid_argument, "both ends of the socket are of this process");
  // The lower slot begins the bridge.
  const bool begins = own.slot < other->slot;
  const Reference<Communicator> way =
      begins ? make_bridge(own.slot, other->slot) : make_bridge(other->slot, own.slot);
  const InterBridge bridge{0, way.get(), begins ? 1 : 0, begins ? own.tag : other->tag};
  return create_intercommunicator(*self.communicators.find(MPI_COMM_SELF), bridge);
}

}  // namespace llamada::mpi
