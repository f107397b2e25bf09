#include "replay/protection.hpp"

#include "world/world.hpp"

namespace llamada::mpi {

void give_up_protection(World& world, const std::string& why) {
  const qos::RankReplacement& policy = world.profile().rank_replacement;
  if (!world.protection().records_outcomes || !world.is_protected()) return;
  if (policy.on_unprotected == qos::OnUnprotected::stop)
    world.aborted(
        exit_unprotected,
        why +
            ", and on_unprotected is STOP. With <on_unprotected>CONTINUE</on_unprotected> in the profile the "
            "job goes on without protection; with --qos default it runs without protection from the start");
  world.unprotected(why);
}

}  // namespace llamada::mpi
