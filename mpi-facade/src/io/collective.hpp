#pragma once

#include "io/access.hpp"

/// Collective accesses (MPI 3.1, 13.4.5 and the "_all" of 13.4.2 and 13.4.3): collective over the file's
/// communicator. When the members' parts are small and interleave, each member becomes the one that accesses
/// some pieces of the file for all, and the data are exchanged (two phases); else each accesses its own part.
/// No byte is written that nobody gave. Whoever has nothing to access takes part with an empty access.
namespace llamada::mpi::io {

Status write_all(const Access& access);
/// As read().
Result<std::uint64_t> read_all(const Access& access);

}  // namespace llamada::mpi::io
