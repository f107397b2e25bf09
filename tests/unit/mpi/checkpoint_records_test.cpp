// What a rank records behind its checkpoints, and what a successor repeats of it.
#include "io/ledger.hpp"
#include "profiles.hpp"
#include "replay/determinants.hpp"
#include "test.hpp"
#include "world/in_process.hpp"

using namespace llamada;
using namespace llamada::mpi;
using io::Ledger;
using io::OperationKind;
using replay::Determinants;
using replay::ValueId;

namespace {

/// A job of one rank, whose processes come one after the other.
struct Rank {
  Rank() {
    InProcessJob::Options options;
    options.profile = fault_tolerant();
    options.identity = &identity;
    job = std::move(*InProcessJob::create(options));
    begin_anew();
  }
  /// The next process of the rank.
  void begin_anew() {
    ledger.reset();
    determinants.reset();
    world.reset();
    world = std::move(*job->attach(0));
    auto opened = Determinants::open(*world);
    if (!opened) FAIL(opened.error().text());
    determinants = std::move(*opened);
  }
  void open_ledger() { ledger = std::move(*Ledger::open(*world)); }
  std::uint64_t value(std::uint64_t now) { return determinants->read_value(ValueId::wait_outcome, now); }

  std::string identity;
  std::unique_ptr<InProcessJob> job;
  std::unique_ptr<World> world;
  std::unique_ptr<Determinants> determinants;
  std::unique_ptr<Ledger> ledger;
};

/// What the job ends with; empty if it goes on.
template <typename Action>
std::string divergence(const Action& action) {
  try {
    action();
  } catch (const RankEnded& ended) {
    return ended.text;
  }
  return {};
}

}  // namespace

TEST_CASE("checkpoint records: the first process of a rank goes on from no checkpoint", "[mpi]") {
  Rank rank;
  CHECK(rank.determinants->goes_on_from() == 0);
  CHECK_FALSE(rank.determinants->was_passed(1));
  rank.determinants->pass_checkpoint(1);
  CHECK(rank.determinants->was_passed(1));
  CHECK_FALSE(rank.determinants->was_passed(2));
  CHECK(rank.determinants->goes_on_from() == 0);
}

TEST_CASE("checkpoint records: a successor repeats what lies before the first, and behind the last one",
          "[mpi]") {
  Rank rank;
  CHECK(rank.value(10) == 10);
  rank.determinants->pass_checkpoint(1);
  CHECK(rank.value(11) == 11);
  rank.determinants->pass_checkpoint(2);
  CHECK(rank.value(12) == 12);
  rank.determinants->record_fruitless();
  rank.begin_anew();
  CHECK(rank.determinants->goes_on_from() == 2);
  CHECK(rank.determinants->was_passed(2));
  CHECK_FALSE(rank.determinants->was_passed(3));
  CHECK(rank.determinants->replaying());
  CHECK(rank.value(90) == 10);
  CHECK_FALSE(rank.determinants->replaying());
  rank.determinants->pass_checkpoint(2);
  CHECK(rank.determinants->goes_on_from() == 0);
  CHECK(rank.determinants->replaying());
  CHECK(rank.value(91) == 12);
  CHECK(rank.determinants->replayer().take(replay::CallKind::test)->type == replay::Outcome::Type::fruitless);
  CHECK_FALSE(rank.determinants->replaying());
  // What is new belongs behind the same checkpoint, then behind the next.
  CHECK(rank.value(13) == 13);
  SECTION("it dies before the next") {
    rank.begin_anew();
    CHECK(rank.value(90) == 10);
    rank.determinants->pass_checkpoint(2);
    CHECK(rank.value(91) == 12);
    CHECK(rank.determinants->replayer().take(replay::CallKind::test));
    CHECK(rank.value(92) == 13);
    CHECK_FALSE(rank.determinants->replaying());
  }
  SECTION("it dies behind the next") {
    rank.determinants->pass_checkpoint(3);
    rank.begin_anew();
    CHECK(rank.determinants->goes_on_from() == 3);
    CHECK(rank.value(90) == 10);
    rank.determinants->pass_checkpoint(3);
    CHECK_FALSE(rank.determinants->replaying());
    CHECK(rank.value(14) == 14);
  }
}

