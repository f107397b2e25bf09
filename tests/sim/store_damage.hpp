#pragma once

#include "simulated_files.hpp"
#include "store_model.hpp"

namespace llamada::sim {

/// What this flip may destroy of a store, judged by the format: the disk is as it was before. `whole_batch`:
/// a batch that is damaged and whose sync fails, too, is lost as a whole.
StoreDamage damage_of(test::SimulatedDisk& disk, const test::SimulatedDisk::Flip& flip, bool whole_batch);

}  // namespace llamada::sim
