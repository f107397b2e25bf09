#include "replay/replayer.hpp"

#include "llamada/log/cuts.hpp"
#include "test.hpp"

using namespace llamada;
using namespace llamada::mpi::replay;
using llamada::log::JournalEntry;

namespace {

Replayer read(const std::vector<JournalEntry>& entries) {
  auto replayer = Replayer::read(entries);
  REQUIRE(replayer);
  return std::move(*replayer);
}

std::vector<std::uint32_t> numbers(std::uint32_t count) {
  std::vector<std::uint32_t> list;
  for (std::uint32_t i = 0; i < count; ++i) list.push_back(i * 3 + 1);
  return list;
}

}  // namespace

TEST_CASE("replay: nothing recorded, nothing to replay") {
  Replayer replayer = read({});
  CHECK_FALSE(replayer.outcomes_left());
  CHECK_FALSE(replayer.anything_left());
  CHECK_FALSE(replayer.take_match(0));
}

TEST_CASE("replay: matches are found by the number of the receive, also beyond 32 bits, and once") {
  const std::uint64_t far = 0x1234'5678'9abcULL;
  Replayer replayer = read({match_entry(3, {7, 1}), match_entry(far, {0xffffff, 0x1234'5678'9abcULL})});
  CHECK(replayer.anything_left());
  CHECK_FALSE(replayer.outcomes_left());
  CHECK(replayer.take_match(far) == Match{0xffffff, 0x1234'5678'9abcULL});
  CHECK(replayer.take_match(3) == Match{7, 1});
  CHECK_FALSE(replayer.take_match(3));
  CHECK_FALSE(replayer.anything_left());
  CHECK(replayer.replayed() == 2);
}

TEST_CASE("replay: marks of cuts are passed over, also between equal outcomes") {
  const JournalEntry mark{llamada::log::cut_mark, 0, 7};
  Replayer replayer = read({mark, fruitless_entry(), mark, fruitless_entry(), mark});
  for (int call = 0; call < 2; ++call) CHECK(replayer.take(CallKind::test)->type == Outcome::Type::fruitless);
  CHECK_FALSE(replayer.anything_left());
}

TEST_CASE("replay: fruitless calls count down, of whatever kind, over entries apart") {
  JournalEntry three = fruitless_entry();
  three.count = 3;
  Replayer replayer =
      read({three, match_entry(0, {1, 1}), fruitless_entry(), message_entry(CallKind::iprobe, {2, 5})});
  for (const CallKind kind : {CallKind::test, CallKind::iprobe, CallKind::testsome, CallKind::test}) {
    auto outcome = replayer.take(kind);
    REQUIRE(outcome);
    CHECK(outcome->type == Outcome::Type::fruitless);
  }
  auto found = replayer.take(CallKind::iprobe);
  REQUIRE(found);
  CHECK(found->message == Match{2, 5});
  CHECK_FALSE(replayer.outcomes_left());
}

TEST_CASE("replay: lists of indices of any length come back whole") {
  for (std::uint32_t count = 0; count < 12; ++count) {
    const auto indices = numbers(count);
    auto entries = completion_entries(CallKind::waitsome, indices);
    entries.push_back(fruitless_entry());
    Replayer replayer = read(entries);
    auto outcome = replayer.take(CallKind::waitsome);
    REQUIRE(outcome);
    CHECK(outcome->indices == indices);
    CHECK(replayer.take(CallKind::test)->type == Outcome::Type::fruitless);
  }
}

TEST_CASE("replay: a list that a death has cut short counts for nothing, what was recorded later counts") {
  const auto indices = numbers(9);
  const auto whole = completion_entries(CallKind::waitsome, indices);
  for (std::size_t kept = 1; kept < whole.size(); ++kept) {
    std::vector<JournalEntry> entries(whole.begin(), whole.begin() + static_cast<std::ptrdiff_t>(kept));
    CHECK_FALSE(read(entries).outcomes_left());
    entries.insert(entries.end(), whole.begin(), whole.end());
    Replayer replayer = read(entries);
    CHECK(replayer.take(CallKind::waitsome)->indices == indices);
    CHECK_FALSE(replayer.outcomes_left());
  }
}

TEST_CASE("replay: cancellations are known from the start and have their place in the sequence") {
  Replayer replayer =
      read({fruitless_entry(), cancelled_entry(5), completion_entries(CallKind::cancel, {}).front()});
  CHECK(replayer.is_cancelled(5));
  CHECK_FALSE(replayer.is_cancelled(4));
  CHECK_FALSE(replayer.take_cancel(5));
  REQUIRE(replayer.take(CallKind::test));
  CHECK_FALSE(replayer.take_cancel(6));
  CHECK(replayer.take_cancel(5).value());
  CHECK_FALSE(replayer.take_cancel(6).value());
}

TEST_CASE("replay: a call of another kind is a divergence that names both") {
  Replayer replayer = read(completion_entries(CallKind::test, {}));
  auto outcome = replayer.take(CallKind::iprobe);
  REQUIRE_FALSE(outcome);
  CHECK(outcome.error().code() == Errc::diverged);
  CHECK(outcome.error().text() == "where MPI_Test was recorded the replacement called MPI_Iprobe");
  CHECK_FALSE(replayer.take_value(ValueId::time));
  CHECK(replayer.outcomes_left());
}

TEST_CASE("replay: a call that cannot be fruitless does not fit a fruitless one") {
  Replayer replayer = read({fruitless_entry()});
  CHECK_FALSE(replayer.take(CallKind::waitany));
  CHECK_FALSE(replayer.take(CallKind::probe));
}

TEST_CASE("replay: equal values are counted, clocks are apart") {
  JournalEntry twice = value_entry(ValueId::time, 1700000000);
  twice.count = 2;
  Replayer replayer = read({twice, value_entry(ValueId::wtime, 5)});
  CHECK(replayer.take_value(ValueId::time).value() == 1700000000);
  CHECK_FALSE(replayer.take_value(ValueId::wtime));
  CHECK(replayer.take_value(ValueId::time).value() == 1700000000);
  CHECK(replayer.take_value(ValueId::wtime).value() == 5);
}

TEST_CASE("replay: random bytes come back, of any length") {
  for (std::size_t size : {0U, 1U, 8U, 9U, 30U}) {
    std::vector<std::byte> bytes(size);
    for (std::size_t i = 0; i < size; ++i) bytes[i] = static_cast<std::byte>(i * 7 + 1);
    Replayer replayer = read(bytes_entries(bytes));
    CHECK(replayer.take_bytes(size).value() == bytes);
  }
}

TEST_CASE("replay: an entry of an unknown type is refused") {
  const std::vector<JournalEntry> entries{{200, 0, 0}};
  auto replayer = Replayer::read(entries);
  REQUIRE_FALSE(replayer);
  CHECK(replayer.error().code() == Errc::parse_error);
}