TEST_CASE("checkpoint records: one that was passed is not recorded again", "[mpi]") {
  Rank rank;
  rank.determinants->pass_checkpoint(1);
  CHECK(rank.value(11) == 11);
  for (int process = 0; process < 2; ++process) {
    rank.begin_anew();
    CHECK_FALSE(rank.determinants->replaying());
    rank.determinants->pass_checkpoint(1);
    CHECK(rank.value(90) == 11);
    CHECK_FALSE(rank.determinants->replaying());
  }
}

TEST_CASE("checkpoint records: equal outcomes on both sides of a checkpoint stay apart", "[mpi]") {
  Rank rank;
  rank.determinants->record_fruitless();
  CHECK(rank.value(5) == 5);
  rank.determinants->pass_checkpoint(1);
  CHECK(rank.value(5) == 5);
  rank.determinants->record_fruitless();
  rank.determinants->pass_checkpoint(2);
  rank.determinants->record_fruitless();
  rank.begin_anew();
  CHECK(rank.determinants->replayer().take(replay::CallKind::test));
  CHECK(rank.value(90) == 5);
  CHECK_FALSE(rank.determinants->replaying());
  rank.determinants->pass_checkpoint(2);
  CHECK(rank.determinants->replayer().take(replay::CallKind::test));
  CHECK_FALSE(rank.determinants->replaying());
}

TEST_CASE("checkpoint records: matches behind a checkpoint are those of receives that count from it on",
          "[mpi]") {
  Rank rank;
  rank.determinants->record_match(1, {3, 1});
  rank.determinants->pass_checkpoint(1);
  rank.determinants->record_match(1, {4, 1});
  rank.begin_anew();
  CHECK(rank.determinants->replayer().take_match(1) == replay::Match{3, 1});
  CHECK_FALSE(rank.determinants->replayer().take_match(1));
  rank.determinants->pass_checkpoint(1);
  CHECK(rank.determinants->replayer().take_match(1) == replay::Match{4, 1});
}

TEST_CASE(
    "checkpoint records: a rank goes on from the checkpoint that the job goes on from, though it had not "
    "passed "
    "that itself",
    "[mpi]") {
  Rank rank;
  CHECK(rank.value(10) == 10);
  rank.determinants->pass_checkpoint(1);
  CHECK(rank.value(11) == 11);
  rank.identity = "resumed=1\ncheckpoint=2\n";
  rank.begin_anew();
  CHECK(rank.determinants->goes_on_from() == 2);
  CHECK(rank.determinants->was_passed(1));
  CHECK_FALSE(rank.determinants->was_passed(2));
  CHECK(rank.value(90) == 10);
  // What it had recorded behind the first is before the second.
  rank.determinants->pass_checkpoint(2);
  CHECK_FALSE(rank.determinants->replaying());
  CHECK(rank.value(12) == 12);
  rank.begin_anew();
  CHECK(rank.determinants->goes_on_from() == 2);
  CHECK(rank.determinants->was_passed(2));
  CHECK(rank.value(90) == 10);
  rank.determinants->pass_checkpoint(2);
  CHECK(rank.value(91) == 12);
}

TEST_CASE(
    "checkpoint records: a rank that has passed later ones than the job was told of goes on from its own",
    "[mpi]") {
  Rank rank;
  rank.determinants->pass_checkpoint(1);
  rank.determinants->pass_checkpoint(2);
  rank.determinants->pass_checkpoint(3);
  rank.identity = "resumed=1\ncheckpoint=2\n";
  rank.begin_anew();
  CHECK(rank.determinants->goes_on_from() == 3);
}

