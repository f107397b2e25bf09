#pragma once

#include <fmt/format.h>

#include <cstdint>

namespace llamada::sim {

/// What all seeds have seen, so that a run shows that it was worth something.
struct StoreCounts {
  std::uint64_t steps = 0, starts = 0, broken_starts = 0, losses_of_power = 0, torn = 0, failed_syncs = 0,
                flips = 0, found_damaged = 0, nameless = 0, cleaned = 0, full = 0;

  void print() const {
    fmt::print(
        "{} steps, {} starts, {} broken ones, {} losses of power, {} torn batches, {} failed syncs, {} "
        "flips, {} starts that found damage, {} refused without a name, {} segments cleaned, {} refusals on "
        "full disks\n",
        steps, starts, broken_starts, losses_of_power, torn, failed_syncs, flips, found_damaged, nameless,
        cleaned, full);
  }
};

}  // namespace llamada::sim
