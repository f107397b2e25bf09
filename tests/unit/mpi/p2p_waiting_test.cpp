#include "p2p/waiting.hpp"

#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "set_clock.hpp"
#include "test.hpp"
#include "world/in_process.hpp"

using namespace llamada;
using namespace llamada::mpi;

namespace {

/// Notes what a waiting rank does. After `ends_after` notes its wait is over.
struct Story final : WaitWork {
  std::vector<std::string> notes;
  std::size_t ends_after = 0;
  bool goes_on = false;

  bool progress() override { return note("progress", goes_on); }
  void make_ready(unsigned) override { note("ready"); }
  bool waited_in_vain(const std::function<bool()>& done) override { return note("in vain", done()); }
  void look_around() override { note("around"); }
  bool anything_new() override { return note("new"); }
  void report_wait(std::uint32_t survey, const Awaits*, std::chrono::nanoseconds) override {
    notes.emplace_back("report " + std::to_string(survey));
  }

  bool is_over() const { return notes.size() >= ends_after; }
  std::size_t count(const std::string& what) const {
    return static_cast<std::size_t>(std::count(notes.begin(), notes.end(), what));
  }

 private:
  bool note(const char* what, bool answer = false) {
    notes.emplace_back(what);
    return answer;
  }
};

/// The first of so many ranks: one alone has a core, several in one process have not.
struct Rank {
  explicit Rank(int ranks, unsigned yields_before_sleep = 2,
                std::chrono::nanoseconds sleep_max = std::chrono::milliseconds(1)) {
    InProcessJob::Options options;
    options.size = ranks;
    options.sleep_max = sleep_max;
    job = std::move(*InProcessJob::create(options));
    world = std::move(*job->attach(0));
    waiting = std::make_unique<Waiting>(*world, clock, yields_before_sleep);
  }
  void wait(Story& story, std::size_t notes) {
    story.ends_after = notes;
    const auto done = [&story] { return story.is_over(); };
    waiting->wait_until(story, done);
  }

  SetClock clock;
  std::unique_ptr<InProcessJob> job;
  std::unique_ptr<World> world;
  std::unique_ptr<Waiting> waiting;
};

}  // namespace

TEST_CASE("waiting: a rank with a core looks again and again, and is ready for more between its looks") {
  Rank rank(1);
  Story story;
  rank.wait(story, 5);
  CHECK(story.notes == std::vector<std::string>{"progress", "ready", "progress", "ready", "progress"});
}

TEST_CASE("waiting: a rank with a core yields after its last look") {
  Rank rank(1);
  rank.waiting->set_spin_rounds(3);
  CHECK(rank.waiting->spin_rounds() == 3);
  Story story;
  rank.wait(story, 9);
  CHECK(story.count("ready") == 3);
  CHECK(story.notes[7] == "in vain");
}

TEST_CASE(
    "waiting: a rank without a core yields at once, looks around, and looks around again before it sleeps") {
  Rank rank(2);
  CHECK(rank.waiting->spin_rounds() == 0);
  Story story;
  rank.wait(story, 11);
  // After one yield it need not look around: it has not waited long.
  CHECK(story.notes == std::vector<std::string>{"progress", "in vain", "progress", "in vain", "around",
                                                "progress", "in vain", "around", "new", "around", "new",
                                                "progress"});
}

TEST_CASE("waiting: a rank that may not yield looks around before it sleeps") {
  Rank rank(2, 0);
  Story story;
  rank.wait(story, 5);
  CHECK(story.notes == std::vector<std::string>{"progress", "in vain", "new", "around", "new", "progress"});
}

// As a rank that holds another one's room by records that are of no use: it is woken once, by whoever waits
// for the room.
TEST_CASE("waiting: a rank that is woken right behind a look around looks again before it sleeps") {
  struct Held final : WaitWork {
    World& waker;
    int looks = 0;
    explicit Held(World& world) : waker(world) {}
    bool progress() override { return false; }
    void make_ready(unsigned) override {}
    bool waited_in_vain(const std::function<bool()>&) override { return false; }
    void look_around() override {
      if (++looks == 1) waker.wake(0);
    }
    bool anything_new() override { return false; }
    void report_wait(std::uint32_t, const Awaits*, std::chrono::nanoseconds) override {}
  };
  Rank rank(2, 0, std::chrono::hours(1));  // whoever is not woken hangs
  const auto waker = std::move(*rank.job->attach(1));
  Held held(*waker);
  const auto done = [&held] { return held.looks > 1; };
  rank.waiting->wait_until(held, done);
  CHECK(held.looks > 1);
}

TEST_CASE("waiting: a rank that goes on neither yields nor sleeps") {
  Rank rank(2, 0);
  Story story;
  story.goes_on = true;
  rank.wait(story, 100);
  CHECK(story.count("progress") == 100);
}

TEST_CASE("waiting: the hook of a wait is called each time that a wait is no longer short") {
  static int calls;
  calls = 0;
  Rank rank(2);
  rank.waiting->on_wait([] { ++calls; });
  Story story;
  rank.wait(story, 9);
  CHECK(calls == static_cast<int>(story.count("in vain")));
}

TEST_CASE("waiting: a rank that waits answers a survey once, after one more look at everything") {
  Rank rank(2);
  const std::uint32_t survey = rank.job->raise_survey();
  const std::string answer = "report " + std::to_string(survey);
  Story story;
  rank.wait(story, 12);
  REQUIRE(story.count(answer) == 1);
  const auto at = std::find(story.notes.begin(), story.notes.end(), answer) - story.notes.begin();
  REQUIRE(at > 1);
  CHECK(story.notes[static_cast<std::size_t>(at) - 1] == "new");
  CHECK(story.notes[static_cast<std::size_t>(at) - 2] == "around");
  rank.wait(story, story.notes.size() + 12);
  CHECK(story.count(answer) == 1);
}

TEST_CASE("waiting: calls that find nothing let others run now and then") {
  Rank rank(1);
  int fruitless = 0;
  while (!rank.waiting->is_next_to_yield()) {
    CHECK_FALSE(rank.waiting->count_fruitless());
    ++fruitless;
  }
  CHECK(fruitless > 0);
  CHECK(rank.waiting->count_fruitless());
  CHECK_FALSE(rank.waiting->is_next_to_yield());
  rank.waiting->forget_fruitless();
  for (int i = 0; i < fruitless; ++i) CHECK_FALSE(rank.waiting->count_fruitless());
}

TEST_CASE("waiting: brief waits look at one stream, but not for ever") {
  Rank alone(1), crowded(2);
  CHECK(alone.waiting->brief_looks_max() > 0);
  CHECK(crowded.waiting->brief_looks_max() == 0);
  int briefs = 0;
  while (!alone.waiting->is_turn_of_others() && briefs < 1000) ++briefs;
  CHECK(briefs < 1000);
}
