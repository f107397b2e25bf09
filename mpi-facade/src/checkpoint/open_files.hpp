#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace llamada::mpi::checkpoint {

/// A regular file that the program has open.
struct OpenFile {
  std::int32_t descriptor = -1;
  std::uint64_t device = 0, inode = 0;
  std::int64_t place = 0;            ///< the descriptor's offset
  bool is_only_for_reading = false;  ///< not part of a checkpoint
};

/// All of them, by descriptor; without the library's own.
std::vector<OpenFile> open_files();

/// Why a program that goes on from `now` could not do so with the files that it had open at its first
/// checkpoint, `first`; empty: it can. A sentence without a full stop.
std::string obstacle_in(const std::vector<OpenFile>& first, const std::vector<OpenFile>& now);

/// The descriptors get the offsets that they had.
void restore(const std::vector<OpenFile>& files);

}  // namespace llamada::mpi::checkpoint
