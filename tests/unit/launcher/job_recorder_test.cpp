#include "job_recorder.hpp"

#include <optional>
#include <string>

#include "llamada/store/memory_store.hpp"
#include "llamada/store/segment_store.hpp"
#include "temporary_folder.hpp"
#include "test.hpp"

using namespace llamada;
using namespace llamada::launcher;

namespace {

log::JournalEntry entry(std::uint64_t value) { return {1, 2, value}; }

control::Start job_of(std::uint32_t rank_count) {
  control::Start job;
  job.rank_count = rank_count;
  job.job_number = 0xabc;
  job.program = "/bin/program";
  job.storing.words = {"-n", "2", "program"};
  return job;
}

/// A recorder whose actions only remember.
struct Recording {
  explicit Recording(std::unique_ptr<store::Store> store, const JobPast* past = nullptr) {
    content = store.get();
    JobRecorder::Actions actions;
    actions.make_cut = [this] { ++asked; };
    actions.show = [this](const control::Output& output) {
      shown += fmt::format("{}.{}:{};", output.rank, output.stream, output.bytes);
    };
    actions.go_on = [this](std::uint64_t question) { answered.push_back(question); };
    actions.fail = [this](const std::string& why) { failure_text = why; };
    auto begun = JobRecorder::begin(loop, std::move(store), job_of(2), past, std::move(actions));
    if (!begun) FAIL(begun.error().text());
    recorder = std::move(*begun);
    recorder->ranks_run();
  }

  template <typename Condition>
  void run_until(const Condition& condition) {
    for (int i = 0; i < 1000 && !condition(); ++i) {
      loop.after(std::chrono::milliseconds(5), [] {});
      REQUIRE(loop.run_once());
    }
    REQUIRE(condition());
  }
  void settle() {
    run_until([this] { return recorder->is_idle(); });
  }
  JobPast past() const {
    auto read = read_past(*content);
    if (!read) FAIL(read.error().text());
    return *read;
  }

  EventLoop loop;
  store::Store* content = nullptr;
  int asked = 0;
  std::string shown;
  std::vector<std::uint64_t> answered;
  std::optional<std::string> failure_text;
  std::unique_ptr<JobRecorder> recorder;
};

}  // namespace

TEST_CASE("job recorder: what goes out of the job waits until what led to it is kept", "[launcher]") {
  Recording job(store::make_memory_store());
  JobRecorder& recorder = *job.recorder;
  recorder.hold(control::Output{1, 1, "a"});
  CHECK(job.asked == 1);
  CHECK(job.shown.empty());
  // Behind the question for a cut: they may follow from what is recorded later.
  recorder.hold(7);
  recorder.hold(control::Output{1, 2, "b"});
  recorder.take({{1, RankJournal::outcomes, 0, {entry(1), entry(2)}}});
  job.run_until([&] { return job.asked == 2; });
  CHECK(job.shown == "1.1:a;");
  CHECK(job.answered.empty());
  recorder.take({{1, RankJournal::outcomes, 1, {entry(3)}}, {0, RankJournal::ledger, 0, {entry(9)}}});
  job.settle();
  CHECK(job.shown == "1.1:a;1.2:b;");
  CHECK(job.answered == std::vector<std::uint64_t>{7});
  const JobPast past = job.past();
  CHECK(past.plan == job_of(2));
  CHECK(past.ranks[1].outcomes.entries == std::vector{entry(1), entry(3)});
  CHECK(past.ranks[0].ledger.entries == std::vector{entry(9)});
  CHECK(past.outcome_count() == 2);
  // Nobody has said that it was shown.
  CHECK(past.ranks[1].shown[0].empty());
}

TEST_CASE("job recorder: a question for which nothing is new is answered at once", "[launcher]") {
  Recording job(store::make_memory_store());
  job.recorder->hold(1);
  CHECK(job.answered.empty());
  job.recorder->take({});
  CHECK(job.answered == std::vector<std::uint64_t>{1});
}

