#include "p2p/replay_course.hpp"

#include <atomic>
#include <cstdlib>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "p2p/engine.hpp"
#include "profiles.hpp"
#include "runtime/entry.hpp"
#include "set_clock.hpp"
#include "test.hpp"
#include "world/in_process.hpp"

using namespace llamada;
using namespace llamada::mpi;

namespace {

/// A rank's world that writes down how far its replay has come.
class WatchedWorld final : public World {
 public:
  /// `recorders`: so many processes before this one count as none; what they recorded was restored.
  WatchedWorld(std::unique_ptr<World> inner, std::string identity, std::uint32_t recorders)
      : inner_(std::move(inner)), identity_(std::move(identity)), recorders_(recorders) {}

  int rank() const override { return inner_->rank(); }
  int size() const override { return inner_->size(); }
  std::uint32_t incarnation() const override { return inner_->incarnation() - recorders_; }
  const qos::Profile& profile() const override { return inner_->profile(); }
  std::string_view identity() const override { return identity_; }
  log::ArenaWriter& arena() override { return inner_->arena(); }
  log::PeerArena peer(int world_rank) override { return inner_->peer(world_rank); }
  void wake(int world_rank) override { inner_->wake(world_rank); }
  void wake_all() override { inner_->wake_all(); }
  void sleep(const std::function<bool()>& look_again) override { inner_->sleep(look_again); }
  bool oversubscribed() const override { return inner_->oversubscribed(); }
  bool is_protected() const override { return inner_->is_protected(); }
  [[noreturn]] void aborted(int code, std::string_view text) override {
    inner_->aborted(code, text);
    std::abort();  // Not reached.
  }
  [[noreturn]] void diverged(std::string_view text) override {
    inner_->diverged(text);
    std::abort();  // Not reached.
  }
  void log_used_up() override { inner_->log_used_up(); }
  void unprotected(std::string_view why) override { inner_->unprotected(why); }
  void warning(std::string_view text) override { inner_->warning(text); }
  void reached(ReplayPlace place, bool) override { course.push_back(place); }
  void live() override {
    is_live = true;
    inner_->live();
  }

  std::vector<ReplayPlace> course;
  bool is_live = false;

 private:
  std::unique_ptr<World> inner_;
  std::string identity_;
  std::uint32_t recorders_;
};

/// A job of one rank that may be replaced.
std::unique_ptr<InProcessJob> make_job() {
  InProcessJob::Options options;
  options.profile = fault_tolerant();
  return std::move(*InProcessJob::create(options));
}

/// One process of the rank, as after MPI_Init. The next one repeats what it has done.
struct Life {
  explicit Life(InProcessJob& job, std::string identity = {}, std::uint32_t recorders = 0)
      : world(std::move(*job.attach(0)), std::move(identity), recorders),
        engine(std::move(*Engine::create(world, clock))),
        replay(engine->replay()) {
    runtime.add_world(0, 1, 1, 2);
    runtime.calls.publish_to(&call_id, &call_index);
    runtime.stage.initialized = true;
    runtime.stage.plain = true;
    install_runtime(&runtime);
    replay.follow(runtime.calls);
  }
  ~Life() { install_runtime(nullptr); }

  static void call() { const CallScope scope(CallId::Barrier); }
  void send_to_itself() {
    std::vector<std::byte> bytes(3);
    const Buffer buffer{bytes.data(), bytes.size(), runtime.datatypes.find(MPI_BYTE)};
    engine->send(buffer, 0, 7, *runtime.comm_world(), SendMode::standard);
  }

  SetClock clock;
  WatchedWorld world;
  Runtime runtime;
  std::atomic<std::uint32_t> call_id{0};
  std::atomic<std::uint64_t> call_index{0};
  std::unique_ptr<Engine> engine;
  ReplayCourse& replay;
};

/// What the job ends with; empty if it goes on.
std::string divergence(const std::function<void()>& action) {
  try {
    action();
  } catch (const RankEnded& ended) {
    return ended.kind == RankEnded::Kind::diverged ? ended.text : "aborted: " + ended.text;
  }
  return {};
}

bool has(const std::string& text, const std::string& part) { return text.find(part) != std::string::npos; }

using Course = std::vector<ReplayPlace>;

}  // namespace

TEST_CASE("replay course: the first process of a rank repeats nothing") {
  const auto job = make_job();
  Life first(*job);
  CHECK_FALSE(first.replay.is_on());
  CHECK_FALSE(first.replay.repeats());
  CHECK(first.replay.may_tell_new());
  CHECK(first.replay.may_send_new());
  first.replay.reach_end();
  first.replay.finish();
  CHECK(first.world.course.empty());
  CHECK_FALSE(first.world.is_live);
}

