#include "api/protection.hpp"

#include <mpi.h>

#include "runtime.hpp"
#include "world/world.hpp"

namespace llamada::mpi {
namespace {

std::string sentence(const char* what) {
  const CallCounter& calls = runtime().calls;
  return fmt::format("{}, its MPI call {}: {} cannot be repeated by a replacement",
                     call_name(calls.current()), calls.begun(), what);
}

}  // namespace

void give_up_protection(World& world, const std::string& why) {
  const qos::RankReplacement& policy = world.profile().rank_replacement;
  if (policy.kind != qos::RankReplacementKind::rebuild || !world.is_protected()) return;
  if (policy.on_unprotected == qos::OnUnprotected::stop)
    world.aborted(exit_unprotected,
                  why +
                      ", and on_unprotected is STOP; with <on_unprotected>CONTINUE</on_unprotected> in the "
                      "profile the job goes on without protection, with the default profile from the start");
  world.unprotected(why);
}

int give_up_protection(const char* what) {
  give_up_protection(*runtime().world, sentence(what));
  return MPI_SUCCESS;
}

}  // namespace llamada::mpi