TEST_CASE(
    "checkpoint records: a later life of the job goes on from an earlier checkpoint, and repeats what "
    "follows",
    "[mpi]") {
  Rank rank;
  CHECK(rank.value(10) == 10);
  for (const std::uint32_t checkpoint : {1, 2, 3}) {
    rank.determinants->pass_checkpoint(checkpoint);
    CHECK(rank.value(10 + checkpoint) == 10 + checkpoint);
  }
  rank.identity = "resumed=1\nlife=7\ncheckpoint=2\n";
  // The second process is the replacement of the first one in that life.
  for (int process = 0; process < 2; ++process) {
    rank.begin_anew();
    CHECK(rank.determinants->goes_on_from() == 2);
    CHECK(rank.determinants->was_passed(3));
    CHECK(rank.value(90) == 10);
    rank.determinants->pass_checkpoint(2);
    CHECK(rank.value(91) == 12);
    CHECK_FALSE(rank.determinants->replaying());
    CHECK(rank.determinants->is_checkpoint_left());
  }
  rank.determinants->pass_checkpoint(3);
  CHECK(rank.value(92) == 13);
  CHECK_FALSE(rank.determinants->is_checkpoint_left());
  CHECK(rank.value(14) == 14);
  SECTION("a replacement in that life goes on from what that life has passed") {
    rank.begin_anew();
    CHECK(rank.determinants->goes_on_from() == 3);
    CHECK(rank.value(90) == 10);
    rank.determinants->pass_checkpoint(3);
    CHECK(rank.value(91) == 13);
    CHECK(rank.value(92) == 14);
    CHECK_FALSE(rank.determinants->replaying());
  }
  SECTION("another life goes on from the beginning") {
    rank.identity = "resumed=1\nlife=9\n";
    rank.begin_anew();
    CHECK(rank.determinants->goes_on_from() == 0);
    CHECK(rank.determinants->is_checkpoint_left());
    CHECK(rank.value(90) == 10);
    for (const std::uint32_t checkpoint : {1, 2, 3}) {
      CHECK_FALSE(rank.determinants->replaying());
      rank.determinants->pass_checkpoint(checkpoint);
      CHECK(rank.value(91) == 10 + checkpoint);
    }
    CHECK(rank.value(92) == 14);
    CHECK_FALSE(rank.determinants->replaying());
    CHECK_FALSE(rank.determinants->is_checkpoint_left());
  }
}

TEST_CASE("checkpoint records: what a later life records behind an earlier checkpoint follows the old record",
          "[mpi]") {
  Rank rank;
  rank.determinants->pass_checkpoint(1);
  CHECK(rank.value(11) == 11);
  rank.identity = "resumed=1\nlife=7\ncheckpoint=1\n";
  rank.begin_anew();
  rank.determinants->pass_checkpoint(1);
  CHECK(rank.value(90) == 11);
  CHECK(rank.value(12) == 12);
  rank.begin_anew();
  rank.determinants->pass_checkpoint(1);
  CHECK(rank.value(91) == 11);
  CHECK(rank.value(92) == 12);
  CHECK_FALSE(rank.determinants->replaying());
}

TEST_CASE("checkpoint records: a rank without protection passes checkpoints, and records nothing", "[mpi]") {
  Rank rank;
  rank.determinants->stop_recording();
  rank.determinants->pass_checkpoint(1);
  rank.begin_anew();
  CHECK(rank.determinants->goes_on_from() == 0);
}

