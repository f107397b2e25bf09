#include "standby/pace.hpp"

#include <algorithm>

namespace llamada::mpi::standby {

bool Pace::look(Time now) {
  const Time since_look = now - last_look_;
  last_look_ = now;
  if (since_look < interval_ / (2 * looks_per_interval))
    calls_ = std::min(2 * calls_, calls_max);
  else if (since_look > interval_ / looks_per_interval)
    calls_ = std::max<std::uint64_t>(calls_ / 2, 1);
  return now - last_standby_ >= interval_;
}

}  // namespace llamada::mpi::standby
