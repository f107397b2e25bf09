#pragma once

#include <cstdint>
#include <functional>
#include <memory>

#include "llamada/base/file_descriptor.hpp"
#include "llamada/base/result.hpp"
#include "llamada/log/arena_writer.hpp"

namespace llamada::llamanet {

class ArenaMemory;

/// This process's own arena in its file: the memory, which grows as it is used, and the ArenaWriter over it.
/// Needs no driver: an application gets the file from its driver, anybody else from a MemorySource.
///
/// Threads: one at a time, the owner's.
class OwnArena {
 public:
  /// Makes the file as long as the arena, where the limit on the size of files (RLIMIT_FSIZE) forbids it to
  /// this process. False: it cannot.
  using Lengthen = std::function<bool()>;

  /// Where the file lies. On a disk room is reserved before memory is used, so that a full disk is an error
  /// of the arena, and never a SIGBUS.
  enum class Place { memory, disk };

  /// Maps `size_bytes` of `file`, which may be shorter, and initialises an arena there, or adopts the one of
  /// a predecessor; as `options.incarnation` and `options.pid`, in ArenaState::none. The memory's part of the
  /// options (prepare, store, reserve) is set here. Errors: out_of_resources, parse_error (the predecessor's
  /// arena is damaged), those of the system.
  static Result<std::unique_ptr<OwnArena>> open(FileDescriptor file, std::uint64_t size_bytes,
                                                Lengthen lengthen, log::ArenaOptions options,
                                                Place place = Place::memory);
  ~OwnArena();

  log::ArenaWriter& writer() { return *writer_; }
  int file() const;

  /// Makes some of the memory that the arena grows into next, for as long as it is not far ahead: what an
  /// owner that has to wait may do meanwhile. Takes some microseconds.
  void prepare_ahead();
  /// Makes and maps the next `size_bytes` that the arena grows into, or all that it may grow. Takes 40 µs for
  /// 1 MiB, and ten times that on a virtual machine whose host has to find it. Errors: out_of_resources
  /// (there is not so much memory). On a disk it only reserves.
  Status prepare_next(std::uint64_t size_bytes);
  /// Why the arena could not grow on its disk when it last had to, as an errno for why_no_room(); 0: it
  /// could.
  int disk_error() const;

  /// In a child of the owner by fork(), not sealed, when the owner has ended: goes on as its successor
  /// (log::ArenaWriter::adopt_again()), in ArenaState::none. Errors: as open().
  Status take_over(std::uint32_t incarnation, std::uint32_t pid);

  /// In the child of a fork(): from now on its writes to the arena are its own.
  void seal();

 private:
  explicit OwnArena(std::unique_ptr<ArenaMemory> memory);

  std::unique_ptr<ArenaMemory> memory_;
  std::unique_ptr<log::ArenaWriter> writer_;
};

}  // namespace llamada::llamanet
