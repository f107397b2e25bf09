#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <utility>

#include "llamada/base/name_table.hpp"
#include "llamada/launcher/job_arenas.hpp"

namespace llamada::launcher {

/// A number that ranks move together: a shared file pointer.
struct SharedNumber {
  struct Last {
    std::uint64_t operation = 0;
    std::uint64_t before = 0;
    bool operator==(const Last&) const = default;
  };
  std::uint64_t value = 0;
  /// By slot: the last operation of each rank that has named the number and not let go of it.
  std::map<std::uint32_t, Last> members;
  bool operator==(const SharedNumber&) const = default;
};
/// By their names.
using SharedNumbers = std::map<std::uint64_t, SharedNumber>;

/// What the ranks of a job share by way of the coordinator: numbers and, on several nodes, the names that
/// they publish and their ports. Pure. Threads: one.
class JobShared {
 public:
  /// Numbers at a time.
  static constexpr std::size_t numbers_max = 65536;

  SharedAnswer answer(std::uint32_t slot, const SharedQuestion& question);
  /// The rank's process has ended: nobody reaches it by its ports any more.
  void rank_ended(std::uint32_t slot);
  /// No process of this rank will come any more: it lets go of all numbers.
  void rank_done(std::uint32_t slot);

  /// What a cut keeps of this.
  const SharedNumbers& numbers() const { return numbers_; }
  /// Those of the cut that the ranks go on from.
  void restore(SharedNumbers numbers) { numbers_ = std::move(numbers); }

 private:
  SharedAnswer answer_about_name(std::uint32_t slot, const SharedQuestion& question);
  SharedAnswer move(std::uint32_t slot, const SharedQuestion& question);
  SharedAnswer release(std::uint32_t slot, std::uint64_t number);

  NameTable names_;
  SharedNumbers numbers_;
};

}  // namespace llamada::launcher
