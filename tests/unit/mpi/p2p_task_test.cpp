#include "p2p/task.hpp"

#include <functional>

#include "object/status.hpp"
#include "p2p/api_common.hpp"
#include "profiles.hpp"
#include "runtime/runtime.hpp"
#include "test.hpp"
#include "world/in_process.hpp"

using namespace llamada;
using namespace llamada::mpi;

namespace {

/// What happened to a task, when it is gone.
struct Story {
  int steps = 0;
  int starts = 0;
  int frees = 0;
  bool destroyed = false;
};

/// Complete at the `steps_needed`th step since it was last started.
class Countdown final : public Task {
 public:
  Countdown(Story& story, int steps_needed) : story_(story), needed_(steps_needed), left_(steps_needed) {}
  ~Countdown() override { story_.destroyed = true; }

  bool step() override {
    ++story_.steps;
    return --left_ <= 0;
  }
  void start() override {
    ++story_.starts;
    left_ = needed_;
  }
  int complete(MPI_Status* status) override {
    status->MPI_SOURCE = 7;
    status->MPI_TAG = 8;
    set_byte_count(*status, 99);
    return error;
  }
  int cancel(bool complete) override {
    if (!cancellable) return MPI_ERR_REQUEST;
    if (!complete) left_ = 1;
    return MPI_SUCCESS;
  }
  int free() override {
    ++story_.frees;
    return free_error;
  }

  int error = MPI_SUCCESS;
  int free_error = MPI_SUCCESS;
  bool cancellable = false;

 private:
  Story& story_;
  int needed_;
  int left_;
};

/// The only rank of a job, as after MPI_Init, with errors returned.
class OneRank {
 public:
  explicit OneRank(InProcessJob& job) : world_(*job.attach(0)) {
    runtime_.add_world(0, 1, 1, 2);
    runtime_.stage.initialized = true;
    engine_ = *Engine::create(*world_, clock_);
    runtime_.engine = engine_.get();
    install_runtime(&runtime_);
    MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
  }
  ~OneRank() { install_runtime(nullptr); }

 private:
  SystemClock clock_;
  std::unique_ptr<World> world_;
  Runtime runtime_;
  std::unique_ptr<Engine> engine_;
};

std::unique_ptr<InProcessJob> make_job(bool rebuild = false) {
  InProcessJob::Options options;
  if (rebuild) options.profile = fault_tolerant();
  return *InProcessJob::create(options);
}

MPI_Request begin(Story& story, int steps) {
  MPI_Request request = MPI_REQUEST_NULL;
  REQUIRE(begin_task(std::make_unique<Countdown>(story, steps), &request) == MPI_SUCCESS);
  CHECK(request != MPI_REQUEST_NULL);
  return request;
}

}  // namespace

TEST_CASE("task: MPI_Wait steps it until it is complete, gives its status and frees it", "[mpi][task]") {
  auto job = make_job();
  OneRank rank(*job);
  Story story;
  MPI_Request request = begin(story, 5);
  CHECK(story.steps == 1);
  MPI_Status status{};
  status.MPI_ERROR = 123;
  CHECK(MPI_Wait(&request, &status) == MPI_SUCCESS);
  CHECK((status.MPI_SOURCE == 7 && status.MPI_TAG == 8 && byte_count(status) == 99));
  CHECK(status.MPI_ERROR == 123);
  CHECK(request == MPI_REQUEST_NULL);
  CHECK((story.steps == 5 && story.frees == 1 && story.destroyed));
}

TEST_CASE("task: all completion calls know it", "[mpi][task]") {
  auto job = make_job();
  OneRank rank(*job);
  Story stories[3];
  MPI_Request requests[3];
  MPI_Status statuses[3];
  int index = 0, flag = 0, count = 0, indices[3];
  const auto begin_all = [&](int first, int second, int third) {
    requests[0] = begin(stories[0], first);
    requests[1] = begin(stories[1], second);
    requests[2] = begin(stories[2], third);
  };

  begin_all(4, 2, 3);
  CHECK(MPI_Waitall(3, requests, statuses) == MPI_SUCCESS);
  CHECK(byte_count(statuses[1]) == 99);

  begin_all(1000, 2, 1000);
  CHECK(MPI_Waitany(3, requests, &index, statuses) == MPI_SUCCESS);
  CHECK((index == 1 && byte_count(statuses[0]) == 99));
  CHECK(MPI_Waitsome(3, requests, &count, indices, statuses) == MPI_SUCCESS);
  CHECK((count == 2 && indices[0] == 0 && indices[1] == 2));

  begin_all(50, 50, 50);
  while (!flag) CHECK(MPI_Testall(3, requests, &flag, statuses) == MPI_SUCCESS);
  begin_all(50, 50, 50);
  for (flag = 0; !flag;) CHECK(MPI_Testany(3, requests, &index, &flag, statuses) == MPI_SUCCESS);
  for (int left = 2; left > 0; left -= count)
    CHECK(MPI_Testsome(3, requests, &count, indices, statuses) == MPI_SUCCESS);

  stories[0] = {};
  requests[0] = begin(stories[0], 50);
  for (flag = 0; !flag;) CHECK(MPI_Request_get_status(requests[0], &flag, statuses) == MPI_SUCCESS);
  CHECK((byte_count(statuses[0]) == 99 && !stories[0].destroyed));
  CHECK(MPI_Test(&requests[0], &flag, statuses) == MPI_SUCCESS);
  CHECK((flag && stories[0].destroyed));
}