TEST_CASE("checkpoint records: clocks that a program was told of never go back", "[mpi]") {
  Rank rank;
  CHECK(rank.determinants->told_clocks().empty());
  CHECK(rank.determinants->read_clock(ValueId::time, 1000) == 1000);
  const auto told = rank.determinants->told_clocks();
  REQUIRE(told.size() == 1);
  CHECK(told[0].last == 1000);
  rank.determinants->pass_checkpoint(1);
  CHECK(rank.determinants->read_clock(ValueId::time, 1500) == 1500);
  SECTION("in a process that goes on from the checkpoint, on a machine whose clock is behind") {
    rank.begin_anew();
    CHECK(rank.determinants->read_clock(ValueId::time, 10) == 1000);
    rank.determinants->restore_clocks(told);
    rank.determinants->pass_checkpoint(1);
    CHECK(rank.determinants->read_clock(ValueId::time, 10) == 1500);
    CHECK(rank.determinants->read_clock(ValueId::time, 20) == 1500);
    CHECK(rank.determinants->read_clock(ValueId::time, 25) == 1505);
    CHECK(rank.determinants->told_clocks()[0].last == 1505);
  }
  SECTION("in one that has recorded nothing behind it") {
    Rank other;
    other.determinants->restore_clocks(told);
    CHECK(other.determinants->read_clock(ValueId::time, 10) == 1000);
    CHECK(other.determinants->read_clock(ValueId::time, 11) == 1001);
  }
  SECTION("nor do they stand still where they are ahead") {
    Rank other;
    other.determinants->restore_clocks(told);
    CHECK(other.determinants->read_clock(ValueId::time, 5000) == 5000);
  }
  SECTION("a checkpoint does not take back what was told behind it") {
    rank.determinants->restore_clocks(told);
    CHECK(rank.determinants->told_clocks()[0].last == 1500);
    CHECK(rank.determinants->read_clock(ValueId::time, 100) == 1500);
  }
}

TEST_CASE(
    "checkpoint records: a file's operations before the first and behind the last checkpoint are repeated",
    "[mpi]") {
  Rank rank;
  rank.open_ledger();
  const auto write = [&](std::uint32_t digest) {
    rank.ledger->begin(OperationKind::write, digest);
    rank.ledger->record({.kind = OperationKind::write, .digest = digest});
  };
  const auto pass = [&](std::uint32_t checkpoint) {
    rank.world->pass_checkpoint(checkpoint);
    rank.ledger->pass_checkpoint();
  };
  CHECK(rank.ledger->next_number() == 1);
  write(70);
  write(71);
  CHECK(rank.ledger->next_number() == 3);
  pass(1);
  CHECK(rank.ledger->next_number() == 1);
  write(72);
  pass(2);
  rank.ledger->keep(std::vector<std::byte>(20, std::byte{5}));
  rank.ledger->record({.kind = OperationKind::read, .digest = 73, .value = 20, .has_data = true});
  rank.ledger->begin(OperationKind::create, 74);
  rank.ledger->announce();

  rank.begin_anew();
  rank.open_ledger();
  CHECK(rank.ledger->replaying());
  CHECK(rank.ledger->take(OperationKind::write, 70).error_number == 0);
  CHECK(rank.ledger->left_over() == io::to_string(OperationKind::write));
  CHECK(rank.ledger->take(OperationKind::write, 71).error_number == 0);
  CHECK(rank.ledger->left_over().empty());
  CHECK_FALSE(rank.ledger->replaying());
  CHECK_FALSE(rank.ledger->was_announced());
  SECTION("from the last") {
    pass(2);
    CHECK(rank.ledger->take(OperationKind::read, 73).data == std::vector<std::byte>(20, std::byte{5}));
    CHECK_FALSE(rank.ledger->replaying());
    CHECK(rank.ledger->left_over() == io::to_string(OperationKind::create));
    CHECK(rank.ledger->was_announced());
    rank.ledger->begin(OperationKind::create, 74);
    rank.ledger->record({.kind = OperationKind::create, .digest = 74});
    CHECK(rank.ledger->left_over().empty());
    // What follows is repeated by the next one, behind the same checkpoint.
    rank.begin_anew();
    rank.open_ledger();
    CHECK(rank.ledger->take(OperationKind::write, 70).error_number == 0);
    CHECK(rank.ledger->take(OperationKind::write, 71).error_number == 0);
    pass(2);
    CHECK(rank.ledger->take(OperationKind::read, 73).has_data);
    CHECK(rank.ledger->take(OperationKind::create, 74).error_number == 0);
    CHECK(rank.ledger->left_over().empty());
  }
  SECTION("from one that it had not passed") {
    pass(3);
    CHECK_FALSE(rank.ledger->replaying());
    CHECK(rank.ledger->left_over().empty());
    CHECK_FALSE(rank.ledger->was_announced());
    write(75);
    rank.begin_anew();
    rank.open_ledger();
    CHECK(rank.ledger->take(OperationKind::write, 70).error_number == 0);
    CHECK(rank.ledger->take(OperationKind::write, 71).error_number == 0);
    pass(3);
    CHECK(rank.ledger->take(OperationKind::write, 75).error_number == 0);
    CHECK_FALSE(rank.ledger->replaying());
  }
  SECTION("another operation behind the checkpoint than the predecessor's is a divergence") {
    pass(2);
    CHECK(divergence([&] { rank.ledger->take(OperationKind::read, 99); }).find("diverged") !=
          std::string::npos);
  }
}

