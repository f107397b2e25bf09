#pragma once

#include <cstdint>

#include "interpose/functions.hpp"

/// A file that a rank has open for reading while it removes the last name of it. A replacement could not open
/// it: what is in it is recorded before.
namespace llamada::mpi::interpose {

/// To be made before the name is removed, and kept until it is. Takes a read lease, so that no process can
/// change the file. The kernel grants none while a process has the file open for writing. Without a lease, or
/// with a large file, nothing is recorded; a replacement that has to read on then ends the job as diverged.
///
/// Threads: the rank's.
class LastName {
 public:
  /// `file` is the number of the file that loses its last name (see file_at); 0 if there is none, and in a
  /// replay.
  LastName(replay::Determinants& determinants, std::uint64_t file);
  ~LastName();
  LastName(const LastName&) = delete;
  LastName& operator=(const LastName&) = delete;

 private:
  int leased_ = -1;  // a descriptor
};

}  // namespace llamada::mpi::interpose