TEST_CASE("job recorder: a job goes on from its last whole cut", "[launcher]") {
  const test::TemporaryFolder folder;
  const std::string directory = folder / "store";
  const auto open = [&] {
    auto store = store::open_segment_store(directory);
    if (!store) FAIL(store.error().text());
    return std::move(*store);
  };
  {
    Recording job(open());
    JobRecorder& recorder = *job.recorder;
    recorder.process(0, 4711, "host");
    recorder.code("/bin/program\t5 abc");
    recorder.input("typed");
    recorder.hold(control::Output{0, 1, "one;two;"});
    recorder.take({{0, RankJournal::outcomes, 0, {entry(1)}}});
    job.settle();
    recorder.shown({0, 1, 4});
    recorder.input({});
    recorder.hold(control::Output{0, 1, "three;"});
    recorder.take({{0, RankJournal::outcomes, 1, {entry(2)}}});
    job.settle();
    // It is given, and no cut says that it was shown.
    recorder.shown({0, 1, 4});
  }
  auto store = open();
  auto past = read_past(*store);
  REQUIRE(past);
  CHECK(past->ranks[0].outcomes.entries == std::vector{entry(1), entry(2)});
  CHECK(past->ranks[0].shown[0] == "one;");
  CHECK(past->ranks[0].first_pid == 4711);
  CHECK(past->ranks[0].host == "host");
  CHECK(past->ranks[1].host.empty());
  CHECK(past->input == "typed");
  CHECK(past->input_has_ended);
  CHECK(past->code == std::vector<std::string>{"/bin/program\t5 abc"});
  Recording again(std::move(store), &*past);
  // What was not shown before is written again.
  again.recorder->hold(control::Output{0, 1, "two;three;"});
  again.recorder->take({{0, RankJournal::outcomes, 2, {entry(3)}}});
  again.settle();
  again.recorder->shown({0, 1, 10});
  again.recorder->hold(1);
  again.recorder->take({});
  again.settle();
  CHECK(again.past().ranks[0].shown[0] == "one;two;three;");
  CHECK(again.past().ranks[0].outcomes.entries == std::vector{entry(1), entry(2), entry(3)});
}

TEST_CASE("job recorder: what was written of a cut that never became whole does not count", "[launcher]") {
  auto store = store::make_memory_store();
  store::Store& content = *store;
  std::optional<JobPast> past;
  {
    Recording job(std::move(store));
    job.recorder->hold(control::Output{0, 1, "x"});
    job.recorder->take({{0, RankJournal::outcomes, 0, {entry(1)}}});
    job.settle();
    auto left = job.recorder->leave();
    REQUIRE(left);
    store = std::move(left->store);
    // As the first of several batches of a cut would have it.
    auto stream = store->stream("outcomes", {});
    REQUIRE(stream);
    const std::array<std::byte, 8> first{std::byte{1}};
    const std::array<std::byte, 16> body{std::byte{5}};
    REQUIRE(store->append(
        {.stream = *stream, .number = 2, .group = 1, .time_ns = 2, .head = first, .body = body}));
    REQUIRE(store->write());
    auto read = read_past(content);
    REQUIRE(read);
    past = std::move(*read);
  }
  CHECK(past->ranks[0].outcomes.entries == std::vector{entry(1)});
  Recording again(std::move(store), &*past);
  again.recorder->hold(control::Output{0, 1, "y"});
  again.recorder->take({{0, RankJournal::outcomes, 1, {entry(2)}}});
  again.settle();
  CHECK(again.past().ranks[0].outcomes.entries == std::vector{entry(1), entry(2)});
}

TEST_CASE("job recorder: a job that cannot be resumed any more says why", "[launcher]") {
  Recording job(store::make_memory_store());
  job.recorder->hold(control::Output{0, 1, "x"});
  job.recorder->end("its ranks are not protected");
  CHECK(job.shown == "0.1:x;");
  CHECK(job.past().end == "its ranks are not protected");
  job.recorder->hold(3);
  CHECK(job.answered == std::vector<std::uint64_t>{3});
  CHECK(job.recorder->is_idle());
}

TEST_CASE("job recorder: when nothing can be kept, nothing waits", "[launcher]") {
  Recording job(store::make_memory_store());
  job.recorder->hold(5);
  job.recorder->cannot_take("the journal is damaged");
  CHECK(job.failure_text == "the journal is damaged");
  CHECK(job.answered == std::vector<std::uint64_t>{5});
}

