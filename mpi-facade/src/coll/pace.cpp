#include "coll/pace.hpp"

#include <algorithm>

#include "llamada/base/pause.hpp"

namespace llamada::mpi::coll {

void Pace::try_to_let_run_ahead(const log::LogReader& other) {
  if (takes_before_trial_ > 0) {
    --takes_before_trial_;
    return;
  }
  for (int look = 0; look < looks_of_trial; ++look) {
    if (other.has_come(records_ahead)) {
      known_to_be_there_ = records_ahead;
      takes_between_trials_ = takes_between_trials_min;
      return;
    }
    pause_processor();
  }
  takes_before_trial_ = takes_between_trials_;
  takes_between_trials_ = std::min(2 * takes_between_trials_, takes_between_trials_max);
}

}  // namespace llamada::mpi::coll
