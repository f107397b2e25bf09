#include <mpi.h>

#include <chrono>
#include <string>
#include <vector>

#include "sim_job.hpp"
#include "test.hpp"

// What the engine does after a while, in the time of the simulated job.

using namespace llamada::mpi::sim;
using namespace std::chrono_literals;

namespace {

JobOptions two_ranks(std::uint64_t seed) {
  JobOptions options;
  options.seed = seed;
  options.size = 2;
  options.rebuild = false;
  options.sleep_max = 100ms;  // as World::sleep() says
  return options;
}

/// Stays where it is until the job ends, and takes no message.
void stay(const Rank& rank) {
  for (;;) rank.world().sleep([] { return false; });
}

struct End {
  std::string failure;
  std::chrono::nanoseconds time;
};

End end_of(const JobOptions& options, const std::function<void(Rank&)>& program) {
  Job job(options, program);
  std::string failure = job.run();
  return {std::move(failure), job.time()};
}

}  // namespace

TEST_CASE("time: a rank that waits sees within a second that its peer has damaged its arena", "[sim]") {
  for (std::uint64_t seed = 1; seed <= 20; ++seed) {
    const auto program = [](Rank& rank) {
      int value = 0;
      if (rank.self == 0) {
        MPI_Recv(&value, 1, MPI_INT, 1, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
        MPI_Recv(&value, 1, MPI_INT, 1, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
      } else {
        MPI_Send(&value, 1, MPI_INT, 0, 0, MPI_COMM_WORLD);
        rank.world().arena().header().magic = 1;
        stay(rank);
      }
    };
    const End end = end_of(two_ranks(seed), program);
    INFO("seed " << seed << ", " << end.time.count() << " ns: " << end.failure);
    CHECK(end.failure.find("the arena of rank 1 is damaged") != std::string::npos);
    // It looks each 250 ms, and believes what it has seen twice.
    CHECK(end.time >= 250ms);
    CHECK(end.time < 1s);
    // The same schedule takes the same time.
    CHECK(end_of(two_ranks(seed), program).time == end.time);
  }
}

TEST_CASE("time: a rank whose memory is full waits half a minute for others to take what they have",
          "[sim]") {
  JobOptions options = two_ranks(1);
  options.log_bytes_max = std::uint64_t{1} << 30;
  const End end = end_of(options, [](Rank& rank) {
    if (rank.self == 1) stay(rank);
    // More than an arena of a simulated rank has room for, and each different, so that none is stored once.
    for (int i = 0; i < 2000; ++i) {
      const std::vector<int> message(15'000, i);
      MPI_Send(message.data(), static_cast<int>(message.size()), MPI_INT, 1, 0, MPI_COMM_WORLD);
    }
  });
  INFO(end.time.count() << " ns");
  CHECK(end.failure.find("there is no memory for messages") != std::string::npos);
  CHECK(end.time >= 30s);
  CHECK(end.time < 31s);
}
