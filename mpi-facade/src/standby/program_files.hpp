#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "llamada/base/result.hpp"

namespace llamada::mpi::standby {

/// The files that the program has open, but for its standard streams: a copy of the process shares their
/// offsets with the original until it opens them anew.
class ProgramFiles {
 public:
  /// Looks at all descriptors of the process. Errors: unsupported, the program has something open that cannot
  /// be opened again. The text names it.
  static Result<ProgramFiles> look();

  /// In the copy: opens each one anew under its number, at the place where it was. Errors: those of the
  /// system.
  Status reopen() const;

 private:
  struct File {
    int descriptor = -1;
    int flags = 0;             ///< of open()
    int descriptor_flags = 0;  ///< FD_CLOEXEC
    std::int64_t place = 0;
    std::uint64_t device = 0, inode = 0;
  };
  std::string add(int descriptor);

  std::vector<File> files_;
};

}  // namespace llamada::mpi::standby
