#pragma once

#include <sys/types.h>

#include <cstddef>
#include <cstdint>
#include <span>

#include "llamada/base/result.hpp"
#include "object/datatype.hpp"

// Copies between a buffer of this program and a target's memory, whatever the datatypes.

namespace llamada::mpi::rma {

/// A buffer of the program.
struct Operand {
  void* base = nullptr;
  std::size_t count = 0;
  const Datatype* type = nullptr;

  std::size_t bytes() const { return count * type->size(); }
};

/// Elements in a target's memory. The datatype is the origin's, which walks it for both.
struct Target {
  std::uint64_t address = 0;  ///< in the target's process; in this one, too, when `direct`
  std::size_t count = 0;
  const Datatype* type = nullptr;
  pid_t pid = 0;
  bool direct = false;  ///< the memory is mapped here

  std::size_t bytes() const { return count * type->size(); }
  std::byte* memory() const { return reinterpret_cast<std::byte*>(address); }
};

/// Bytes [first_byte, first_byte + size) of the target's packed stream, from it and to it. The range lies
/// within the stream. Errors: those of read_process().
Status fetch(const Target& target, std::size_t first_byte, std::span<std::byte> to);
Status store(const Target& target, std::size_t first_byte, std::span<const std::byte> from);

/// All bytes of the origin to the target's first ones. Errors: those of write_process().
Status put(const Operand& origin, const Target& target);
/// All bytes of the target to the origin's first ones.
Status get(const Operand& origin, const Target& target);

}  // namespace llamada::mpi::rma
