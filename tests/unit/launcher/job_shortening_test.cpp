#include "job_shortening.hpp"

#include <algorithm>
#include <map>
#include <optional>

#include "llamada/base/bytes.hpp"
#include "llamada/launcher/job_control.hpp"
#include "llamada/store/memory_store.hpp"
#include "llamada/store/segment_store.hpp"
#include "temporary_folder.hpp"
#include "test.hpp"

using namespace llamada;
using namespace llamada::launcher;

namespace {

using Entries = std::vector<log::JournalEntry>;

log::JournalEntry entry(std::uint64_t value) { return {1, 2, value}; }
/// As the facade writes them: docs/internals/determinants.md.
log::JournalEntry passed(std::uint64_t checkpoint, std::uint64_t life = 0) {
  return {7U | 0x50001U << 8, 1, life << 32 | checkpoint};
}
log::JournalEntry passed_in_ledger(std::uint64_t checkpoint) { return {6, 0, checkpoint}; }

/// Entries for one rank.
class Items {
 public:
  explicit Items(KeptJournals& journals, std::uint32_t rank = 0) : journals_(journals), rank_(rank) {}
  /// The next item, whose first entry is the last one once more, or not.
  void add(const Entries& entries, bool tells_last_again = false) {
    const std::uint64_t first = next_ - (tells_last_again ? 1 : 0);
    next_ = first + entries.size();
    journals_.add({rank_, RankJournal::outcomes, first, entries}, ++item_);
  }

 private:
  KeptJournals& journals_;
  std::uint32_t rank_;
  std::uint64_t next_ = 0, item_ = 0;
};

/// Writes each change at once, and none after so many.
class DyingStore : public store::Store {
 public:
  explicit DyingStore(store::Store& store, int changes_left = 1 << 30)
      : store_(store), changes_left_(changes_left) {}

  Result<store::StreamId> stream(std::string_view name, std::span<const std::byte> description) override {
    return store_.stream(name, description);
  }
  Status append(const store::Item& item) override {
    return change([&] { return store_.append(item); });
  }
  Status drop_below(store::StreamId stream, std::uint64_t number) override {
    return change([&] { return store_.drop_below(stream, number); });
  }
  Status drop(store::StreamId stream, std::uint64_t number) override {
    return change([&] { return store_.drop(stream, number); });
  }
  Status end(store::StreamId stream) override { return store_.end(stream); }
  Result<store::BatchNumber> write() override { return store_.write(); }
  Status sync(store::BatchNumber batch) override { return store_.sync(batch); }
  Status read(store::StreamId stream, std::uint64_t from, const OnItem& on_item,
              const OnDamaged& on_damaged) const override {
    return store_.read(stream, from, on_item, on_damaged);
  }
  Status newest(store::StreamId stream, std::uint64_t group, std::size_t count, const OnItem& on_item,
                const OnDamaged& on_damaged) const override {
    return store_.newest(stream, group, count, on_item, on_damaged);
  }
  std::vector<store::StreamInfo> streams() const override { return store_.streams(); }
  store::StoreFigures figures() const override { return store_.figures(); }

 private:
  template <typename Step>
  Status change(const Step& step) {
    if (changes_left_-- <= 0) return failure(Errc::system, "it has died");
    Status status = step();
    if (auto written = store_.write(); status && !written) return propagate(written);
    return status;
  }

  store::Store& store_;
  int changes_left_;
};

/// A job of two ranks in a store.
struct Job {
  explicit Job(std::unique_ptr<store::Store> store, const JobPast* past = nullptr) {
    auto opened = JobStreams::open(std::move(store));
    if (!opened) FAIL(opened.error().text());
    streams = std::move(*opened);
    shortening.emplace(*streams);
    if (past) {
      REQUIRE(shortening->go_on(*past));
      return;
    }
    control::Start plan;
    plan.rank_count = 2;
    REQUIRE(streams->append(job_stream::plan, 0, {}, control::encode(plan)));
  }