TEST_CASE("replay course: a replacement that has repeated all is live with its first new send") {
  const auto job = make_job();
  { const Life first(*job); }
  Life second(*job);
  CHECK(second.replay.is_on());
  CHECK(second.replay.repeats());
  CHECK_FALSE(second.replay.may_tell_new());  // a later call may be a predecessor's
  CHECK(second.replay.may_send_new());
  CHECK_FALSE(second.replay.is_on());
  CHECK_FALSE(second.replay.repeats());
  CHECK(second.world.is_live);
  CHECK(second.world.course == Course{ReplayPlace::over});
}

TEST_CASE("replay course: a new send while something is still to be repeated ends the job, which names it") {
  const auto job = make_job();
  std::string left;
  ReplayCourse::Past past;
  {
    Life first(*job);
    SECTION("an outcome") {
      first.engine->determinants().record_value(replay::ValueId::pid, 17);
      left = "getpid";
    }
    SECTION("the match of a receive") {
      first.engine->determinants().record_match(1, {});
      left = "a receive from MPI_ANY_SOURCE";
    }
    SECTION("a message") {
      first.send_to_itself();
      left = "message 1 to rank 0, tag 7, communicator 1";
    }
    SECTION("an operation on a file") {
      left = "write 3 of results.txt";
      past.operations = [&] { return left; };
    }
    SECTION("a contribution to a collective") {
      left = "contribution 2 to communicator 5";
      past.contributions = [&] { return left; };
    }
  }
  Life second(*job);
  int looks_for_culprit = 0;
  past.look_for_damage = [&] { ++looks_for_culprit; };
  second.replay.set_past(past);
  const std::string text = divergence([&] { second.replay.may_send_new(); });
  CHECK(
      text.starts_with("replay diverged: rank 0 (incarnation 2): it sends something that its predecessor "
                       "had not sent, while " +
                       left + " is still to be repeated; the program is not deterministic"));
  CHECK(looks_for_culprit == 2);  // the fault may be another rank's, whose word is on its way
  CHECK(second.world.course.empty());
  CHECK_FALSE(second.world.is_live);
}

TEST_CASE("replay course: at the end all is repeated but the last contribution, which follows") {
  const auto job = make_job();
  { const Life first(*job); }
  Life second(*job);
  std::string left = "contribution 2 to communicator 5";
  ReplayCourse::Past past;
  past.contributions = [&] { return left; };
  second.replay.set_past(past);
  second.replay.reach_end();
  CHECK(second.replay.is_on());
  SECTION("which comes") {
    left.clear();
    second.replay.finish();
    CHECK_FALSE(second.replay.repeats());
    CHECK(second.world.is_live);
  }
  SECTION("which does not come") {
    CHECK(has(divergence([&] { second.replay.finish(); }),
              "it reaches the end, while contribution 2 to communicator 5 is still to be repeated"));
  }
}

TEST_CASE(
    "replay course: calls are repeated until the predecessor's last one begins, and over with the next") {
  const auto job = make_job();
  { const Life first(*job); }
  Life second(*job, "pid=17\ncalls=2\n");
  second.call();
  CHECK(second.replay.repeats_calls());
  CHECK(second.world.course.empty());
  second.call();
  CHECK_FALSE(second.replay.repeats_calls());
  CHECK(second.replay.repeats());
  CHECK(second.world.course == Course{ReplayPlace::last_call_begins, ReplayPlace::last_call_ended});
  CHECK(second.replay.may_tell_new());  // nothing is left, so it is live
  CHECK_FALSE(second.replay.is_on());
  CHECK(second.replay.repeats());  // but what it writes now, a predecessor may have written
  second.call();
  CHECK_FALSE(second.replay.repeats());
  CHECK(second.world.course ==
        Course{ReplayPlace::last_call_begins, ReplayPlace::last_call_ended, ReplayPlace::over});
}

TEST_CASE("replay course: what a predecessor did in fewer calls is not new until all its calls have begun") {
  const auto job = make_job();
  { const Life first(*job); }
  Life second(*job, "calls=3\n");
  second.call();
  CHECK(has(divergence([&] { second.replay.may_send_new(); }),
            "while MPI call 3, the predecessor's last one, is still to be repeated"));
}

TEST_CASE(
    "replay course: behind the last call of a predecessor, what it was told may be left to be repeated") {
  const auto job = make_job();
  {
    Life first(*job);
    first.engine->determinants().record_value(replay::ValueId::pid, 17);
  }
  Life second(*job, "calls=0\n");
  CHECK_FALSE(second.replay.repeats_calls());
  CHECK(second.world.course == Course{ReplayPlace::last_call_begins});
  CHECK_FALSE(second.replay.may_tell_new());
}

TEST_CASE("replay course: without a call of its predecessor a replacement is in the last one at once") {
  const auto job = make_job();
  { const Life first(*job); }
  Life second(*job, "calls=0\n");
  CHECK_FALSE(second.replay.repeats_calls());
  CHECK(second.world.course == Course{ReplayPlace::last_call_ended});
  CHECK(second.replay.may_tell_new());
}

