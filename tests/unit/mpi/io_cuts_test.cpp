// What a rank records belongs to cuts, and what it does outside its job waits for them.
#include "io/ledger.hpp"
#include "llamada/log/cuts.hpp"
#include "profiles.hpp"
#include "replay/determinants.hpp"
#include "test.hpp"
#include "world/in_process.hpp"

using namespace llamada;
using namespace llamada::mpi;
using io::Ledger;
using io::OperationKind;

namespace {

constexpr log::LogKey outcomes_key{4, 0}, ledger_key{5, 0};

/// A job of one rank, and the heads of what lies in its journals.
struct Rank {
  Rank() {
    InProcessJob::Options options;
    options.profile = fault_tolerant();
    options.cut = &cut;
    options.await_stable = [this] { kept_at_waits.push_back(types(ledger_key)); };
    job = std::move(*InProcessJob::create(options));
    world = std::move(*job->attach(0));
  }
  std::vector<std::uint32_t> types(log::LogKey key) {
    log::JournalReader reader(world->arena().reading(), key);
    std::vector<std::uint32_t> types;
    while (const auto entry = reader.read_next()) types.push_back(entry->head & 0xff);
    return types;
  }

  std::atomic<std::uint64_t> cut{1};
  std::vector<std::vector<std::uint32_t>> kept_at_waits;
  std::unique_ptr<InProcessJob> job;
  std::unique_ptr<World> world;
};

using Types = std::vector<std::uint32_t>;

}  // namespace

TEST_CASE("cuts: an outcome lies behind the mark of its cut, also where it would lengthen a run") {
  Rank rank;
  auto determinants = std::move(*replay::Determinants::open(*rank.world));
  determinants->record_fruitless();
  determinants->record_fruitless();
  CHECK(rank.types(outcomes_key) == Types{log::cut_mark, 3});
  rank.cut = 2;
  determinants->record_fruitless();
  determinants->record_value(replay::ValueId::time, 5);
  determinants->record_value(replay::ValueId::time, 5);
  CHECK(rank.types(outcomes_key) == Types{log::cut_mark, 3, log::cut_mark, 3, 7});
  // What the whole of a long outcome needs is not parted.
  rank.cut = 3;
  determinants->record_bytes(std::vector<std::byte>(30));
  CHECK(rank.types(outcomes_key) == Types{log::cut_mark, 3, log::cut_mark, 3, 7, log::cut_mark, 8, 9, 9});
  determinants.reset();
  rank.world.reset();
  rank.world = std::move(*rank.job->attach(0));
  auto replacement = std::move(*replay::Determinants::open(*rank.world));
  for (int call = 0; call < 3; ++call)
    CHECK(replacement->replayer().take(replay::CallKind::test)->type == replay::Outcome::Type::fruitless);
  for (int call = 0; call < 2; ++call) CHECK(replacement->read_value(replay::ValueId::time, 9) == 5);
  CHECK(replacement->take_bytes(30).size() == 30);
  CHECK_FALSE(replacement->replaying());
}

TEST_CASE("cuts: a job that makes none has no marks") {
  Rank rank;
  rank.cut = 0;
  auto determinants = std::move(*replay::Determinants::open(*rank.world));
  determinants->record_fruitless();
  CHECK(rank.types(outcomes_key) == Types{3});
}

TEST_CASE("cuts: an operation that changes a file waits until it is kept that it begins, others do not") {
  Rank rank;
  auto ledger = std::move(*Ledger::open(*rank.world));
  ledger->begin(OperationKind::write, 77);
  CHECK(rank.kept_at_waits == std::vector<Types>{{log::cut_mark, 5}});
  ledger->record({.kind = OperationKind::write, .digest = 77});
  ledger->keep(std::vector<std::byte>(20));
  ledger->record({.kind = OperationKind::read, .has_data = true});
  ledger->begin(OperationKind::shared_pointer, 78);
  ledger->record({.kind = OperationKind::shared_pointer, .digest = 78});
  CHECK(rank.kept_at_waits.size() == 1);
  rank.cut = 2;
  ledger->begin(OperationKind::create, 79);
  ledger->announce();
  CHECK(rank.kept_at_waits.size() == 3);
  const Types all{log::cut_mark, 5, 3, 1, 1, 2, 3, 5, 3, log::cut_mark, 5, 4};
  CHECK(rank.kept_at_waits.back() == all);

  // The replacement has been told that it is kept, and its predecessor perhaps had not.
  ledger.reset();
  rank.world.reset();
  rank.world = std::move(*rank.job->attach(0));
  auto replacement = std::move(*Ledger::open(*rank.world));
  CHECK(replacement->take(OperationKind::write, 77).error_number == 0);
  CHECK(replacement->take(OperationKind::read, 0).data.size() == 20);
  CHECK(replacement->take(OperationKind::shared_pointer, 78).error_number == 0);
  CHECK(rank.kept_at_waits.size() == 3);
  CHECK(replacement->left_over() == io::to_string(OperationKind::create));
  replacement->begin(OperationKind::create, 79);
  CHECK(rank.kept_at_waits.size() == 4);
  CHECK(replacement->was_announced());
}

TEST_CASE("cuts: a job without protection waits for nothing") {
  Rank rank;
  rank.job->unprotect();
  auto ledger = std::move(*Ledger::open(*rank.world));
  ledger->begin(OperationKind::write, 77);
  CHECK(rank.kept_at_waits.empty());
}