  void record(std::uint32_t rank, const Entries& entries, RankJournal journal = RankJournal::outcomes) {
    std::uint64_t& next = indices[{rank, journal}];
    const JournalPiece piece{rank, journal, next, entries};
    next += entries.size();
    ByteWriter head, body;
    head.number(piece.first);
    for (const log::JournalEntry& each : entries) {
      body.number(each.head);
      body.number(each.count);
      body.number(each.value);
    }
    REQUIRE(streams->append(stream_of(journal), rank + 1, head.written(), body.written()));
    shortening->has(piece);
  }
  void checkpoint(std::uint32_t number) {
    REQUIRE(streams->append(job_stream::checkpoint, number, {}, bytes_of(written)));
    shortening->has_checkpoint(number, written);
  }
  void end_cut() {
    REQUIRE(shortening->shorten());
    REQUIRE(streams->append(job_stream::cuts, 0, {}, bytes_of(shown)));
    shortening->has_cut(shown);
    REQUIRE(streams->store().write());
  }
  /// Each rank has passed a checkpoint, and records some entries, in a cut of each.
  void interval(std::uint32_t number, std::uint64_t entries_each = 5) {
    checkpoint(number);
    end_cut();
    for (std::uint32_t rank = 0; rank < 2; ++rank) {
      record(rank, {passed(number)});
      for (std::uint64_t value = 0; value < entries_each; ++value) {
        record(rank, {entry(100 * number + value)});
        end_cut();
      }
    }
  }
  JobPast past() const {
    auto read = read_past(streams->store());
    if (!read) FAIL(read.error().text());
    return *read;
  }
  std::uint64_t items_in(const char* name) const {
    for (const store::StreamInfo& info : streams->store().streams())
      if (info.name == name) return info.items;
    return 0;
  }

  std::unique_ptr<JobStreams> streams;
  std::optional<JobShortening> shortening;
  /// A rank writes these bytes to standard output, which are shown at once, or not.
  void write(std::uint32_t rank, const std::string& bytes, bool is_shown = true) {
    std::uint64_t& end = written[output_group(rank, 1)];
    ByteWriter head;
    head.number(end);
    const Gap place{end, end + bytes.size()};
    end = place.end;
    const auto body = std::as_bytes(std::span(bytes));
    REQUIRE(streams->append(job_stream::output, output_group(rank, 1), head.written(), body));
    shortening->has_output(output_group(rank, 1), place);
    if (is_shown) shown[output_group(rank, 1)] = end;
  }

  std::map<std::pair<std::uint32_t, RankJournal>, std::uint64_t> indices;
  OutputSizes written, shown;
};

}  // namespace

TEST_CASE(
    "kept journals: nothing is dropped before a second checkpoint, nor what was recorded before the first",
    "[launcher]") {
  KeptJournals journals;
  Items items(journals);
  items.add({entry(1), entry(2)});
  CHECK(journals.drop_before(1).empty());
  items.add({entry(3), passed(1), entry(4)});
  items.add({entry(5)});
  CHECK(journals.drop_before(1).empty());
  CHECK(journals.drop_before(2).empty());
  items.add({entry(6), passed(2), entry(7)});
  items.add({entry(8)});
  const auto drops = journals.drop_before(2);
  REQUIRE(drops.size() == 1);
  // The item with checkpoint 1 stays, and so does the one with 2.
  CHECK(drops[0].gap.begin == 5);
  CHECK(drops[0].gap.end == 6);
  CHECK(drops[0].items == std::vector<std::uint64_t>{3});
  CHECK(journals.drop_before(2).empty());
  items.add({passed(5), entry(9)});
  const auto more = journals.drop_before(3);
  REQUIRE(more.size() == 1);
  CHECK(more[0].gap.begin == 5);
  CHECK(more[0].gap.end == 10);
  CHECK(more[0].items == std::vector<std::uint64_t>{4, 5});
}

TEST_CASE("kept journals: a later life passes a checkpoint again: what it recorded before stays",
          "[launcher]") {
  KeptJournals journals;
  Items items(journals);
  items.add({passed(1)});
  items.add({entry(1)});
  items.add({passed(2)});
  items.add({entry(2), passed(3)});
  items.add({entry(3)});
  // The files of 3 were damaged.
  items.add({passed(2, 9)});
  items.add({entry(4), passed(3, 9)});
  items.add({entry(5), passed(4, 9)});
  const auto drops = journals.drop_before(3);
  REQUIRE(drops.size() == 1);
  CHECK(drops[0].items == std::vector<std::uint64_t>{2, 3});
  CHECK(drops[0].gap.end == 3);
}