TEST_CASE("job recorder: what it leaves is whole, and goes on with what mpirun was given", "[launcher]") {
  Recording first(store::make_memory_store());
  JobRecorder& recorder = *first.recorder;
  recorder.hold(control::Output{1, 1, "kept;"});
  recorder.take({{1, RankJournal::outcomes, 0, {entry(1)}}});
  recorder.hold(control::Output{1, 1, "dropped;"});
  recorder.hold(7);
  recorder.input("typed");
  auto left = recorder.leave();
  REQUIRE(left);
  CHECK(first.shown == "1.1:kept;;");
  CHECK(first.answered.empty());
  auto past = read_past(*left->store, left->given);
  REQUIRE(past);
  CHECK(past->ranks[1].outcomes.entries == std::vector{entry(1)});
  CHECK(past->ranks[1].shown[0] == "kept;");
  CHECK(past->confirmed.empty());
  CHECK(past->input == "typed");
  // Another mpirun knows only what was confirmed.
  CHECK(read_past(*left->store)->ranks[1].shown[0].empty());
  Recording second(std::move(left->store), &*past);
  second.recorder->shown({1, 1, 5});
  second.recorder->hold(control::Output{1, 1, "more;"});
  second.recorder->take({{1, RankJournal::outcomes, 1, {entry(2)}}});
  second.settle();
  CHECK(second.shown == "1.1:more;;");
  CHECK_FALSE(second.recorder->is_all_shown());
  second.recorder->shown({1, 1, 5});
  CHECK(second.recorder->is_all_shown());
  second.recorder->hold(8);
  second.recorder->take({});
  second.settle();
  CHECK(second.past().ranks[1].shown[0] == "kept;more;");
}

TEST_CASE("job recorder: a checkpoint counts from the cut on that has it, the last one of all",
          "[launcher]") {
  Recording job(store::make_memory_store());
  CHECK(job.past().checkpoint == 0);
  job.recorder->checkpoint(3);
  // The question that waits for it is answered when it is kept.
  job.recorder->hold(7);
  CHECK(job.past().checkpoint == 0);
  CHECK(job.answered.empty());
  job.recorder->take({});
  job.settle();
  CHECK(job.answered == std::vector<std::uint64_t>{7});
  CHECK(job.past().checkpoint == 3);
  job.recorder->checkpoint(4);
  job.recorder->hold(8);
  CHECK(job.past().checkpoint == 3);
  job.recorder->take({{0, RankJournal::outcomes, 0, {entry(1)}}});
  job.settle();
  CHECK(job.past().checkpoint == 4);
}

TEST_CASE("job recorder: a checkpoint of a cut that never became whole is forgotten", "[launcher]") {
  auto store = store::make_memory_store();
  store::Store& content = *store;
  std::optional<JobPast> past;
  {
    Recording job(std::move(store));
    job.recorder->checkpoint(1);
    job.recorder->hold(1);
    job.recorder->take({});
    job.settle();
    auto left = job.recorder->leave();
    REQUIRE(left);
    store = std::move(left->store);
    auto stream = store->stream(job_stream::checkpoint, {});
    REQUIRE(stream);
    REQUIRE(
        store->append({.stream = *stream, .number = 2, .group = 2, .time_ns = 2, .head = {}, .body = {}}));
    REQUIRE(store->write());
    auto read = read_past(content);
    REQUIRE(read);
    past = std::move(*read);
  }
  CHECK(past->checkpoint == 1);
  Recording again(std::move(store), &*past);
  again.recorder->hold(control::Output{0, 1, "y"});
  again.recorder->take({{0, RankJournal::outcomes, 0, {entry(1)}}});
  again.settle();
  CHECK(again.past().checkpoint == 1);
  again.recorder->checkpoint(2);
  again.recorder->hold(2);
  again.recorder->take({});
  again.settle();
  CHECK(again.past().checkpoint == 2);
}

TEST_CASE("job recorder: what ranks wrote behind what was shown comes along", "[launcher]") {
  Recording job(store::make_memory_store());
  job.recorder->hold(control::Output{1, 1, "one;two;"});
  job.recorder->hold(control::Output{1, 2, "err;"});
  job.recorder->take({{1, RankJournal::outcomes, 0, {entry(1)}}});
  job.run_until([&] { return job.asked == 2; });
  job.recorder->take({});
  job.settle();
  job.recorder->shown({1, 1, 4});
  job.recorder->hold(1);
  job.recorder->take({});
  job.settle();
  const JobPast past = job.past();
  CHECK(past.ranks[1].shown[0] == "one;");
  CHECK(past.ranks[1].written_behind[0] == "two;");
  CHECK(past.ranks[1].shown[1].empty());
  CHECK(past.ranks[1].written_behind[1] == "err;");
  CHECK(past.ranks[0].written_behind[0].empty());
}

