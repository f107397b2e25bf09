#include "p2p/progress.hpp"

#include <algorithm>
#include <memory>
#include <vector>

#include "p2p/brief_receive.hpp"
#include "p2p_parts.hpp"
#include "test.hpp"

using namespace llamada;
using namespace llamada::mpi;

namespace {

/// Counts how often it is carried forward. It says that it did something for as long as `left` is not 0.
struct CountedHook final : ProgressHook {
  int calls = 0;
  int left = 0;
  bool carry() override {
    ++calls;
    return left > 0 && left-- > 0;
  }
};

/// Is complete after so many steps.
class Steps final : public Task {
 public:
  explicit Steps(int count) : left_(count) {}
  bool step() override { return --left_ <= 0; }

 private:
  int left_;
};

}  // namespace

TEST_CASE("progress: a rank to which nothing has come has nothing to do") {
  Parts rank;
  CHECK_FALSE(rank.progress.carry());
  CHECK_FALSE(rank.progress.go_on());
  CHECK_FALSE(rank.progress.anything_new());
}

TEST_CASE("progress: a task is stepped once at its start, and then each time, until it is complete") {
  Parts rank;
  CHECK(rank.progress.start_task(std::make_unique<Steps>(1)).complete);
  CHECK_FALSE(rank.progress.has_tasks());
  Request& request = rank.progress.start_task(std::make_unique<Steps>(3));
  CHECK(rank.progress.has_tasks());
  CHECK_FALSE(rank.progress.go_on());
  CHECK_FALSE(request.complete);
  CHECK(rank.progress.anything_new());
  CHECK(request.complete);
  CHECK_FALSE(rank.progress.has_tasks());
}

TEST_CASE("progress: the hook is carried forward by each look, and what it does counts") {
  CountedHook hook;
  hook.left = 3;
  Parts rank(&hook);
  CHECK(rank.progress.carry());
  CHECK(rank.progress.go_on());
  CHECK(rank.progress.anything_new());
  CHECK_FALSE(rank.progress.go_on());
  CHECK(hook.calls == 4);
}

TEST_CASE("progress: the hook is carried forward while a receive waits briefly, and while a rank waits") {
  InProcessJob::Options options;
  auto job = std::move(*InProcessJob::create(options));
  auto world = std::move(*job->attach(0));
  const SetClock clock;
  CountedHook hook;
  Engine::Options with_hook;
  with_hook.hook = &hook;
  auto engine = std::move(*Engine::create(*world, clock, with_hook));
  Runtime objects;
  objects.add_world(0, 1, 1, 2);
  Communicator& self = *objects.comm_world();

  hook.left = 5;
  engine->wait_until([&] { return hook.left == 0; });
  CHECK(hook.calls >= 5);

  // Its own stream is there once it has sent to itself.
  std::vector<std::byte> byte(1);
  const Buffer buffer{byte.data(), 1, objects.datatypes.find(MPI_BYTE)};
  engine->send(buffer, 0, 0, self, SendMode::standard);
  engine->receive(buffer, 0, 0, self, MPI_STATUS_IGNORE);
  const int before = hook.calls;
  CHECK_FALSE(engine->receive_briefly(byte, 0, 0, self, MPI_STATUS_IGNORE));
  CHECK(hook.calls == before + static_cast<int>(engine->waiting().brief_looks_max()));
}

TEST_CASE("progress: copies of large messages give way to a small message that is waited for") {
  constexpr std::size_t size_bytes = 8 << 20;
  InProcessJob::Options options;
  auto job = std::move(*InProcessJob::create(options));
  auto world = std::move(*job->attach(0));
  const SetClock clock;
  auto engine = std::move(*Engine::create(*world, clock, {}));
  Runtime objects;
  objects.add_world(0, 1, 1, 2);
  std::vector<std::byte> given(size_bytes, std::byte{7}), taken(size_bytes);
  const auto describe = [&](Request& request, Request::Kind kind, std::vector<std::byte>& bytes) {
    request.kind = kind;
    request.buffer = {bytes.data(), bytes.size(), objects.datatypes.find(MPI_BYTE)};
    request.communicator = objects.comm_world();
    request.peer = 0;
    request.tag = 0;
  };
  const auto copied = [&] { return world->arena().counted(log::Counter::bytes_bulk); };
  /// Of each look so many bytes were copied before it, until all are.
  const auto looks_of = [&](Engine::Bulk bulk) {
    Request send, receive;
    describe(receive, Request::Kind::receive, taken);
    describe(send, Request::Kind::send, given);
    std::fill(taken.begin(), taken.end(), std::byte{0});
    const std::uint64_t before = copied();
    engine->start_receive(receive);
    engine->start_send(send);
    std::vector<std::uint64_t> looks;
    engine->wait_until(
        [&] {
          looks.push_back(copied() - before);
          return send.complete && receive.complete;
        },
        nullptr, bulk);
    CHECK(taken == given);
    CHECK(looks.back() == size_bytes);
    return looks;
  };

  const auto without = looks_of(Engine::Bulk::first);
  CHECK(without.size() < 100);
  const auto with = looks_of(Engine::Bulk::gives_way);
  REQUIRE(with.size() > 1000);
  CHECK(with[500] == 0);
  std::uint64_t first = 0, longest = 0;
  for (std::size_t i = 1; i < with.size(); ++i) {
    const std::uint64_t part = with[i] - with[i - 1];
    if (first == 0) first = part;
    longest = std::max(longest, part);
  }
  CHECK(first <= 16 << 10);
  CHECK(longest <= 256 << 10);
}