TEST_CASE("kept journals: an entry that is told again lies in two items", "[launcher]") {
  KeptJournals journals;
  Items items(journals);
  items.add({passed(1), entry(1)});
  items.add({entry(2)}, true);
  items.add({entry(3)}, true);
  items.add({passed(2)});
  const auto drops = journals.drop_before(2);
  REQUIRE(drops.size() == 1);
  CHECK(drops[0].items == std::vector<std::uint64_t>{2, 3});
  CHECK(drops[0].gap.begin == 2);
  CHECK(drops[0].gap.end == 2);
}

TEST_CASE("job shortening: a job with many checkpoints keeps its beginning and the last two intervals",
          "[launcher]") {
  Job job(store::make_memory_store());
  job.record(0, {entry(1)});
  job.record(1, {entry(2)});
  job.end_cut();
  std::uint64_t items = 0;
  for (std::uint32_t number = 1; number <= 30; ++number) {
    job.interval(number);
    if (number == 5) items = job.items_in(job_stream::outcomes);
    const JobPast past = job.past();
    CHECK(past.checkpoint == number);
    CHECK(past.checkpoint_min == (number < 3 ? 0 : number - 1));
    for (std::uint32_t rank = 0; rank < 2; ++rank) {
      const Entries& kept = past.ranks[rank].outcomes.entries;
      CHECK(kept.at(0) == entry(1 + rank));
      CHECK(kept.at(1) == passed(1));
      const auto from = std::ranges::find(kept, passed(std::max(number - 1, 1U)));
      REQUIRE(from != kept.end());
      CHECK(std::ranges::find(kept, passed(number)) - from == (number == 1 ? 0 : 6));
      CHECK(kept.end() - from == (number == 1 ? 6 : 12));
    }
  }
  CHECK(job.items_in(job_stream::outcomes) == items);
  CHECK(job.items_in(job_stream::checkpoint) == 3);
  CHECK(job.items_in(job_stream::gap) == 2);
}

TEST_CASE("job shortening: nothing is dropped before the cut with the checkpoint is whole", "[launcher]") {
  Job job(store::make_memory_store());
  for (std::uint32_t number = 1; number <= 2; ++number) job.interval(number);
  job.checkpoint(3);
  REQUIRE(job.shortening->shorten());
  REQUIRE(job.streams->store().write());
  CHECK(job.past().checkpoint_min == 0);
  CHECK(job.past().ranks[0].outcomes.entries.size() == 12);
  job.end_cut();
  job.end_cut();
  CHECK(job.past().checkpoint_min == 2);
  CHECK(job.past().ranks[0].outcomes.entries.size() == 7);
}

TEST_CASE("job shortening: a ledger without the checkpoint stays whole", "[launcher]") {
  Job job(store::make_memory_store());
  job.record(0, {entry(1), passed_in_ledger(1)}, RankJournal::ledger);
  for (std::uint32_t number = 1; number <= 4; ++number) {
    job.record(0, {entry(number)}, RankJournal::ledger);
    job.interval(number);
  }
  CHECK(job.past().ranks[0].ledger.entries.size() == 6);
  job.record(0, {passed_in_ledger(5)}, RankJournal::ledger);
  for (std::uint32_t number = 5; number <= 6; ++number) job.interval(number);
  CHECK(job.past().ranks[0].ledger.entries == Entries{entry(1), passed_in_ledger(1), passed_in_ledger(5)});
}

TEST_CASE("job shortening: a job that is resumed goes on with what is kept", "[launcher]") {
  const test::TemporaryFolder folder;
  const std::string directory = folder / "store";
  const auto open = [&] {
    auto store = store::open_segment_store(directory, {.segment_bytes = 1 << 20});
    if (!store) FAIL(store.error().text());
    return std::move(*store);
  };
  JobPast past;
  std::map<std::pair<std::uint32_t, RankJournal>, std::uint64_t> indices;
  for (std::uint32_t life = 0; life < 5; ++life) {
    Job job(open(), life == 0 ? nullptr : &past);
    job.indices = indices;
    CHECK(job.shortening->checkpoint_min() == past.checkpoint_min);
    for (std::uint32_t number = 4 * life + 1; number <= 4 * life + 4; ++number) job.interval(number);
    past = job.past();
    indices = job.indices;
    CHECK(past.checkpoint_min == 4 * life + 3);
    CHECK(past.ranks[0].outcomes.entries.size() == 13);
    CHECK(past.ranks[0].outcomes.gap.end == indices.at({0, RankJournal::outcomes}) - 12);
  }
}