TEST_CASE("task: a persistent one runs at each MPI_Start", "[mpi][task]") {
  auto job = make_job();
  OneRank rank(*job);
  Story story;
  MPI_Request request;
  REQUIRE(make_persistent_task(std::make_unique<Countdown>(story, 3), &request) == MPI_SUCCESS);
  CHECK(story.steps == 0);
  MPI_Status status;
  CHECK(MPI_Wait(&request, &status) == MPI_SUCCESS);  // inactive: an empty status
  CHECK(byte_count(status) == 0);
  for (int round = 1; round <= 3; ++round) {
    CHECK(MPI_Start(&request) == MPI_SUCCESS);
    CHECK(MPI_Start(&request) == MPI_ERR_REQUEST);
    CHECK(MPI_Wait(&request, &status) == MPI_SUCCESS);
    CHECK((byte_count(status) == 99 && request != MPI_REQUEST_NULL));
    CHECK((story.starts == round && story.steps == 3 * round && story.frees == 0));
  }
  CHECK(MPI_Request_free(&request) == MPI_SUCCESS);
  CHECK((story.frees == 1 && story.destroyed));
}

TEST_CASE("task: errors of completion and of freeing reach the program", "[mpi][task]") {
  auto job = make_job();
  OneRank rank(*job);
  Story story;
  auto failing = std::make_unique<Countdown>(story, 2);
  failing->error = MPI_ERR_IO;
  MPI_Request request;
  begin_task(std::move(failing), &request);
  CHECK(MPI_Wait(&request, MPI_STATUS_IGNORE) == MPI_ERR_IO);

  failing = std::make_unique<Countdown>(story, 2);
  failing->error = MPI_ERR_IO;
  failing->free_error = MPI_ERR_OTHER;
  begin_task(std::move(failing), &request);
  CHECK(MPI_Wait(&request, MPI_STATUS_IGNORE) == MPI_ERR_OTHER);

  failing = std::make_unique<Countdown>(story, 2);
  failing->error = MPI_ERR_IO;
  MPI_Request both[2] = {begin(story, 3)};
  begin_task(std::move(failing), &both[1]);
  MPI_Status statuses[2];
  CHECK(MPI_Waitall(2, both, statuses) == MPI_ERR_IN_STATUS);
  CHECK((statuses[0].MPI_ERROR == MPI_SUCCESS && statuses[1].MPI_ERROR == MPI_ERR_IO));
}

TEST_CASE("task: one that the program freed goes on and then goes", "[mpi][task]") {
  auto job = make_job();
  OneRank rank(*job);
  Story story, other;
  MPI_Request request = begin(story, 3);
  CHECK(MPI_Request_free(&request) == MPI_SUCCESS);
  CHECK((request == MPI_REQUEST_NULL && !story.destroyed));
  MPI_Request second = begin(other, 10);
  CHECK(MPI_Wait(&second, MPI_STATUS_IGNORE) == MPI_SUCCESS);
  CHECK((story.steps == 3 && story.frees == 1 && story.destroyed));
}

TEST_CASE("task: only one that says so can be cancelled", "[mpi][task]") {
  auto job = make_job();
  OneRank rank(*job);
  Story story;
  MPI_Request request = begin(story, 100);
  CHECK(MPI_Cancel(&request) == MPI_ERR_REQUEST);
  CHECK(MPI_Wait(&request, MPI_STATUS_IGNORE) == MPI_SUCCESS);
  auto task = std::make_unique<Countdown>(story, 1'000'000);
  task->cancellable = true;
  begin_task(std::move(task), &request);
  CHECK(MPI_Cancel(&request) == MPI_SUCCESS);
  CHECK(MPI_Wait(&request, MPI_STATUS_IGNORE) == MPI_SUCCESS);
}

TEST_CASE("task: a replay answers as recorded, whenever the task is complete", "[mpi][task][replay]") {
  auto job = make_job(true);
  // What the program sees: how often MPI_Test found nothing, and which one MPI_Waitany gave.
  const auto program = [](int first_steps, int second_steps) {
    std::vector<int> seen;
    Story stories[3];
    MPI_Request request = begin(stories[0], first_steps);
    int flag = 0, fruitless = 0;
    for (;; ++fruitless) {
      MPI_Test(&request, &flag, MPI_STATUS_IGNORE);
      if (flag) break;
    }
    seen.push_back(fruitless);
    MPI_Request two[2] = {begin(stories[1], second_steps), begin(stories[2], 200 - second_steps)};
    int index = -1;
    MPI_Waitany(2, two, &index, MPI_STATUS_IGNORE);
    seen.push_back(index);
    MPI_Waitall(2, two, MPI_STATUSES_IGNORE);
    return seen;
  };
  std::vector<int> first;
  {
    OneRank rank(*job);
    first = program(300, 10);
  }
  CHECK(first[0] > 0);
  CHECK(first[1] == 0);
  OneRank replacement(*job);
  CHECK(program(500, 190) == first);
  // Behind what was recorded it decides for itself.
  CHECK(program(1, 190) == std::vector<int>{0, 1});
}
