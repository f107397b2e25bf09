#pragma once

#include <string>

namespace llamada::mpi {

class World;

/// The launcher's exit code of a job that would have lost its protection, or has lost it where it needed it.
inline constexpr int exit_unprotected = 123;

/// To be called, by each rank that takes part, before the first thing that a replacement could not repeat
/// from what is recorded. `why` is one sentence without a full stop.
///
/// Without rank_replacement REBUILD, and when the job is unprotected already, nothing happens. Otherwise the
/// profile's on_unprotected decides: STOP ends the job with one sentence, and this does not return; CONTINUE
/// makes the whole job unprotected, which is said once: a rank that dies later ends the job, which says why.
/// What this rank does after it has returned comes, for the driver, after that.
void give_up_protection(World& world, const std::string& why);

}  // namespace llamada::mpi
