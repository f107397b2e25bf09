#pragma once

#include <string>

#include "object/handle.hpp"
#include "object/info.hpp"

namespace llamada::mpi {

/// The info objects of the process. They live apart from all else of MPI, because a program may make and use
/// them before MPI_Init and after MPI_Finalize (MPI 4.0, 10). Threads: within MPI as all objects, outside of
/// it one at a time (api/info.cpp).
HandleTable<Info, ObjectKind::info>& info_table();

/// The keys of MPI_INFO_ENV (MPI 3.1, 10.3.4) that are known here: command, argv, maxprocs, host, arch, wdir.
/// `rank_count_max` is the value of maxprocs, `host` that of host; if it is empty the system is asked.
void fill_with_environment(Info& info, int rank_count_max, const std::string& host = {});

}  // namespace llamada::mpi
