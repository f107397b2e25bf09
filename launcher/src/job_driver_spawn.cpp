#include <signal.h>
#include <unistd.h>

#include "descriptor_limit.hpp"
#include "job_driver_class.hpp"
#include "rank_environment.hpp"

// Worlds that ranks ask for (MPI_Comm_spawn).

namespace llamada::launcher {

void JobDriver::spawn_world(std::uint32_t parent, const SpawnQuestion& question) {
  const auto refuse = [&](const std::string& why) {
    arenas_->answer_spawn(question.number, SpawnAnswer{0, 0, why});
  };
  if (ending_code_) return refuse("the job is ending");
  std::string path = variable_in(job_.environment, "PATH");
  if (path.empty()) path = "/usr/local/bin:/usr/bin:/bin";
  auto world = plan_world(question.commands, path, host_);
  if (!world) return refuse(world.error().text());
  if (auto status = check_descriptors_for_more(world->count); !status) return refuse(status.error().text());
  world->parent = parent;
  const std::uint32_t count = world->count;
  auto first = start_world(std::move(*world));
  if (!first) return refuse(first.error().text());
  arenas_->answer_spawn(question.number, SpawnAnswer{*first, count, {}});
}

/// All of its ranks run, or none is left.
Result<std::uint32_t> JobDriver::start_world(JobWorld plan) {
  auto first = arenas_->add_ranks(plan.count);
  if (!first) return propagate(first);
  plan.number = ++spawned_count_;
  plan.first = *first;
  plan.left = plan.count;
  const JobWorld& world = worlds_.emplace(plan.number, std::move(plan)).first->second;
  link_->send(control::World{world.first, world.count, world.number});
  for (std::uint32_t slot = world.first; slot < world.first + world.count; ++slot) {
    if (slot < ranks_.size())
      forget(ranks_[slot]);
    else
      ranks_.emplace_back();
    ranks_[slot].rank = slot;
    ranks_[slot].world = world.number;
  }
  if (auto status = start_ranks_of(world); !status) {
    discard(world);
    return propagate(status);
  }
  report_.worlds.push_back({world.number, world.first, world.count, world.parent});
  return *first;
}

/// A rank of an earlier world, which is finished: its slot is another's from now on.
void JobDriver::forget(RankProcess& rank) {
  loop_.cancel(rank.timer);
  if (const auto world = worlds_.find(rank.world); --world->second.left == 0) worlds_.erase(world);
  std::erase_if(report_.worlds, [&](const SpawnedWorldRecord& world) { return world.number == rank.world; });
  rank = RankProcess{};
}

Status JobDriver::start_ranks_of(const JobWorld& world) {
  const auto each = [&](const auto& action) -> Status {
    for (std::uint32_t slot = world.first; slot < world.first + world.count; ++slot)
      if (auto status = action(ranks_[slot]); !status) return status;
    return {};
  };
  auto expected = each(
      [this](RankProcess& rank) { return arenas_->expect(rank.rank, token_of(rank), identity_of(rank)); });
  return expected ? each([this](RankProcess& rank) { return start_rank(rank); }) : expected;
}

/// What has been started is killed, and its end is nobody's concern.
void JobDriver::discard(const JobWorld& world) {
  for (std::uint32_t slot = world.first; slot < world.first + world.count; ++slot) {
    RankProcess& rank = ranks_[slot];
    rank.discarded = true;
    if (rank.root != 0) {
      kill(-rank.group, SIGKILL);
      continue;
    }
    drop_output(rank);
    rank.phase = RankPhase::finished;
    arenas_->set_done(slot);
  }
}

}  // namespace llamada::launcher
