#pragma once

#include <sys/resource.h>

#include <cstdint>

#include "llamada/base/result.hpp"

/// How many descriptors the processes of a job may open (RLIMIT_NOFILE), and how many they need.
namespace llamada::launcher {

/// Raises the soft limit of this process to the hard one. Gives the limits that there were.
rlimit raise_descriptor_limit();

/// Errors: out_of_resources, when mpirun itself would run out of descriptors.
Status check_descriptors_of_mpirun();
/// Errors: out_of_resources, when llamanetd or a rank would run out of them in a job of so many ranks on this
/// node; `has_links`: and others on other nodes.
Status check_descriptors_of_job(std::uint64_t rank_count, bool has_links);
/// The same in llamanetd for so many ranks more than there are.
Status check_descriptors_for_more(std::uint64_t rank_count);

/// The limits of a rank in a job of so many ranks: its soft limit is raised where it would not do.
rlimit limit_for_rank(const rlimit& original, std::uint64_t rank_count);

}  // namespace llamada::launcher
