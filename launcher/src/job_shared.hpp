#pragma once

#include <cstddef>
#include <cstdint>
#include <map>

#include "llamada/base/name_table.hpp"
#include "llamada/launcher/job_arenas.hpp"

namespace llamada::launcher {

/// What the ranks of a job on several nodes share by way of the coordinator: the names that they publish,
/// their ports, and numbers that they move together (shared file pointers). Pure. Threads: one.
class JobShared {
 public:
  /// Numbers at a time.
  static constexpr std::size_t numbers_max = 65536;

  SharedAnswer answer(std::uint32_t slot, const SharedQuestion& question);
  /// The rank's process has ended: nobody reaches it by its ports any more.
  void rank_ended(std::uint32_t slot);
  /// No process of this rank will come any more: it lets go of all numbers.
  void rank_done(std::uint32_t slot);

 private:
  struct Number {
    struct Last {
      std::uint64_t operation = 0;
      std::uint64_t before = 0;
    };
    std::uint64_t value = 0;
    std::map<std::uint32_t, Last> members;  ///< by slot: those that have named it and not let go
  };
  SharedAnswer answer_about_name(std::uint32_t slot, const SharedQuestion& question);
  SharedAnswer move(std::uint32_t slot, const SharedQuestion& question);
  SharedAnswer release(std::uint32_t slot, std::uint64_t number);

  NameTable names_;
  std::map<std::uint64_t, Number> numbers_;
};

}  // namespace llamada::launcher