TEST_CASE("job shortening: a death in its midst leaves what can be read, and shortened again", "[launcher]") {
  int steps = 0;
  for (bool has_died = true; has_died; ++steps) {
    INFO(steps << " changes");
    const auto store = store::make_memory_store();
    std::map<std::pair<std::uint32_t, RankJournal>, std::uint64_t> indices;
    {
      Job job(std::make_unique<DyingStore>(*store));
      for (std::uint32_t number = 1; number <= 2; ++number) job.interval(number);
      job.checkpoint(3);
      job.end_cut();
      indices = job.indices;
    }
    const auto past = read_past(*store);
    REQUIRE(past);
    {
      Job job(std::make_unique<DyingStore>(*store, steps), &*past);
      has_died = !job.shortening->shorten();
    }
    const auto left = read_past(*store);
    REQUIRE(left);
    for (const JobPast::Rank& rank : left->ranks) {
      const bool is_shorter = rank.outcomes.gap.end > 0;
      CHECK(rank.outcomes.entries.size() == (is_shorter ? 7 : 12));
      CHECK((!is_shorter || left->checkpoint_min == 2));
    }
    Job job(std::make_unique<DyingStore>(*store), &*left);
    job.indices = indices;
    job.end_cut();
    for (const JobPast::Rank& rank : job.past().ranks) CHECK(rank.outcomes.entries.size() == 7);
    CHECK(job.past().checkpoint_min == 2);
    for (std::uint32_t number = 3; number <= 6; ++number) job.interval(number);
    for (const JobPast::Rank& rank : job.past().ranks) CHECK(rank.outcomes.entries.size() == 13);
  }
  CHECK(steps > 10);
}

TEST_CASE(
    "job shortening: output that was shown is kept before the first checkpoint, and behind the one before "
    "last",
    "[launcher]") {
  const test::TemporaryFolder folder;
  const std::string directory = folder / "store";
  const auto open = [&] {
    auto store = store::open_segment_store(directory, {.segment_bytes = 1 << 20});
    if (!store) FAIL(store.error().text());
    return std::move(*store);
  };
  JobPast past;
  std::map<std::pair<std::uint32_t, RankJournal>, std::uint64_t> indices;
  OutputSizes written;
  std::string all;
  std::uint64_t items = 0;
  for (std::uint32_t life = 0; life < 4; ++life) {
    Job job(open(), life == 0 ? nullptr : &past);
    job.indices = indices;
    job.written = job.shown = written;
    const auto write = [&](const std::string& bytes, bool is_shown) {
      job.write(1, bytes, is_shown);
      all += bytes;
    };
    if (life == 0) write("begin;", true);
    for (std::uint32_t number = 5 * life + 1; number <= 5 * life + 5; ++number) {
      job.interval(number, 2);
      for (int line = 0; line < 10; ++line) {
        write(fmt::format("{}.{};", number, line), line < 9 || number % 5 != 0);
        job.end_cut();
      }
      if (number == 4) items = job.items_in(job_stream::output);
    }
    past = job.past();
    const JobPast::Rank& rank = past.ranks[1];
    const Gap gap = rank.shown_gap[0];
    CHECK(gap.begin == 6);
    CHECK(all.substr(gap.end).starts_with(fmt::format("{}.0;", 5 * life + 4)));
    CHECK(rank.shown[0] + rank.written_behind[0] == all.substr(0, gap.begin) + all.substr(gap.end));
    CHECK(rank.written_behind[0] == fmt::format("{}.9;", 5 * life + 5));
    CHECK(rank.given(0) == all.size() - rank.written_behind[0].size());
    CHECK(job.items_in(job_stream::output) <= items + 11);
    // What was not shown is written again.
    all.resize(rank.given(0));
    indices = job.indices;
    written = {{output_group(1, 1), rank.given(0)}};
  }
}
