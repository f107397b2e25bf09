#include <algorithm>
#include <atomic>
#include <thread>
#include <vector>

#include "profiles.hpp"
#include "rma/kept_segments.hpp"
#include "runtime/protection.hpp"
#include "runtime/runtime.hpp"
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
  options.profile = fault_tolerant();
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

TEST_CASE("kept segments: the last for these ranks comes first, and is as new", "[mpi]") {
  using rma::KeptSegments, rma::WindowSegment;
  auto job = InProcessJob::create(job_of(2));
  REQUIRE(job);
  auto world = (*job)->attach(1);
  const auto both = make_counted<Group>(std::vector{0, 1}, 1),
             turned = make_counted<Group>(std::vector{1, 0}, 1);
  const auto segment = [&](std::uint64_t name, WindowSegment::Kind kind, std::size_t bytes = 4096) {
    return WindowSegment{name, kind, std::move(*(*world)->shared_segment(name, bytes))};
  };
  KeptSegments kept;
  kept.keep(both, segment(1, WindowSegment::Kind::plain), {});
  kept.keep(both, segment(2, WindowSegment::Kind::memory, 8192), {});
  auto third = segment(3, WindowSegment::Kind::memory, 8192);
  const auto own = third.memory.bytes().subspan(5000, 10);
  const std::byte* const others = &third.memory.data()[5010];
  std::ranges::fill(third.memory.bytes(), std::byte{1});
  kept.keep(both, std::move(third), own);
  CHECK_FALSE(kept.take(*turned, WindowSegment::Kind::memory));
  CHECK_FALSE(kept.take(*both, WindowSegment::Kind::dynamic));
  auto taken = kept.take(*both, WindowSegment::Kind::memory);
  REQUIRE(taken);
  CHECK(taken->name == 3);
  CHECK(std::ranges::all_of(own, [](std::byte byte) { return byte == std::byte{0}; }));
  CHECK(*others == std::byte{1});
  const auto control = taken->control(*both);
  CHECK(control.member(1).lock.try_exclusive());
  CHECK(control.pair(1, 0).posted == 0);
  CHECK(control.pair(1, 1).completed == 0);
  CHECK(kept.take(*both, WindowSegment::Kind::memory)->name == 2);
  CHECK_FALSE(kept.take(*both, WindowSegment::Kind::memory));
  CHECK(kept.take(*both, WindowSegment::Kind::plain)->name == 1);
}

TEST_CASE("kept segments: no more are kept than there is room for, and none that are large", "[mpi]") {
  using rma::KeptSegments, rma::WindowSegment;
  auto job = InProcessJob::create(job_of(1));
  REQUIRE(job);
  auto world = (*job)->attach(0);
  const auto alone = make_counted<Group>(std::vector{0}, 0);
  std::uint64_t name = 0;
  KeptSegments kept;
  const auto keep = [&](std::size_t bytes) {
    auto memory = (*world)->shared_segment(++name, bytes);
    REQUIRE(memory);
    kept.keep(alone, {name, WindowSegment::Kind::memory, std::move(*memory)}, {});
  };
  for (std::size_t i = 0; i < KeptSegments::count_max + 3; ++i) keep(4096);
  CHECK(kept.count() == KeptSegments::count_max);
  CHECK((*job)->segment_count() == KeptSegments::count_max);
  keep(KeptSegments::segment_bytes_max + 1);
  CHECK((*job)->segment_count() == KeptSegments::count_max);
  keep(KeptSegments::segment_bytes_max);
  keep(KeptSegments::segment_bytes_max);
  CHECK(kept.count() == KeptSegments::all_bytes_max / KeptSegments::segment_bytes_max);
  CHECK(kept.take(*alone, WindowSegment::Kind::memory)->name == name);
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
