#include "p2p/losses.hpp"

#include "llamada/base/clock.hpp"
#include "p2p/engine.hpp"
#include "runtime/runtime.hpp"
#include "test.hpp"
#include "world/in_process.hpp"

// Ranks of one thread, one of which is lost: what the others' requests come to.

using namespace llamada;
using namespace llamada::mpi;

namespace {

std::unique_ptr<InProcessJob> make_job(int size) {
  InProcessJob::Options options;
  options.size = size;
  options.profile.rank_replacement.kind = qos::RankReplacementKind::blank;
  return std::move(*InProcessJob::create(options));
}

struct Rank {
  Rank(InProcessJob& job, int number, int size)
      : world(std::move(*job.attach(number))), engine(std::move(*Engine::create(*world, clock))) {
    objects.add_world(number, size, 1, 2);
  }
  Communicator& communicator() { return *objects.comm_world(); }
  Request& receive(int source, int tag) {
    Request& request = begin(Request::Kind::receive, source, tag);
    engine->start(request);
    return request;
  }
  Request& send(int destination, int tag, SendMode mode = SendMode::standard) {
    Request& request = begin(Request::Kind::send, destination, tag);
    request.mode = mode;
    engine->start(request);
    return request;
  }
  Request& begin(Request::Kind kind, int peer, int tag) {
    Request& request = engine->requests().add();
    request.kind = kind;
    request.buffer = {&value, 1, objects.datatypes.find(MPI_INT)};
    request.communicator = &communicator();
    request.peer = peer;
    request.tag = tag;
    return request;
  }

  const SystemClock clock;
  Runtime objects;
  std::unique_ptr<World> world;
  std::unique_ptr<Engine> engine;
  int value = 7;
};

bool failed(const Request& request, int error) { return request.complete && request.error == error; }

}  // namespace

TEST_CASE("losses: receives from a lost rank fail, those from others stay", "[mpi]") {
  const auto job = make_job(3);
  Rank own(*job, 0, 3);
  Request& from_lost = own.receive(1, 5);
  Request& from_other = own.receive(2, 5);
  own.engine->look_at_losses();
  CHECK_FALSE(from_lost.complete);
  job->lose(1);
  CHECK(own.engine->losses().has_news());
  own.engine->look_at_losses();
  CHECK_FALSE(own.engine->losses().has_news());
  CHECK(failed(from_lost, MPIX_ERR_PROC_FAILED));
  CHECK_FALSE(from_other.complete);
  // One that is posted later ends at the next look.
  Request& later = own.receive(1, 6);
  own.engine->look_at_losses();
  CHECK(failed(later, MPIX_ERR_PROC_FAILED));
}

TEST_CASE("losses: what a lost rank had sent is received", "[mpi]") {
  const auto job = make_job(2);
  Rank own(*job, 0, 2), other(*job, 1, 2);
  CHECK(other.send(0, 5).complete);
  CHECK(other.send(0, 6).complete);
  Request& first = own.receive(1, 5);
  job->lose(1);
  own.engine->look_at_losses();
  CHECK(failed(first, MPI_SUCCESS));
  CHECK(failed(own.receive(1, 6), MPI_SUCCESS));
  Request& none = own.receive(1, 7);
  own.engine->look_at_losses();
  CHECK(failed(none, MPIX_ERR_PROC_FAILED));
}

TEST_CASE("losses: sends to a lost rank fail, also those that wait for their match", "[mpi]") {
  const auto job = make_job(2);
  Rank own(*job, 0, 2);
  Request& unmatched = own.send(1, 5, SendMode::synchronous);
  CHECK_FALSE(unmatched.complete);
  job->lose(1);
  own.engine->look_at_losses();
  CHECK(failed(unmatched, MPIX_ERR_PROC_FAILED));
  CHECK(failed(own.send(1, 5), MPIX_ERR_PROC_FAILED));
  CHECK(own.engine->outgoing().idle());
}

TEST_CASE("losses: a receive from any source is told of, stays, and goes on once that is acknowledged",
          "[mpi]") {
  const auto job = make_job(3);
  Rank own(*job, 0, 3), other(*job, 2, 3);
  Request& any = own.receive(MPI_ANY_SOURCE, 5);
  job->lose(1);
  own.engine->look_at_losses();
  CHECK(failed(any, MPIX_ERR_PROC_FAILED_PENDING));
  CHECK(any.go_on_if_pending());
  CHECK_FALSE(any.complete);
  own.engine->look_at_losses();
  CHECK(failed(any, MPIX_ERR_PROC_FAILED_PENDING));
  own.communicator().acknowledged = own.engine->losses().in_order().size();
  own.engine->look_at_losses();
  CHECK_FALSE(any.complete);
  CHECK(other.send(0, 5).complete);
  while (own.engine->progress()) {
  }
  CHECK(failed(any, MPI_SUCCESS));
  CHECK(any.status_source == 2);
}

TEST_CASE("losses: a message that comes for a receive that was told of ends it well", "[mpi]") {
  const auto job = make_job(3);
  Rank own(*job, 0, 3), other(*job, 2, 3);
  Request& any = own.receive(MPI_ANY_SOURCE, 5);
  job->lose(1);
  own.engine->look_at_losses();
  CHECK(other.send(0, 5).complete);
  while (own.engine->progress()) {
  }
  CHECK_FALSE(any.go_on_if_pending());
  CHECK(failed(any, MPI_SUCCESS));
}

TEST_CASE("losses: whoever hears that a context is revoked ends what waits in it, and says so once",
          "[mpi]") {
  const auto job = make_job(2);
  Rank own(*job, 0, 2), other(*job, 1, 2);
  const std::uint32_t context = own.communicator().context();
  int heard = 0;
  other.engine->on_revoked([&](std::uint32_t which) { heard += which == context ? 1 : 100; });
  Request& waiting = other.receive(0, 5);
  Request& unmatched = other.send(0, 9, SendMode::synchronous);
  own.engine->revoked(context);
  for (int i = 0; i < 2; ++i) own.engine->outgoing().tell_revoked(1, context);
  while (other.engine->progress()) {
  }
  CHECK(heard == 1);
  other.engine->look_at_losses();
  CHECK(failed(waiting, MPIX_ERR_REVOKED));
  CHECK(failed(unmatched, MPIX_ERR_REVOKED));
  CHECK(failed(other.send(0, 5), MPIX_ERR_REVOKED));
}

TEST_CASE("losses: under ABORT nothing is ever lost", "[mpi]") {
  InProcessJob::Options options;
  options.size = 2;
  const auto job = std::move(*InProcessJob::create(options));
  Rank own(*job, 0, 2);
  Request& waiting = own.receive(1, 5);
  job->lose(1);
  own.engine->look_at_losses();
  own.engine->revoked(own.communicator().context());
  CHECK_FALSE(waiting.complete);
  CHECK_FALSE(own.engine->losses().any());
}
