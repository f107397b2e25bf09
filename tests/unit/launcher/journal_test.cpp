#include "output_journal.hpp"

#include "line_merger.hpp"
#include "llamada/base/random.hpp"
#include "test.hpp"

using namespace llamada;
using namespace llamada::launcher;

namespace {

std::string text_of(std::size_t size, std::uint64_t seed) {
  Random random(seed);
  std::string text;
  for (std::size_t i = 0; i < size; ++i) text += static_cast<char>('a' + random.below(26));
  return text;
}

/// Writes in pieces of random size; what was fresh. Fails the test at a difference.
std::string write(OutputJournal& journal, std::string_view text, Random& random) {
  std::string fresh;
  while (!text.empty()) {
    const std::size_t count = 1 + random.below(std::min<std::size_t>(text.size(), 9000));
    const OutputJournal::Taken taken = journal.take(text.substr(0, count));
    REQUIRE_FALSE(taken.difference);
    fresh += taken.fresh;
    text.remove_prefix(count);
  }
  return fresh;
}

}  // namespace

TEST_CASE("journal: what a replacement repeats is not delivered again, whatever the pieces", "[launcher]") {
  Random random(1);
  for (int round = 0; round < 300; ++round) {
    const std::string text = text_of(random.below(40'000), random.next());
    OutputJournal journal;
    std::string delivered;
    for (int incarnation = 0; incarnation < 4; ++incarnation) {
      const std::size_t end = incarnation == 3 ? text.size() : random.below(text.size() + 1);
      delivered += write(journal, std::string_view(text).substr(0, end), random);
      if (incarnation < 3) journal.begin_incarnation();
    }
    REQUIRE(delivered == text);
    REQUIRE_FALSE(journal.repeating());
  }
}

TEST_CASE("journal: a difference is found, to the block, or to the byte in the last one", "[launcher]") {
  Random random(2);
  for (int round = 0; round < 300; ++round) {
    const std::string text = text_of(1 + random.below(20'000), random.next());
    OutputJournal journal;
    write(journal, text, random);
    journal.begin_incarnation();
    std::string other = text;
    const std::size_t at = random.below(text.size());
    other[at] = '!';
    const OutputJournal::Taken taken = journal.take(other);
    REQUIRE(taken.difference);
    REQUIRE((taken.difference->first_byte <= at && at <= taken.difference->last_byte));
    const std::size_t whole_blocks = text.size() / OutputJournal::block_size_bytes;
    if (at >= whole_blocks * OutputJournal::block_size_bytes) REQUIRE(taken.difference->first_byte == at);
    REQUIRE(taken.difference->held.size() <= OutputJournal::block_size_bytes);
  }
}

TEST_CASE("journal: nothing of what differs is lost when it is delivered on from there", "[launcher]") {
  OutputJournal journal;
  journal.take("warning: a\nwarning: b\n");
  journal.begin_incarnation();
  std::string shown;
  for (const char* part : {"warning: a\nwar", "ning: c\nmore\n"}) {
    const OutputJournal::Taken taken = journal.take(part);
    if (taken.difference) shown += taken.difference->held;
    shown += taken.fresh;
  }
  CHECK(shown == "warning: a\nwarning: c\nmore\n");
}

TEST_CASE("journal: a replacement that ends early is still repeating", "[launcher]") {
  OutputJournal journal;
  journal.take("0123456789");
  journal.begin_incarnation();
  journal.take("01234");
  CHECK(journal.repeating());
  CHECK(journal.position() == 5);
  CHECK(journal.delivered() == 10);
}

TEST_CASE("lines: half lines of different ranks do not mix", "[launcher]") {
  LineMerger merger("");
  std::string out;
  merger.take(0, "aa", out);
  merger.take(1, "bb\nb", out);
  CHECK(out == "bb\n");
  merger.take(0, "aa\n", out);
  CHECK(out == "bb\naaaa\n");
  CHECK(merger.has_partial());
  merger.end(1, out);
  CHECK(out == "bb\naaaa\nb");
  CHECK(merger.within_line());
  CHECK_FALSE(merger.has_partial());
}

TEST_CASE("lines: a tag stands at the beginning of each line, once", "[launcher]") {
  LineMerger merger("[%r] ");
  std::string out;
  merger.take(3, "one\ntwo\nthr", out);
  merger.flush_partial(out);
  merger.take(3, "ee\nfour\n", out);
  CHECK(out == "[3] one\n[3] two\n[3] three\n[3] four\n");
}

TEST_CASE("lines: a prefix is MPICH's pattern", "[launcher]") {
  LineMerger merger("%r of %p, 100%%, %x>");
  std::string out;
  merger.take(3, "one\ntwo\n", out);
  CHECK(out == "3 of 0, 100%, %x>one\n3 of 0, 100%, %x>two\n");
}

TEST_CASE("lines: %h is the host of the rank", "[launcher]") {
  LineMerger merger("[%r@%h] ", {"a", "b"});
  std::string out;
  merger.take(1, "one\n", out);
  CHECK(out == "[1@b] one\n");
}

TEST_CASE("lines: an endless line is not kept for ever", "[launcher]") {
  LineMerger merger("");
  std::string out;
  merger.take(0, std::string(LineMerger::line_size_bytes_max + 1, 'x'), out);
  CHECK(out.size() == LineMerger::line_size_bytes_max + 1);
}

namespace {

constexpr std::size_t block_bytes = OutputJournal::block_size_bytes;

/// A journal with this text, whose next incarnation goes on at a place.
OutputJournal journal_going_on(const std::string& text, std::uint64_t place) {
  OutputJournal journal;
  CHECK(journal.take(text).fresh == text);
  journal.begin_incarnation();
  journal.go_on_at(place);
  return journal;
}

}  // namespace

TEST_CASE("journal: who goes on in the middle repeats the rest, and what follows is new", "[launcher]") {
  const std::string text = text_of(3 * block_bytes + 100, 7);
  for (const std::size_t place :
       {std::size_t{0}, std::size_t{1}, block_bytes - 1, block_bytes, block_bytes + 7, 3 * block_bytes,
        3 * block_bytes + 50, 3 * block_bytes + 100}) {
    CAPTURE(place);
    OutputJournal journal = journal_going_on(text, place);
    CHECK(journal.position() == place);
    CHECK(journal.left() == text.size() - place);
    const std::size_t half = (text.size() - place) / 2;
    const auto first = journal.take(std::string_view(text).substr(place, half));
    CHECK_FALSE(first.difference);
    CHECK(first.fresh.empty());
    const std::string rest = text.substr(place + half) + "new";
    const auto second = journal.take(rest);
    CHECK_FALSE(second.difference);
    CHECK(second.fresh == "new");
    CHECK(journal.delivered() == text.size() + 3);
    CHECK_FALSE(journal.repeating());
    // The incarnation after it begins at the start again.
    journal.begin_incarnation();
    const std::string all = text + "new and more";
    const auto third = journal.take(all);
    CHECK_FALSE(third.difference);
    CHECK(third.fresh == " and more");
  }
}

TEST_CASE("journal: a difference behind the block in which one went on is found", "[launcher]") {
  const std::string text = text_of(3 * block_bytes + 100, 7);
  const std::size_t place = block_bytes + 7;
  const auto with_other_byte = [&](std::size_t at) {
    std::string other = text.substr(place);
    other[at - place] ^= 1;
    return other;
  };
  SECTION("in the next block") {
    const std::string other = with_other_byte(2 * block_bytes + 9);
    const auto taken = journal_going_on(text, place).take(other);
    REQUIRE(taken.difference);
    CHECK(taken.difference->first_byte == 2 * block_bytes);
    CHECK(taken.difference->last_byte == 3 * block_bytes - 1);
    CHECK(taken.difference->held == other.substr(2 * block_bytes - place, block_bytes));
  }
  SECTION("in the last, partial one") {
    const auto taken = journal_going_on(text, place).take(with_other_byte(3 * block_bytes + 9));
    REQUIRE(taken.difference);
    CHECK(taken.difference->first_byte == 3 * block_bytes + 9);
    CHECK(taken.difference->last_byte == 3 * block_bytes + 9);
  }
  SECTION("in the first whole one, if it begins there") {
    std::string other = text.substr(block_bytes);
    other[0] ^= 1;
    const auto taken = journal_going_on(text, block_bytes).take(other);
    REQUIRE(taken.difference);
    CHECK(taken.difference->first_byte == block_bytes);
  }
  SECTION("but not in that block, of which the beginning is not known") {
    CHECK_FALSE(journal_going_on(text, place).take(with_other_byte(place)).difference);
    CHECK_FALSE(journal_going_on(text, place).take(with_other_byte(2 * block_bytes - 1)).difference);
  }
}