TEST_CASE("replay course: a wait that finds nothing is new, unless a predecessor was told that it is there") {
  const auto job = make_job();
  { const Life first(*job); }
  Life second(*job);
  int looks = 0;
  SECTION("it is there after all") {
    CHECK(second.replay.waits_in_vain([&] { return ++looks == 2; }));
    CHECK(second.replay.is_on());
  }
  SECTION("it is new") {
    CHECK_FALSE(second.replay.waits_in_vain([] { return false; }));
    CHECK_FALSE(second.replay.repeats());
    CHECK(second.world.course == Course{ReplayPlace::over});
  }
  SECTION("a predecessor was told") {
    second.replay.set_awaited("message 3 from rank 1");
    CHECK(has(divergence([&] { second.replay.waits_in_vain([] { return false; }); }),
              "message 3 from rank 1, which its predecessor was told of, is not there"));
  }
}

namespace {

/// Records a process id, as a process does of which only the record is left.
void record(InProcessJob& job) {
  const Life recorder(job);
  recorder.engine->determinants().record_value(replay::ValueId::pid, 17);
}

}  // namespace

TEST_CASE("replay course: a rank that resumes without a record is live at once") {
  const auto job = make_job();
  Life resumed(*job, "resumed=1\n");
  CHECK_FALSE(resumed.replay.is_on());
  CHECK(resumed.world.is_live);
  CHECK(resumed.world.course.empty());
}

TEST_CASE(
    "replay course: a resumed rank sends anew, and is live with the call behind the end of its record") {
  const auto job = make_job();
  record(*job);
  Life resumed(*job, "resumed=1\n", 1);
  CHECK(resumed.replay.is_on());
  CHECK_FALSE(resumed.replay.repeats());
  CHECK(resumed.replay.follows_record());
  CHECK(resumed.replay.may_tell_new());
  CHECK(resumed.replay.may_send_new());
  resumed.send_to_itself();
  CHECK(resumed.world.arena().counted(log::Counter::messages_sent) == 1);
  CHECK(resumed.world.arena().counted(log::Counter::sends_compared) == 0);
  resumed.call();
  resumed.call();
  CHECK(resumed.replay.is_on());
  SECTION("the record is used up") {
    CHECK(resumed.engine->determinants().read_pid(1) == 17);
    CHECK(resumed.replay.is_on());
    resumed.call();
    CHECK_FALSE(resumed.replay.is_on());
    CHECK(resumed.world.is_live);
    resumed.replay.reach_end();
    resumed.replay.finish();
  }
  SECTION("at the end") {
    CHECK(resumed.engine->determinants().read_pid(1) == 17);
    resumed.replay.finish();
    CHECK(resumed.world.is_live);
  }
  SECTION("it is not") {
    resumed.replay.reach_end();
    CHECK(has(divergence([&] { resumed.replay.finish(); }),
              "it reaches the end, while getpid is still to be repeated"));
  }
  CHECK(resumed.world.course.empty());
}

TEST_CASE("replay course: a replacement of a resumed rank repeats what that did, then follows the record") {
  const auto job = make_job();
  record(*job);
  {
    Life resumed(*job, "resumed=1\n", 1);
    resumed.send_to_itself();
  }
  Life second(*job, "resumed=1\ncalls=1\n", 1);
  CHECK(second.world.incarnation() == 2);
  CHECK(second.replay.repeats());
  CHECK_FALSE(second.replay.follows_record());
  CHECK_FALSE(second.replay.may_tell_new());
  SECTION("it leaves out a message") {
    second.call();
    CHECK(has(divergence([&] { second.replay.may_send_new(); }), "while message 1 to rank 0"));
  }
  SECTION("it repeats the message") {
    second.call();
    second.send_to_itself();
    CHECK(second.world.arena().counted(log::Counter::sends_compared) == 1);
    const bool waits = GENERATE(false, true);
    if (waits) {
      second.replay.set_awaited("message 3 from rank 1");
      CHECK(second.replay.waits_in_vain([] { return false; }));  // the message to itself has come
      CHECK_FALSE(second.replay.waits_in_vain([] { return false; }));
    } else {
      CHECK(second.replay.may_send_new());
    }
    CHECK_FALSE(second.replay.repeats());
    CHECK(second.replay.follows_record());
    CHECK_FALSE(second.world.is_live);
    second.send_to_itself();
    CHECK(second.world.arena().counted(log::Counter::messages_sent) == 2);
    CHECK(second.engine->determinants().read_pid(1) == 17);
    second.call();
    CHECK(second.world.is_live);
    CHECK(second.world.course.back() == ReplayPlace::over);
  }
}
