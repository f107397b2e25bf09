#pragma once

#include <string>

namespace llamada::tools {

/// The topic of which each rank of a job has a DataWriter and a DataReader, as `llamada ls` shows it.
inline constexpr const char* rank_topic = "ranks";

/// `llamada why ranks`, where no DDS program has a topic of this name: a sentence on each job's writers and
/// readers. Empty: no job runs.
std::string explain_rank_topic();

}  // namespace llamada::tools
