#pragma once

#include <cstdint>

#include "io/file.hpp"
#include "p2p/request.hpp"

/// Reads and writes of one process: between a buffer of the program and bytes of a view's stream.
namespace llamada::mpi::io {

/// What a process reads or writes at once: `bytes` bytes of the stream, which is what `buffer` takes in the
/// file's representation.
struct Access {
  File& file;
  std::uint64_t position = 0;
  Buffer buffer;
  std::uint64_t bytes = 0;
};

/// The runs of an access, from the first to behind the last byte of the file that it touches.
struct Reach {
  std::uint64_t begin = 0;
  std::uint64_t end = 0;
};
Reach reach_of(const Access& access);

/// Writes all; under atomic mode as one. Recorded in the ledger.
Status write(const Access& access);
/// How many bytes of memory were read: fewer only at the end of the file. Recorded in the ledger.
Result<std::uint64_t> read(const Access& access);

/// The parts that collective accesses are made of; these record nothing.

/// The stream's bytes of an access to be written, in the file's representation: in place in the program's
/// buffer when they lie there, else in `copy`.
Result<std::span<const std::byte>> stream_of(const Access& access, std::vector<std::byte>& copy);
/// Writes the next `bytes` of the stream.
Status write_runs(Storage& storage, RunCursor& cursor, std::span<const std::byte> bytes);
/// Reads the next `bytes` of the stream; how many there were before the end of the file.
Result<std::size_t> read_runs(Storage& storage, RunCursor& cursor, std::span<std::byte> bytes);

}  // namespace llamada::mpi::io
