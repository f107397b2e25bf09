#pragma once

#include <algorithm>

#include "llamada/qos/profile.hpp"

namespace llamada::qos {

/// DEADLINE of a job of ranks: an alarm tells of a rank that has been in one MPI call for longer. It is the
/// shorter period of writer and reader; duration_infinite: there is no alarm.
inline Duration deadline_for_ranks(const Profile& profile) {
  return std::min(profile.datawriter_qos.deadline.period, profile.datareader_qos.deadline.period);
}

}  // namespace llamada::qos
