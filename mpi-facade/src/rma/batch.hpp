#pragma once

#include <sys/types.h>

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>

#include "llamada/base/result.hpp"
#include "object/operation.hpp"
#include "rma/memory_file.hpp"
#include "rma/reach.hpp"

namespace llamada::mpi::rma {

/// A small operation on contiguous memory of a target.
struct SmallOperation {
  std::uint64_t address = 0;
  std::size_t bytes = 0;
  const std::byte* given = nullptr;      ///< null: nothing changes
  std::byte* result = nullptr;           ///< gets what was there before, once it is carried out; or null
  const std::byte* compare = nullptr;    ///< nothing changes unless the place is equal to it; or null
  const Operation* operation = nullptr;  ///< null: what is given replaces what is there
  const Datatype* basic = nullptr;       ///< of the operation's elements; without gaps
  bool is_accumulate = false;            ///< to be atomic with others of its elements (11.7.1)
};

/// Small operations of one origin on the memory of one target that it reaches through the kernel only. They
/// are recorded, and carried out together: one system call reads, and one writes, however many they are. MPI
/// allows that until the origin's next synchronisation (MPI 3.1, 11.5, 11.7); the outcome is that of one
/// after the other.
class Batch {
 public:
  static constexpr std::size_t operations_max = 64, operation_bytes_max = 256;
  /// Of puts and gets, which move straight from and to the program's memory when they are longer than those:
  /// with more bytes each a system call of their own is a small part of their time.
  static constexpr std::size_t straight_bytes_max = 32 * 1024, all_bytes_max = 256 * 1024;

  /// Copies what is given and compared, but of a put of more than operation_bytes_max: that must stay as it
  /// is until it is carried out. False: the batch has to be carried out first, for it is full, or this one's
  /// place reaches into another's; never when it is empty. At most operation_bytes_max; of a put or get
  /// straight_bytes_max.
  bool add(const SmallOperation& operation);
  bool is_empty() const { return place_count_ == 0; }
  bool has_accumulates() const { return has_accumulates_; }

  /// Leaves it empty, whatever happens. `pid`: always the same. The caller holds the target's lock if it has
  /// accumulates. Errors: those of read_process() and write_process().
  Status carry_out(pid_t pid);

 private:
  struct Place;
  struct Recorded;
  struct Room;
  struct RoomDeleter {
    void operator()(Room* room) const;
  };

  Place* find_place(const SmallOperation& operation);
  bool combine(const SmallOperation& operation);
  Place& add_place(const SmallOperation& operation);
  std::byte* here_of(const SmallOperation& operation);
  std::byte* copy(const std::byte* from, std::size_t bytes);
  std::span<const Piece> pieces_of(bool Place::*is_one);
  Status read(pid_t pid);
  Status write(pid_t pid, std::span<const Piece> pieces);

  std::unique_ptr<Room, RoomDeleter> room_;  ///< from the first operation on
  std::size_t place_count_ = 0, recorded_count_ = 0, used_bytes_ = 0, moved_bytes_ = 0;
  std::uint64_t lowest_ = UINT64_MAX, highest_ = 0;  ///< all places lie between them
  bool reads_ = false, has_accumulates_ = false;
  Place* last_straight_ =
      nullptr;  ///< of the last operation, if nothing is recorded with it; of an empty batch any
  std::size_t combined_count_ = 0;  ///< with that one
  MemoryFile file_;
};

}  // namespace llamada::mpi::rma
