#include "rank_output.hpp"

#include <algorithm>
#include <optional>
#include <string>

#include "llamada/base/random.hpp"
#include "test.hpp"

using namespace llamada;
using namespace llamada::launcher;
using Finding = RankOutput::Finding;

TEST_CASE("output: a replacement's repeated bytes are not delivered, new ones once its replay is over",
          "[launcher]") {
  RankOutput output;
  CHECK(output.take(0, "one two ").bytes == "one two ");
  output.begin_incarnation(false);
  CHECK(output.repetition() == Repetition::before);
  CHECK(output.take(0, "one ").bytes.empty());
  CHECK(output.reached(ReplayPlace::last_call_begins, true) == Finding::as_before);
  CHECK(output.take(0, "two three").bytes.empty());
  CHECK(output.reached(ReplayPlace::over, true) == Finding::as_before);
  CHECK(output.release().bytes == "three");
  CHECK(output.take(0, "!").bytes == "!");
}

TEST_CASE("output: of a replay that writes something else it says where", "[launcher]") {
  RankOutput output;
  CHECK(output.take(0, "abc").bytes == "abc");
  output.begin_incarnation(true);
  const auto delivery = output.take(0, "abX");
  REQUIRE(delivery.difference);
  CHECK(delivery.difference->first_byte == 2);
  CHECK(delivery.bytes.empty());
}

TEST_CASE("output: a replay that writes more or less than before is found, if it writes alone",
          "[launcher]") {
  const bool may_judge = GENERATE(true, false);
  RankOutput more;
  more.begin_incarnation(false);
  CHECK(more.take(0, "early").bytes.empty());
  CHECK(more.reached(ReplayPlace::last_call_begins, may_judge) ==
        (may_judge ? Finding::wrote_more : Finding::as_before));
  RankOutput less;
  CHECK(less.take(0, "abc").bytes == "abc");
  less.begin_incarnation(false);
  CHECK(less.take(0, "a").bytes.empty());
  CHECK(less.is_short());
  CHECK(less.end().first_byte == 1);
  CHECK(less.reached(ReplayPlace::over, may_judge) == (may_judge ? Finding::wrote_less : Finding::as_before));
}

TEST_CASE("output: standard error may differ, and is shown from there on", "[launcher]") {
  RankOutput output;
  CHECK(output.take(1, "abc").bytes == "abc");
  output.begin_incarnation(true);
  const auto delivery = output.take(1, "aXc and more");
  CHECK(delivery.bytes == "aXc and more");
  CHECK_FALSE(delivery.difference);
}

namespace {

/// Text of which each byte tells where it is.
std::string text_of(std::size_t bytes) {
  std::string text;
  for (int line = 0; text.size() < bytes; ++line) text += std::to_string(line) + ";";
  text.resize(bytes);
  return text;
}

constexpr std::size_t bytes_of_block = OutputJournal::block_size_bytes;

}  // namespace

TEST_CASE("output: what a resumed rank wrote before its checkpoint and was not shown is delivered, once",
          "[launcher]") {
  const int stream = GENERATE(0, 1);
  RankOutput output;
  output.restore(stream, "shown ", {}, "not shown, behind");
  CHECK(output.written() == WrittenOutput{0, 0});
  CHECK(output.take(stream, "sho").bytes.empty());
  SECTION("the checkpoint is behind what was shown") {
    CHECK(output.go_on_from(stream, 16) == "not shown,");
    CHECK(output.written()[static_cast<std::size_t>(stream)] == 16);
    CHECK(output.take(stream, " behind").bytes == " behind");
  }
  SECTION("what was shown is behind the checkpoint") {
    CHECK(output.go_on_from(stream, 4).empty());
    CHECK(output.take(stream, "n not shown,").bytes == "not shown,");
  }
  SECTION("the rank has come behind what was shown already") {
    CHECK(output.take(stream, "wn not ").bytes == "not ");
    CHECK(output.go_on_from(stream, 16) == "shown,");
    CHECK(output.take(stream, "!").bytes == "!");
  }
  SECTION("a replacement goes on from the same") {
    CHECK(output.go_on_from(stream, 16) == "not shown,");
    output.begin_incarnation(true);
    CHECK(output.take(stream, "shown ").bytes.empty());
    CHECK(output.go_on_from(stream, 16).empty());
    CHECK(output.take(stream, " behind").bytes == " behind");
  }
  SECTION("a replacement goes on from a later one") {
    CHECK(output.go_on_from(stream, 16) == "not shown,");
    CHECK(output.take(stream, " behind").bytes == " behind");
    output.begin_incarnation(true);
    CHECK(output.go_on_from(stream, 20).empty());
    CHECK(output.take(stream, "ind, more").bytes == ", more");
  }
}

