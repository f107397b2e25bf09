#include <memory>
#include <numeric>
#include <optional>
#include <utility>
#include <vector>

#include "coll/direct_movement.hpp"
#include "coll_ranks.hpp"
#include "llamada/base/random.hpp"
#include "world/peer_memory.hpp"

// Members that are stepped in turn by one thread, in any order. A member whose step() gives false may sleep
// until another one wakes it, which others do once, when they have published or read something. So all that
// can be done must be done by then.

using namespace llamada;
using namespace llamada::mpi;
using namespace llamada::mpi::coll;
using namespace llamada::mpi::coll::testing;

namespace {

/// From how many bytes on parts are lent here, between the lengths of parts.
constexpr std::size_t lent_min = 5000;

/// One part for each member.
struct PartsOf {
  std::vector<std::vector<std::byte>> bytes;
  Parts all;
  explicit PartsOf(std::vector<std::vector<std::byte>> made) : bytes(std::move(made)) {
    std::vector<Data> list;
    for (auto& part : bytes) list.push_back(Data::of(std::span<const std::byte>(part)));
    all = Parts(std::move(list));
  }
};

std::size_t length(int from, int to, int round) {
  constexpr std::size_t lengths[] = {0, 40, 4999, 5000, 70'000, 130'001};
  return lengths[(from + 2 * to + round) % 6];
}

class Member {
 public:
  Member(InProcessJob& job, int rank, int size) : world_(std::move(*job.attach(rank))) {
    Channel::Options options;
    options.context = 7;
    options.members.resize(static_cast<std::size_t>(size));
    std::iota(options.members.begin(), options.members.end(), 0);
    options.self = rank;
    options.bound_bytes = 4096;
    channel_ = std::move(*Channel::open(*world_, std::move(options)));
  }
  Channel& channel() { return *channel_; }

  /// Once.
  void begin(int round) {
    if (std::exchange(begun_, round) == round) return;
    const int self = channel_->self();
    std::vector<std::vector<std::byte>> given, taken;
    for (int other = 0; other < channel_->size(); ++other) {
      given.push_back(pattern(self, other + round, length(self, other, round)));
      taken.emplace_back(length(other, self, round));
    }
    given_.emplace(std::move(given));
    taken_.emplace(std::move(taken));
    machine_ = std::make_unique<Alltoall>(*channel_, given_->all, taken_->all, false, lent_min);
    machine_->begin();
  }
  /// What a rank does that is about to sleep. True: its part is done.
  bool look() {
    const bool is_done = machine_->advance(*channel_);
    channel_->skip_stale();
    return is_done;
  }
  bool has_ended(int round) const { return ended_ == round; }
  void end(int round) {
    ended_ = round;
    channel_->end();
    CHECK_FALSE(channel_->failed());
    for (int other = 0; other < channel_->size(); ++other)
      CHECK(taken_->bytes[static_cast<std::size_t>(other)] ==
            pattern(other, channel_->self() + round, length(other, channel_->self(), round)));
  }
  /// All that others can see of it: the records that it has published, and those that it holds no longer.
  std::vector<std::uint64_t> seen() {
    const log::PeerArena arena = world_->arena().reading();
    std::vector<std::uint64_t> seen;
    for (std::uint32_t i = 0; i < arena.log_count(); ++i) seen.push_back(arena.log(i).published.load());
    for (std::uint32_t i = 0; i < arena.cursor_count(); ++i) seen.push_back(arena.cursor(i).consumed.load());
    return seen;
  }

 private:
  std::unique_ptr<World> world_;
  std::unique_ptr<Channel> channel_;
  std::optional<PartsOf> given_, taken_;
  std::unique_ptr<Machine> machine_;
  int begun_ = -1, ended_ = -1;  // the last round
};

/// One collective of all. Gives how often a second look did something.
int run_round(std::vector<std::unique_ptr<Member>>& members, int round, Random& random) {
  int late = 0;
  std::size_t left = members.size();
  for (int looks = 0; left > 0 && looks < 100'000; ++looks) {
    Member& member = *members[random.below(members.size())];
    if (member.has_ended(round)) {
      member.channel().skip_stale();  // as it does while it waits for what comes next
      continue;
    }
    member.begin(round);
    bool is_done = member.look();
    if (!is_done) {
      const auto before = member.seen();
      is_done = member.look();
      if (is_done || member.seen() != before) ++late;
    }
    if (!is_done) continue;
    --left;
    member.end(round);
  }
  REQUIRE(left == 0);
  return late;
}

}  // namespace

TEST_CASE("a member that can do nothing more has done all that it can", "[mpi]") {
  const int size = GENERATE(2, 3, 4, 5);
  const bool is_first_elsewhere = GENERATE(false, true);
  Random random(static_cast<std::uint64_t>(size));
  int late = 0;
  for (int runs = 0; runs < 5; ++runs) {
    InProcessJob::Options options;
    options.size = size;
    auto job = std::move(*InProcessJob::create(options));
    std::vector<std::unique_ptr<Member>> members;
    for (int rank = 0; rank < size; ++rank) members.push_back(std::make_unique<Member>(*job, rank, size));
    // As if nobody reached the first one's memory: what is lent to it, or by it, is refused.
    for (int rank = 0; rank < size && is_first_elsewhere; ++rank)
      for (int other = 0; other < size; ++other)
        if (rank == 0 || other == 0)
          members[static_cast<std::size_t>(rank)]->channel().loans().set_reached(other, own_card(), false);
    for (int round = 0; round < 24; ++round) late += run_round(members, round, random);
  }
  CHECK(late == 0);
}

TEST_CASE("a lender hears that its loan is over though that lies behind what it is lent itself", "[mpi]") {
  InProcessJob::Options options;
  options.size = 2;
  auto job = std::move(*InProcessJob::create(options));
  Member first(*job, 0, 2), second(*job, 1, 2);
  constexpr int round = 3;  // both give what is lent
  REQUIRE(length(0, 1, round) >= lent_min);
  REQUIRE(length(1, 0, round) >= lent_min);
  first.begin(round);
  CHECK_FALSE(first.look());
  second.begin(round);
  CHECK_FALSE(second.look());
  CHECK(first.look());
  CHECK(second.look());
}
