#pragma once

#include <string>
#include <vector>

namespace llamada::test {

/// A way in which the ranks of tests/system/deadlocks.c wait for each other for ever, and what mpirun says.
struct DeadlockKind {
  const char* name;  ///< the program's argument
  int ranks;
  /// It is one where histories are kept, too: there the large sends are over at once, and a window ends the
  /// protection.
  bool with_histories;
  std::vector<std::string> said;
};

inline const std::vector<DeadlockKind>& deadlock_kinds() {
  static const std::vector<DeadlockKind> kinds = {
      {"receives",
       2,
       true,
       {"deadlock: rank 0 waits in MPI_Recv for rank 1, tag 5, communicator MPI_COMM_WORLD; rank 1 waits in "
        "MPI_Recv for rank 0, tag 7, communicator MPI_COMM_WORLD: nobody can go on. Unmatched at rank 0: 3 "
        "messages from rank 1, tag 6."}},
      {"synchronous_sends",
       2,
       true,
       {"rank 0 waits in MPI_Ssend for rank 1 to receive 8 bytes, tag 3, communicator MPI_COMM_WORLD",
        "rank 1 waits in MPI_Ssend for rank 0 to receive"}},
      {"large_sends", 2, false, {"rank 0 waits in MPI_Send for rank 1 to receive 1048576 bytes, tag 4"}},
      {"ring",
       3,
       true,
       {"rank 0 waits in MPI_Recv for rank 2", "rank 2 waits in MPI_Recv for rank 1",
        "rank 1 waits in MPI_Recv for rank 0"}},
      {"missing_in_barrier",
       2,
       true,
       {"rank 0 waits in MPI_Barrier for rank 1 (collective 1 of communicator MPI_COMM_WORLD)",
        "rank 1 waits in MPI_Recv for rank 0, tag 9"}},
      {"roots",
       2,
       true,
       {"differently: ", "rank 0 calls MPI_Bcast with root rank 1",
        "rank 1 calls MPI_Bcast with root rank 0"}},
      {"order",
       2,
       true,
       {"rank 0 waits in MPI_Barrier for rank 1", "of communicator first", "of communicator second",
        "in the same order"}},
      {"left",
       2,
       true,
       {"rank 0 waits in MPI_Recv for rank 1, tag 2", "rank 1 waits in MPI_Finalize for rank 0"}},
      {"all_of_several", 2, true, {"rank 0 waits in MPI_Waitall for any rank, tag 2"}},
      {"probes", 2, true, {"rank 0 waits in MPI_Probe for any rank, any tag"}},
      {"nonblocking",
       2,
       true,
       {"rank 0 waits in MPI_Recv for rank 1, tag 1", "rank 1 waits in MPI_Wait for rank 0"}},
      {"window", 2, false, {"rank 0 waits in MPI_Win_start for rank 1 to call MPI_Win_post"}},
  };
  return kinds;
}

}  // namespace llamada::test