TEST_CASE(
    "output: what a replacement writes within its predecessor's last call and before its checkpoint is not "
    "delivered twice",
    "[launcher]") {
  // A resumed rank that died in its first checkpoint, before its buffer was written out.
  RankOutput output;
  output.restore(0, "", {}, "begin;more;");
  output.begin_incarnation(false);
  CHECK(output.reached(ReplayPlace::last_call_begins, true) == Finding::as_before);
  CHECK(output.take(0, "begin;").bytes.empty());
  CHECK(output.written()[0] == 6);
  CHECK(output.go_on_from(0, 11) == "begin;more;");
  CHECK(output.written()[0] == 11);
  CHECK(output.reached(ReplayPlace::last_call_ended, true) == Finding::as_before);
  CHECK(output.release().bytes.empty());
  CHECK(output.take(0, "new").bytes == "new");
}

namespace {

/// A rank that always writes the same text, over incarnations that go on from checkpoints; and the user, who
/// is to get each byte of it once.
struct DeterministicRank {
  DeterministicRank(std::uint64_t seed, int stream)
      : random(seed), stream(stream), text(text_of(1 + random.below(5 * bytes_of_block))) {
    first_checkpoint = random.below(text.size() + 1);
    const std::size_t shown = random.below(text.size() + 1);
    const std::size_t behind = random.below(text.size() - shown + 1);
    got = text.substr(0, shown);
    output.restore(stream, got, {}, text.substr(shown, behind));
    if (const std::size_t kept = shown + behind; kept >= first_checkpoint && random.chance(3, 4))
      checkpoint = first_checkpoint + random.below(kept - first_checkpoint + 1);
    furthest = shown;
  }

  void get(std::string_view bytes) { got += bytes; }
  void write_up_to(std::size_t end) {
    while (place < end) {
      const std::size_t count = 1 + random.below(std::min<std::size_t>(end - place, 3000));
      const auto delivery = output.take(stream, std::string_view(text).substr(place, count));
      CHECK_FALSE(delivery.difference);
      get(delivery.bytes);
      place += count;
      furthest = std::max(furthest, place);
      check();
    }
  }
  void check() const {
    CHECK((got == text.substr(0, furthest)));  // without showing them
    CHECK(output.written()[static_cast<std::size_t>(stream)] == place);
  }
  /// One incarnation, which ends anywhere.
  void live() {
    place = 0;
    write_up_to(random.chance(1, 6) ? random.below(first_checkpoint + 1) : first_checkpoint);
    if (place < first_checkpoint) return;
    if (checkpoint) {
      get(output.go_on_from(stream, *checkpoint));
      place = *checkpoint;
      furthest = std::max(furthest, place);
      check();
    }
    while (place < text.size() && !random.chance(1, 4)) {
      if (random.chance(1, 2)) checkpoint = place;
      write_up_to(place + 1 + random.below(text.size() - place));
    }
  }

  Random random;
  int stream;
  std::string text;
  std::size_t first_checkpoint = 0;
  std::optional<std::size_t> checkpoint;
  std::string got;
  std::size_t place = 0, furthest = 0;
  RankOutput output;
};

}  // namespace

TEST_CASE("output: over any incarnations that go on from any checkpoints, each byte is delivered once",
          "[launcher]") {
  for (std::uint64_t seed = 1; seed <= 500; ++seed) {
    CAPTURE(seed);
    DeterministicRank rank(seed, static_cast<int>(seed % 2));
    for (int incarnation = 0; incarnation < 6; ++incarnation) {
      if (incarnation > 0) rank.output.begin_incarnation(true);
      rank.live();
    }
  }
}

TEST_CASE("output: what is no longer known of it is not compared, and what is beside it is", "[launcher]") {
  for (const std::uint64_t gap_bytes : {1ULL, 100ULL, 4000ULL, 5000ULL, 100'000ULL}) {
    CAPTURE(gap_bytes);
    std::string text;
    while (text.size() < 150'000) text += fmt::format("{} ", text.size());
    const Gap gap{10'000, 10'000 + gap_bytes};
    const auto fresh = [&] {
      RankOutput output;
      output.restore(0, text.substr(0, gap.begin) + text.substr(gap.end, 130'000 - gap.end), gap, "");
      return output;
    };
    const auto write = [&](RankOutput& output, std::string bytes, std::uint64_t place) {
      if (place > 0) CHECK(output.go_on_from(0, place).empty());
      std::string got;
      for (std::size_t at = place; at < bytes.size(); at += 777) {
        auto delivery = output.take(0, std::string_view(bytes).substr(at, 777));
        if (delivery.difference) return std::string("differs");
        got += delivery.bytes;
      }
      return got;
    };
    auto output = fresh();
    CHECK(output.written()[0] == 0);
    CHECK((write(output, text, 0) == text.substr(130'000)));
    // The beginning, then from behind the gap on.
    output = fresh();
    for (std::size_t at = 0; at < gap.begin; at += 100)
      CHECK(output.take(0, text.substr(at, 100)).bytes.empty());
    CHECK((write(output, text, gap.end) == text.substr(130'000)));
    for (const std::size_t wrong :
         {std::size_t{5}, std::size_t{7000}, std::size_t{120'000}, std::size_t{129'999}}) {
      std::string other = text;
      other[wrong] = '#';
      output = fresh();
      CHECK(write(output, other, 0) == "differs");
    }
  }
}
