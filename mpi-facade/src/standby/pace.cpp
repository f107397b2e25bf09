#include "standby/pace.hpp"

#include <algorithm>
#include <cmath>

namespace llamada::mpi::standby {

Pace::Time best_interval(Pace::Time cost, Pace::Time between_deaths) {
  const double c = static_cast<double>(cost.count()), m = static_cast<double>(between_deaths.count());
  if (c >= 2 * m) return between_deaths;
  const double ratio = c / (2 * m);
  const double best = std::sqrt(2 * c * m) * (1 + std::sqrt(ratio) / 3 + ratio / 9) - c;
  return Pace::Time(static_cast<Pace::Time::rep>(best));
}

bool Pace::look(Time now) {
  const Time since_look = now - last_look_;
  last_look_ = now;
  if (since_look < interval_ / (2 * looks_per_interval))
    calls_ = std::min(2 * calls_, calls_max);
  else if (since_look > interval_ / looks_per_interval)
    calls_ = std::max<std::uint64_t>(calls_ / 2, 1);
  return now - last_standby_ >= interval_;
}

void Pace::made(Time now, Time cost) {
  last_standby_ = now;
  if (!is_automatic_) return;
  interval_ = std::clamp(best_interval(cost, assumed_time_between_deaths), automatic_min, automatic_max);
}

}  // namespace llamada::mpi::standby
