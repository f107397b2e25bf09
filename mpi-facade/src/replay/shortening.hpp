#pragma once

#include <cstdint>
#include <optional>

#include "llamada/log/journal.hpp"

namespace llamada::mpi::replay {

/// Finds what of a journal no successor needs: all between the first checkpoint that the rank has passed and
/// the last. A successor repeats what lies before the first one, and what lies behind the last one.
///
/// Threads: the journal's.
class Shortening {
 public:
  /// The entry that was read last says that a predecessor has passed a checkpoint.
  void read_passed(const log::Journal& journal) {
    if (!first_) first_ = journal.read_chunk();
  }
  /// The rank will pass a checkpoint. Whoever reads the journal reads all that is there now before it does.
  void will_pass(const log::Journal& journal) { last_ = journal.last_chunk(); }
  /// The entry that says so has been appended.
  void has_passed(const log::Journal& journal) {
    if (!first_) first_ = journal.last_chunk();
  }
  /// All ranks have passed it.
  void give_back(log::Journal& journal) const {
    if (first_ && last_) journal.give_back(*first_, *last_);
  }

 private:
  std::optional<std::uint64_t> first_;  // the chunk with the first such entry
  std::optional<std::uint64_t> last_;   // the one with what lies before the last one of this process
};

}  // namespace llamada::mpi::replay