TEST_CASE(
    "checkpoint records: a file's operations behind an earlier checkpoint and the next ones are repeated",
    "[mpi]") {
  Rank rank;
  rank.open_ledger();
  const auto pass = [&](std::uint32_t checkpoint) {
    rank.world->pass_checkpoint(checkpoint);
    rank.ledger->pass_checkpoint();
  };
  const auto sync = [&](std::uint32_t digest) {
    rank.ledger->record({.kind = OperationKind::sync, .digest = digest});
  };
  pass(1);
  sync(71);
  pass(2);
  sync(72);
  // The job goes on from 1, and comes to the end of what was recorded behind 2.
  rank.begin_anew();
  rank.open_ledger();
  CHECK_FALSE(rank.ledger->replaying());
  pass(1);
  CHECK(rank.ledger->take(OperationKind::sync, 71).error_number == 0);
  CHECK_FALSE(rank.ledger->replaying());
  pass(2);
  CHECK(rank.ledger->take(OperationKind::sync, 72).error_number == 0);
  sync(73);
  rank.begin_anew();
  rank.open_ledger();
  SECTION("a replacement behind the later one") {
    pass(2);
    CHECK(rank.ledger->take(OperationKind::sync, 72).error_number == 0);
    CHECK(rank.ledger->take(OperationKind::sync, 73).error_number == 0);
  }
  SECTION("another return to the earlier one") {
    pass(1);
    CHECK(rank.ledger->take(OperationKind::sync, 71).error_number == 0);
    CHECK_FALSE(rank.ledger->replaying());
    sync(74);
    rank.begin_anew();
    rank.open_ledger();
    pass(1);
    CHECK(rank.ledger->take(OperationKind::sync, 71).error_number == 0);
    CHECK(rank.ledger->take(OperationKind::sync, 74).error_number == 0);
  }
}

TEST_CASE(
    "checkpoint records: a program that opens its first file behind a checkpoint finds that record only",
    "[mpi]") {
  Rank rank;
  rank.world->pass_checkpoint(2);
  rank.open_ledger();
  rank.ledger->record({.kind = OperationKind::sync, .digest = 70});
  rank.begin_anew();
  CHECK(Ledger::is_there(*rank.world));
  SECTION("when it looks behind the checkpoint") {
    rank.world->pass_checkpoint(2);
    rank.open_ledger();
    CHECK(rank.ledger->take(OperationKind::sync, 70).error_number == 0);
  }
  SECTION("when it looks before") {
    rank.open_ledger();
    CHECK_FALSE(rank.ledger->replaying());
    rank.world->pass_checkpoint(2);
    rank.ledger->pass_checkpoint();
    CHECK(rank.ledger->replaying());
  }
}
