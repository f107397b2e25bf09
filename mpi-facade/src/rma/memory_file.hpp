#pragma once

#include <sys/types.h>

#include <array>
#include <cstdint>

#include "llamada/base/kept_descriptor.hpp"
#include "llamada/base/page.hpp"
#include "rma/reach.hpp"

namespace llamada::mpi::rma {

/// The memory of one other process as a file (/proc/PID/mem). To read or write a little of it takes a quarter
/// less time than by process_vm_readv and process_vm_writev, which find the process and ask for the
/// permission each time. Opened at the first use; at most `open_max` in a process, so that the program's own
/// files find room.
///
/// A file of that kind can be written where the process itself cannot write. So writes go to pages that have
/// been written by process_vm_writev, which refuses others: the last of them are remembered.
///
/// Threads: one at a time.
class MemoryFile {
 public:
  static constexpr int open_max = 64;

  MemoryFile() = default;
  ~MemoryFile();
  MemoryFile(const MemoryFile&) = delete;
  MemoryFile& operator=(const MemoryFile&) = delete;

  /// False: it is to be done by read_process() or write_process(), which also say what is wrong. `pid` is
  /// always the same.
  bool read(pid_t pid, const Piece& piece);
  bool write(pid_t pid, const Piece& piece);
  /// write_process() has written it.
  void written(const Piece& piece);

 private:
  bool is_open(pid_t pid);
  std::uint64_t& remembered(std::uint64_t page) { return pages_[page / page_bytes % pages_.size()]; }

  bool tried_ = false;
  KeptDescriptor file_;
  std::array<std::uint64_t, 16> pages_{};  ///< addresses of pages, each at its place; 0: none
};

}  // namespace llamada::mpi::rma