TEST_CASE("job recorder: output that is written once more does not cut off what follows it", "[launcher]") {
  auto store = store::make_memory_store();
  std::optional<JobPast> past;
  {
    Recording job(std::move(store));
    job.recorder->hold(control::Output{0, 1, "one;two;three;"});
    job.recorder->take({{0, RankJournal::outcomes, 0, {entry(1)}}});
    job.settle();
    job.recorder->shown({0, 1, 4});
    auto left = job.recorder->leave();
    REQUIRE(left);
    store = std::move(left->store);
    past = *read_past(*store);
  }
  CHECK(past->ranks[0].shown[0] == "one;");
  CHECK(past->ranks[0].written_behind[0] == "two;three;");
  // A resumed rank that has come as far as this when all processes end once more. What it wrote behind that
  // is before the checkpoint that it goes on from.
  Recording again(std::move(store), &*past);
  again.recorder->hold(control::Output{0, 1, "two;"});
  again.recorder->take({{0, RankJournal::outcomes, 1, {entry(2)}}});
  again.settle();
  again.recorder->shown({0, 1, 4});
  again.recorder->hold(1);
  again.recorder->take({});
  again.settle();
  const JobPast next = again.past();
  CHECK(next.ranks[0].shown[0] == "one;two;");
  CHECK(next.ranks[0].written_behind[0] == "three;");
}

TEST_CASE("job recorder: numbers that ranks share are those of the moment in which the cut was asked for",
          "[launcher]") {
  const SharedNumbers none;
  const SharedNumbers early{{7, {15, {{0, {1, 0}}, {1, {3, 10}}}}}};
  const SharedNumbers late{{7, {20, {{0, {2, 15}}, {1, {3, 10}}}}}, {9, {0, {{1, {0, 0}}}}}};
  auto store = store::make_memory_store();
  std::optional<JobPast> past;
  {
    Recording job(std::move(store));
    CHECK(job.past().numbers == none);
    // Nothing but the number is new.
    job.recorder->hold(1);
    job.recorder->numbers(early);
    CHECK(job.past().numbers == none);
    job.recorder->take({});
    job.settle();
    CHECK(job.past().numbers == early);
    // This cut never becomes whole.
    job.recorder->hold(2);
    job.recorder->numbers(late);
    auto left = job.recorder->leave();
    REQUIRE(left);
    store = std::move(left->store);
    past = *read_past(*store);
    CHECK(past->numbers == early);
  }
  // As the first of several batches of a cut would have it.
  const auto stream = *store->stream("numbers", {});
  const auto body = bytes_of(late);
  REQUIRE(store->append({.stream = stream, .number = 2, .time_ns = 2, .body = body}));
  REQUIRE(store->write());
  CHECK(read_past(*store)->numbers == early);
  Recording again(std::move(store), &*past);
  again.recorder->hold(3);
  again.recorder->numbers(early);
  again.recorder->take({{0, RankJournal::ledger, 0, {entry(1)}}});
  again.settle();
  CHECK(again.past().numbers == early);
  for (const SharedNumbers& numbers : {late, none}) {
    again.recorder->hold(4);
    again.recorder->numbers(numbers);
    again.recorder->take({});
    again.settle();
    CHECK(again.past().numbers == numbers);
    // Only the last are kept.
    std::size_t items = 0;
    for (const auto& info : again.content->streams())
      if (info.name == "numbers")
        REQUIRE(again.content->read(info.id, 0, [&](const store::Item&) { return ++items > 0; }));
    CHECK(items == 1);
  }
}

TEST_CASE("job recorder: numbers whose bytes are cut off are refused", "[launcher]") {
  auto body = bytes_of(SharedNumbers{{7, {15, {{0, {1, 0}}}}}});
  store::Item item;
  item.body = body;
  CHECK(numbers_in(item));
  for (std::size_t left = 1; left < body.size(); ++left) {
    item.body = std::span(body).first(left);
    CHECK_FALSE(numbers_in(item));
  }
}
