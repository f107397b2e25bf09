#include <atomic>
#include <thread>
#include <vector>

#include "api/protection.hpp"
#include "runtime.hpp"
#include "test.hpp"
#include "world/in_process.hpp"

using namespace llamada;
using namespace llamada::mpi;

namespace {

InProcessJob::Options job_of(int size) {
  InProcessJob::Options options;
  options.size = size;
  return options;
}

InProcessJob::Options rebuilding(qos::OnUnprotected on_unprotected) {
  auto options = job_of(1);
  options.profile.rank_replacement.kind = qos::RankReplacementKind::rebuild;
  options.profile.rank_replacement.on_unprotected = on_unprotected;
  return options;
}

/// A rank whose MPI call gives up protection.
struct Caller {
  explicit Caller(InProcessJob& job) : world(std::move(*job.attach(0))) {
    runtime.world = world.get();
    install_runtime(&runtime);
    runtime.calls.enter(CallId::Barrier);
  }
  ~Caller() { install_runtime(nullptr); }
  std::unique_ptr<World> world;
  Runtime runtime;
};

}  // namespace

TEST_CASE("shared segment: all ranks that name it see what the others write", "[mpi]") {
  constexpr int size = 4, rounds = 1000;
  auto job = InProcessJob::create(job_of(size));
  REQUIRE(job);
  std::atomic<int> refused{0};
  std::vector<std::thread> ranks;
  auto keeper = (*job)->attach(0);
  REQUIRE(keeper);
  auto kept = (*keeper)->shared_segment(9, 64);
  REQUIRE(kept);
  for (int rank = 1; rank < size; ++rank)
    ranks.emplace_back([&, rank] {
      auto world = (*job)->attach(rank);
      auto segment = (*world)->shared_segment(9, 64);
      if (!segment) return void(++refused);
      std::atomic_ref<int> sum(*reinterpret_cast<int*>(segment->data()));
      for (int round = 0; round < rounds; ++round) sum.fetch_add(1, std::memory_order_relaxed);
    });
  for (auto& rank : ranks) rank.join();
  CHECK(refused == 0);
  CHECK(*reinterpret_cast<int*>(kept->data()) == (size - 1) * rounds);
}

TEST_CASE("shared segment: it goes with the last who lets go, and comes back zeroed", "[mpi]") {
  auto job = InProcessJob::create(job_of(2));
  REQUIRE(job);
  auto one = (*job)->attach(0), other = (*job)->attach(1);
  auto here = (*one)->shared_segment(1, 16), there = (*other)->shared_segment(1, 16);
  REQUIRE(here);
  REQUIRE(there);
  here->data()[3] = std::byte{1};
  here->release();
  CHECK_FALSE(*here);
  CHECK(there->data()[3] == std::byte{1});
  there->release();
  CHECK((*job)->segment_count() == 0);
  auto again = (*one)->shared_segment(1, 16);
  REQUIRE(again);
  CHECK(again->data()[3] == std::byte{0});
}

TEST_CASE("shared segment: another size than the first asked for is refused", "[mpi]") {
  auto job = InProcessJob::create(job_of(2));
  REQUIRE(job);
  auto one = (*job)->attach(0), other = (*job)->attach(1);
  auto here = (*one)->shared_segment(1, 16);
  REQUIRE(here);
  auto there = (*other)->shared_segment(1, 17);
  REQUIRE_FALSE(there);
  CHECK(there.error().code() == Errc::invalid_argument);
  CHECK_FALSE((*other)->shared_segment(2, 0));
}

TEST_CASE("protection: a profile that replaces nobody has none to give up", "[mpi]") {
  auto job = InProcessJob::create(job_of(1));
  REQUIRE(job);
  Caller caller(**job);
  CHECK(give_up_protection("this test") == MPI_SUCCESS);
  CHECK(caller.world->is_protected());
}

TEST_CASE("protection: with CONTINUE the job goes on unprotected", "[mpi]") {
  auto job = InProcessJob::create(rebuilding(qos::OnUnprotected::continue_));
  REQUIRE(job);
  Caller caller(**job);
  CHECK(give_up_protection("this test") == MPI_SUCCESS);
  CHECK_FALSE(caller.world->is_protected());
  CHECK(give_up_protection("this test") == MPI_SUCCESS);
}

TEST_CASE("protection: with STOP the job ends and says which call and why", "[mpi]") {
  auto job = InProcessJob::create(rebuilding(qos::OnUnprotected::stop));
  REQUIRE(job);
  Caller caller(**job);
  std::string text;
  int code = 0;
  try {
    (void)give_up_protection("this test");
  } catch (const RankEnded& ended) {
    text = ended.text;
    code = ended.code;
  }
  CHECK(code == 123);
  CHECK(text.find("MPI_Barrier") != std::string::npos);
  CHECK(text.find("this test") != std::string::npos);
  CHECK(text.find("on_unprotected") != std::string::npos);
}
